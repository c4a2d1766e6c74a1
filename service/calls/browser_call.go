package calls

import (
	"cmp"
	"context"
	"sync"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/testcalls"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/testcarrier"
)

// The parties of a call from a browser, as its record shows them.
const (
	browserCaller     = "+15005550000"
	browserCallerName = "Browser"
	browserCallee     = "+15005550100"
)

// BrowserCallRequest asks for a call from a browser to an agent.
type BrowserCallRequest struct {
	AgentID string
	From    string // the caller's number; "": 15005550000
}

// BrowserCall is the browser's end of a call to an agent.
type BrowserCall struct {
	CallID string
	Say    func(mu []byte)   // 8 kHz mono µ-law of any length, at the pace at which it shall be heard
	Press  func(keys string) // 0 to 9, A to D, * and #
	Leave  func()            // hangs up; may be called more than once
}

// BrowserCallEvents are called with what happens at the agent's end of a call from a
// browser. None of the functions may block.
type BrowserCallEvents struct {
	Sound   func(frame []byte)     // of ListenFrame bytes, overwritten afterwards; nil once, at the end
	Segment func(s domain.Segment) // what is said, when it begins and whenever more is known of it
	State   func(status domain.CallStatus)
	Key     func(key byte) // that the agent presses
}

// StartBrowserCall calls an agent from a browser: a call of the test carrier over SIP and
// RTP like any other, which takes an inbound permit and has a record. Errors:
// invalid_state, no_trunk, not_found, engine_not_configured,
// concurrent_limit_exceeded, unavailable.
func (s *Service) StartBrowserCall(ctx context.Context, p domain.Principal, o BrowserCallRequest, events BrowserCallEvents) (BrowserCall, error) {
	if err := s.checkTestCalls(p, s.cfg.BrowserCall != nil); err != nil {
		return BrowserCall{}, err
	}
	if _, err := s.cfg.Scripts.Script(ctx, p, o.AgentID, ""); err != nil {
		return BrowserCall{}, err
	}
	mark := mailbox.NewID("test")
	arrived, remove := s.cfg.TestCalls.Add(mark, testcalls.Order{WorkspaceID: p.WorkspaceID, AgentID: o.AgentID, Number: browserCallee, OnSegment: events.Segment})
	defer remove()
	bound, cancel := context.WithTimeout(ctx, testCallTimeout)
	defer cancel()
	watch := transcriptWatch{calls: s.cfg.TestCalls}
	handset, err := s.cfg.BrowserCall(bound, testcarrier.Order{To: browserCallee, From: cmp.Or(o.From, browserCaller), Name: browserCallerName, Mark: mark}, events.Sound, func(e testcarrier.Event) {
		switch e.What {
		case testcarrier.Answered:
			events.State(domain.CallInProgress)
		case testcarrier.Heard:
			events.Key(e.Key)
		case testcarrier.HungUp, testcarrier.Left, testcarrier.Refused:
			watch.end()
		}
	})
	if err = s.testCallError(ctx, p, err); err != nil {
		s.cfg.TestCalls.Cancel(mark, arrived)
		return BrowserCall{}, err
	}
	select {
	case id := <-arrived:
		watch.begin(id)
		return BrowserCall{CallID: id, Say: handset.Say, Press: handset.Press, Leave: handset.HangUp}, nil
	case <-bound.Done():
		handset.HangUp()
		s.cfg.TestCalls.Cancel(mark, arrived)
		return BrowserCall{}, testCallLate()
	}
}

// transcriptWatch removes the watcher of a call's transcript when the call has ended.
// The end may come before the id of the call is known.
type transcriptWatch struct {
	calls  *testcalls.Registry
	mu     sync.Mutex
	callID string
	ended  bool
}

func (w *transcriptWatch) begin(callID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.callID = callID
	w.remove()
}

func (w *transcriptWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.remove()
}

// remove runs under mu.
func (w *transcriptWatch) remove() {
	if w.ended && w.callID != "" {
		w.calls.RemoveWatcher(w.callID)
	}
}
