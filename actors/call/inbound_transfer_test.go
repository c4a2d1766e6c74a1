package call_test

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
)

// newAnsweringPeer returns a peer that answers every call. The channel came receives the INVITEs.
func newAnsweringPeer(t *testing.T) (p *peer, came chan *sip.Incoming) {
	t.Helper()
	came = make(chan *sip.Incoming, 4)
	p = newPeerWithoutUserAgent(t)
	p.ua = newUserAgent(t, func(in *sip.Incoming) {
		came <- in
		s, err := p.engine.Open(media.Options{})
		if err != nil {
			in.Reject(500, 0)
			return
		}
		body, err := s.Answer(in.Body)
		if err != nil {
			in.Reject(488, 0)
			return
		}
		d := in.Answer(body, p.onEvent)
		s.Begin()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dialog = d
	})
	return p, came
}

// callAgent makes an inbound call from the peer to the service. It returns the call's ID and the peer's media session and
// dialog after the answer.
func (h *fixture) callAgent(p *peer, script domain.Script) (id string, s *media.Session, d *sip.Dialog) {
	h.t.Helper()
	came := make(chan string, 1)
	service := newUserAgent(h.t, func(in *sip.Incoming) { came <- h.startInbound(in, script) })
	up := make(chan struct{})
	s, err := p.engine.Open(media.Options{})
	require.NoError(h.t, err)
	h.t.Cleanup(func() { s.Close() })
	d, err = p.ua.Invite(sip.Invite{
		Attempt: "them", Leg: 1, Target: targetOf(service), To: "+15550002222", From: "+15550003333", Body: s.Offer(),
		Notify: func(e sip.Event) {
			if a, ok := e.(sip.Answered); ok {
				_ = s.Accept(a.Body)
				s.Begin()
				close(up)
			}
		},
	})
	require.NoError(h.t, err)
	id = receive(h.t, came)
	receive(h.t, up)
	h.waitUntil(10*time.Second, "the answer", func() bool { return h.store.readCall(id).AnsweredAt != nil })
	return id, s, d
}

func TestTransferTargetSeesTheCaller(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers   []string
		phone     bool
		from, div string
	}{
		"a trunk that knows Diversion": {[]string{domain.HeaderDiversion}, false, "+15550003333", "+15550002222"},
		"a trunk that does not":        {nil, false, "+15550002222", ""},
		"a phone":                      {nil, true, "+15550003333", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller := newPeer(t)
			desk, came := newAnsweringPeer(t)
			h := newFixture(t, fixtureOptions{trunks: func(h *fixture) []domain.Trunk {
				list := trunksToPeer(desk)(h)
				list[1].CallerIDHeaders, list[1].CallerIDs = c.headers, []string{"+12025550100", "+15550002222"}
				return list
			}})
			id, _, _ := h.callAgent(caller, domain.Script{Language: "en-US", Pathway: waitingPathway()})
			way := transferleg.Target{To: numberPrefix + "7777"}
			if c.phone {
				way = transferleg.Target{To: "1001", Phone: &transferleg.Phone{To: "1001", Contacts: []registrar.Contact{{URI: "sip:1001@127.0.0.1", Target: targetOf(desk.ua)}}}}
			}
			require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: way, Mode: domain.TransferBridge}))
			in := receive(t, came)
			assert.Equal(t, c.from, in.From)
			if c.div == "" {
				assert.Empty(t, in.Header["Diversion"])
			} else {
				assert.Contains(t, in.Header["Diversion"], "<sip:"+c.div+"@")
			}
			h.waitForTransferStatus(id, domain.TransferConnected)
			require.NoError(t, h.hangUp(id))
			h.waitForEnd(id)
			h.waitUntil(5*time.Second, "the target gets a BYE", desk.hasEnded)
		})
	}
}

func TestTransferLegEndsAtMaxDuration(t *testing.T) {
	t.Parallel()
	desk, _ := newAnsweringPeer(t)
	h := newFixture(t, fixtureOptions{trunksActor: func(ctx actor.Context) {
		if m, ok := ctx.Message().(trunk.RequestSlot); ok {
			ctx.Respond(trunk.Slot{CallID: m.CallID, Key: "k", From: m.From, Target: targetOf(desk.ua), MaxDuration: 2 * time.Second, Generation: m.Generation})
		}
	}})
	id, _, _ := h.callAgent(newPeer(t), domain.Script{Language: "en-US", Pathway: waitingPathway()})
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: numberPrefix + "7777"}, Mode: domain.TransferBridge}))
	h.waitForTransferStatus(id, domain.TransferReturned)
	assert.Equal(t, []domain.TransferStatus{domain.TransferStarted, domain.TransferConnected, domain.TransferReturned}, h.transferStatuses(id))
	h.waitUntil(5*time.Second, "the target gets a BYE", desk.hasEnded)
	require.NoError(t, h.request(call.SpeakText{CallID: id, Text: "I am back."}), "the agent is connected to the caller")
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
}

func TestAgentPausesWhileThePeerHolds(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	h := newFixture(t, fixtureOptions{})
	id, s, d := h.callAgent(p, domain.Script{Language: "en-US", Pathway: waitingPathway()})
	reoffer := func() {
		t.Helper()
		done := make(chan sip.OfferResult, 1)
		d.Reoffer(s.Offer(), func(r sip.OfferResult) { done <- r })
		r := receive(t, done)
		require.NoError(t, r.Err)
		require.Equal(t, 200, r.Code)
		require.NoError(t, s.Accept(r.Body))
	}
	s.SetOfferDirection(false, true)
	reoffer()
	h.waitUntil(5*time.Second, "the agent is paused", func() bool {
		return domain.CodeOf(h.request(call.SpeakText{CallID: id, Text: "Hello?"})) == domain.CodeInvalidState
	})
	sent := h.waitUntilStable("audio in transit has arrived", func() uint64 { return s.Stats().PacketsReceived })
	h.assertNever(500*time.Millisecond, "the agent is silent", func() bool { return s.Stats().PacketsReceived > sent+5 })
	s.SetOfferDirection(true, true)
	reoffer()
	h.waitUntil(5*time.Second, "the agent continues", func() bool { return h.request(call.SpeakText{CallID: id, Text: "Hello."}) == nil })
	sent = s.Stats().PacketsReceived
	h.waitUntil(5*time.Second, "the agent is audible", func() bool { return s.Stats().PacketsReceived > sent+20 })
	require.NoError(t, h.hangUp(id))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeCompleted, e.Verdict.Outcome)
}

func TestInviteWithReplacesReplacesThePeer(t *testing.T) {
	t.Parallel()
	for name, allowed := range map[string]bool{"allowed": true, "not allowed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newPeer(t), newPeer(t)
			h := newFixture(t, fixtureOptions{})
			script := domain.Script{Language: "en-US", Pathway: waitingPathway()}
			script.Transfer.AcceptRefer = allowed
			var service *sip.UserAgent
			came := make(chan string, 1)
			service = newUserAgent(t, func(in *sip.Incoming) { came <- h.startInbound(in, script) })
			calls := func(p *peer, replaces *message.DialogID) (*media.Session, *sip.Dialog, chan sip.Event) {
				s, err := p.engine.Open(media.Options{})
				require.NoError(t, err)
				t.Cleanup(func() { s.Close() })
				got := make(chan sip.Event, 32)
				d, err := p.ua.Invite(sip.Invite{
					Attempt: mailbox.NewID("x"), Leg: 1, Target: targetOf(service), To: "+15550002222", From: "+15550003333", Body: s.Offer(), Replaces: replaces,
					Notify: func(e sip.Event) {
						if a, ok := e.(sip.Answered); ok {
							_ = s.Accept(a.Body)
							s.Begin()
						}
						got <- e
					},
				})
				require.NoError(t, err)
				return s, d, got
			}
			_, d, events := calls(first, nil)
			id := receive(t, came)
			h.waitUntil(10*time.Second, "the answer", func() bool { return h.store.readCall(id).AnsweredAt != nil })
			receiveEvent[sip.Answered](t, events)
			mine := d.ID() // the dialog ID from the first peer's point of view
			s, _, got := calls(second, &mine)
			if !allowed {
				assert.Equal(t, 403, receiveEvent[sip.Refused](t, got).Final.Code)
				assert.Len(t, h.store.readCall(id).Legs, 1)
				require.NoError(t, h.hangUp(id))
				h.waitForEnd(id)
				return
			}
			h.waitForTransferStatus(id, domain.TransferCompleted)
			receiveEvent[sip.Ended](t, events) // the first peer gets a BYE
			heard := s.Stats().PacketsReceived
			h.waitUntil(5*time.Second, "the second peer hears the agent", func() bool { return s.Stats().PacketsReceived > heard+20 })
			assert.Equal(t, "remote", h.lastTransfer(id).By)
			require.NoError(t, h.request(call.SpeakText{CallID: id, Text: "Hello."}), "the agent continues")
			require.NoError(t, h.hangUp(id))
			e := h.waitForEnd(id)
			assert.Len(t, e.Call.Legs, 2)
			assert.Equal(t, "api", e.Call.EndedBy)
		})
	}
}

func TestPeerStaysIfTheReplacingInviteIsCancelled(t *testing.T) {
	t.Parallel()
	first, second := newPeer(t), newPeer(t)
	h := newFixture(t, fixtureOptions{})
	script := domain.Script{Language: "en-US", Pathway: waitingPathway(), Transfer: domain.AgentTransfer{AcceptRefer: true}}
	came := make(chan string, 1)
	service := newUserAgent(t, func(in *sip.Incoming) { came <- h.startInbound(in, script) })
	calls := func(p *peer, replaces *message.DialogID) (*media.Session, *sip.Dialog, chan sip.Event) {
		s, err := p.engine.Open(media.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		got := make(chan sip.Event, 32)
		d, err := p.ua.Invite(sip.Invite{
			Attempt: mailbox.NewID("x"), Leg: 1, Target: targetOf(service), To: "+15550002222", From: "+15550003333", Body: s.Offer(), Replaces: replaces,
			Notify: func(e sip.Event) {
				switch e := e.(type) {
				case sip.Answered:
					_ = s.Accept(e.Body)
					s.Begin()
				case sip.Reoffer:
					body, err := s.Answer(e.Body)
					if err != nil {
						e.Reply(488, nil)
						break
					}
					e.Reply(200, body)
				}
				got <- e
			},
		})
		require.NoError(t, err)
		return s, d, got
	}
	s, d, events := calls(first, nil)
	id := receive(t, came)
	h.waitUntil(10*time.Second, "the answer", func() bool { return h.store.readCall(id).AnsweredAt != nil })
	receiveEvent[sip.Answered](t, events)
	mine := d.ID()
	h.store.setDown(true) // the replacement waits until it can be stored
	_, other, got := calls(second, &mine)
	receiveEvent[sip.Ringing](t, got)
	other.Cancel("enough")
	receiveEvent[sip.Refused](t, got)
	h.store.setDown(false)
	h.waitForTransferStatus(id, domain.TransferFailed)
	receiveEvent[sip.Reoffer](t, events) // the first peer gets the audio back
	heard := s.Stats().PacketsReceived
	h.waitUntil(10*time.Second, "the first peer hears the agent", func() bool { return s.Stats().PacketsReceived > heard+20 })
	require.NoError(t, h.hangUp(id))
	e := h.waitForEnd(id)
	assert.Equal(t, "api", e.Call.EndedBy)
	receiveEvent[sip.Ended](t, events)
}

func TestGetLiveCallsListsTransferLegs(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: numberPrefix + "0109"}, Mode: domain.TransferBridge}))
	h.waitForTransferStatus(id, domain.TransferConnected)
	now, err := mailbox.Ask[call.LiveCalls](t.Context(), h.sys, h.calls, call.GetLiveCalls{})
	require.NoError(t, err)
	require.Len(t, now.Calls, 1)
	require.Len(t, now.TransferLegs, 1)
	assert.Equal(t, id+"/1", now.TransferLegs[0].CallID)
	assert.Equal(t, domain.Outbound, now.TransferLegs[0].Direction)
	assert.NotEqual(t, now.Calls[0].PID.Id, now.TransferLegs[0].PID.Id)
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
}
