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

// The numbers and the caller's name in the record of a call from a browser.
const (
	browserCaller     = "+15005550000"
	browserCallerName = "Browser"
	browserCallee     = "+15005550100"
)

// BrowserCallRequest is a request to call an agent from a browser.
type BrowserCallRequest struct {
	AgentID string
	From    string // the caller's number; "": browserCaller
}

// BrowserCall controls the caller's side of a call from a browser to an agent.
type BrowserCall struct {
	CallID string
	Say    func(mu []byte)   // sends 8 kHz mono µ-law audio of any length, paced in real time
	Press  func(keys string) // sends DTMF digits: 0 to 9, A to D, * and #
	Leave  func()            // hangs up; may be called more than once
}

// BrowserCallEvents are callbacks for the events of a call from a browser. The callbacks must not block.
type BrowserCallEvents struct {
	Sound   func(frame []byte)     // audio of ListenFrame bytes, valid until the callback returns; nil once, at the end
	Segment func(s domain.Segment) // transcript segment: when speech begins, and with each update
	State   func(status domain.CallStatus)
	Key     func(key byte) // DTMF digit that the agent sends
}

// StartBrowserCall calls an agent from a browser. The test carrier places the call over SIP and RTP. The call takes
// an inbound permit and has a record, like any other inbound call. Errors: invalid_state, no_trunk, not_found,
// engine_not_configured, concurrent_limit_exceeded, unavailable.
func (s *Service) StartBrowserCall(ctx context.Context, p domain.Principal, o BrowserCallRequest, events BrowserCallEvents) (BrowserCall, error) {
	if err := s.checkTestCalls(p, s.cfg.BrowserCall != nil); err != nil {
		return BrowserCall{}, err
	}
	if _, err := s.cfg.Scripts.Script(ctx, p, o.AgentID, ""); err != nil {
		return BrowserCall{}, err
	}
	mark := mailbox.NewID("test")
	arrived, remove := s.cfg.TestCalls.Add(mark, testcalls.TestCallRequest{WorkspaceID: p.WorkspaceID, AgentID: o.AgentID, Number: browserCallee, OnSegment: events.Segment})
	defer remove()
	callCtx, cancel := context.WithTimeout(ctx, testCallTimeout)
	defer cancel()
	watch := transcriptWatch{calls: s.cfg.TestCalls}
	handset, err := s.cfg.BrowserCall(callCtx, testcarrier.CallRequest{To: browserCallee, From: cmp.Or(o.From, browserCaller), Name: browserCallerName, TestID: mark}, events.Sound, func(e testcarrier.Event) {
		switch e.Kind {
		case testcarrier.Answered:
			events.State(domain.CallInProgress)
		case testcarrier.KeyReceived:
			events.Key(e.Key)
		case testcarrier.PhoneHungUp, testcarrier.CallerHungUp, testcarrier.Refused:
			watch.setEnded()
		}
	})
	if err = s.testCallError(ctx, p, err); err != nil {
		s.cfg.TestCalls.Cancel(mark, arrived)
		return BrowserCall{}, err
	}
	select {
	case id := <-arrived:
		watch.setCallID(id)
		return BrowserCall{CallID: id, Say: handset.SendAudio, Press: handset.PressKeys, Leave: handset.HangUp}, nil
	case <-callCtx.Done():
		handset.HangUp()
		s.cfg.TestCalls.Cancel(mark, arrived)
		return BrowserCall{}, testCallTimeoutError()
	}
}

// transcriptWatch removes the watcher of a call's transcript after the call has ended. It waits for both events, the end
// of the call and the call's id, because a call may end before its id is known.
type transcriptWatch struct {
	calls  *testcalls.Registry
	mu     sync.Mutex
	callID string
	ended  bool
}

func (w *transcriptWatch) setCallID(callID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.callID = callID
	w.removeWatcher()
}

func (w *transcriptWatch) setEnded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.removeWatcher()
}

// removeWatcher removes the watcher once the call has ended and its id is known. The caller holds mu.
func (w *transcriptWatch) removeWatcher() {
	if w.ended && w.callID != "" {
		w.calls.RemoveWatcher(w.callID)
	}
}
