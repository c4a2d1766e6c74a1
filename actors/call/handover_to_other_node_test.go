package call_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip/testcarrier"
)

// liveCalls requests and returns the list of live calls from the Calls actor.
func (h *fixture) liveCalls() call.LiveCalls {
	h.t.Helper()
	now, err := mailbox.Ask[call.LiveCalls](h.t.Context(), h.sys, h.calls, call.GetLiveCalls{})
	require.NoError(h.t, err)
	return now
}

// prepareHandover sends PrepareHandover to Calls and returns its answer.
func (h *fixture) prepareHandover() call.HandoverPrepared {
	h.t.Helper()
	p, err := mailbox.Ask[call.HandoverPrepared](h.t.Context(), h.sys, h.calls, call.PrepareHandover{})
	require.NoError(h.t, err)
	return p
}

// A process that stops in an orderly way releases the call without a BYE. Another process resumes the call at the same
// point of the conversation.
func TestCallIsHandedOverRepeatedly(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	const number = numberPrefix + "0009" // says and presses nothing
	start := h.prepareCall(number, collectPathway())
	id := h.startCall(start)
	for round := range 5 {
		h.waitUntil(10*time.Second, "the call is movable", func() bool {
			now := h.liveCalls()
			return now.Movable == 1 && now.Open == 1 && h.packetsSent(id) > 60
		})
		assert.Equal(t, call.HandoverPrepared{Ready: 1}, h.prepareHandover())
		h.sys.Root.Send(h.calls, call.CancelHandover{})
		assert.Equal(t, call.HandoverPrepared{Ready: 1}, h.prepareHandover(), "a cancelled hand-over can be prepared again")
		_, before := h.readRows(id)
		_, err := mailbox.Ask[call.HandedOver](t.Context(), h.sys, h.calls, call.HandOver{})
		require.NoError(t, err)
		assert.Len(t, h.liveCalls().Calls, 1, "it lives, wherever, the time no. %d, %+v", round+1, h.endsOf(id))
		h.sys.Root.Poison(h.calls)
		h.waitUntil(10*time.Second, "the calls actor has stopped", func() bool {
			_, alive := h.sys.ProcessRegistry.Get(h.calls)
			return !alive
		})
		c, a := h.readRows(id)
		assert.NotEqual(t, string(before.ResumeState), string(a.ResumeState), "a new checkpoint is stored")
		s, ok := recovery.NewResumable(c, a, "next", time.Now())
		require.True(t, ok, "the time no. %d", round+1)
		var kept struct{ Times int }
		require.NoError(t, json.Unmarshal(s.Attempt.ResumeState, &kept))
		assert.Zero(t, kept.Times, "a resumption after a hand-over is not counted")
		s.Trunk, s.Owner = start.Slot.Via, h.owner
		_, err = h.store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&s.Attempt}})
		require.NoError(t, err)
		took := make(chan string, 4)
		next := h.config
		next.Resumable, next.ResumptionDone = []*recovery.Resumable{s}, func(result string) { took <- result }
		h.calls = h.sys.Root.Spawn(call.Props(next))
		h.sys.Root.Send(h.calls, call.ResumeCalls{})
		assert.Equal(t, recovery.ResultResumed, receive(t, took))
	}
	assert.Zero(t, h.phoneLog.count(number, testcarrier.CallerHungUp), "the peer gets no BYE")
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	assert.Equal(t, domain.ReasonHangup, h.waitForEnd(id).Verdict.Reason)
	assert.Equal(t, 1, h.phoneLog.count(number, testcarrier.Answered))
}

// A ringing call cannot be handed over. After CancelHandover the other conversations continue.
func TestCancelledHandoverLetsConversationsContinue(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	talks := h.dial(numberPrefix+"0003", confirmPathway())
	h.waitUntil(10*time.Second, "the first call is answered", func() bool { return h.liveCalls().Movable == 1 })
	rings := h.startCall(h.prepareCall(unansweredNumber, collectPathway()))
	h.waitUntil(10*time.Second, "the second call rings", func() bool { return h.phoneLog.count(unansweredNumber, testcarrier.Ringing) == 1 })
	p := h.prepareHandover()
	assert.Equal(t, 1, p.Left, "%+v", p)
	h.sys.Root.Send(h.calls, call.CancelHandover{})
	h.waitUntil(time.Minute, "the conversation ends after its retries", func() bool { return len(h.endsOf(talks)) > 0 })
	assert.Equal(t, domain.ReasonCompleted, h.waitForEnd(talks).Verdict.Reason)
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: rings})
	require.NoError(t, err)
	assert.Equal(t, domain.ReasonCancelled, h.waitForEnd(rings).Verdict.Reason)
}

// A call that is hung up after PrepareHandover ends normally and is not handed over.
func TestPreparedCallCanStillBeHungUp(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	id := h.dial(numberPrefix+"0009", collectPathway())
	h.waitUntil(10*time.Second, "the call is answered", func() bool { return h.liveCalls().Movable == 1 })
	require.Equal(t, call.HandoverPrepared{Ready: 1}, h.prepareHandover())
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	_, err = mailbox.Ask[call.HandedOver](t.Context(), h.sys, h.calls, call.HandOver{})
	require.NoError(t, err)
	assert.Equal(t, domain.ReasonHangup, h.waitForEnd(id).Verdict.Reason)
}

// Another process must not resume a call whose end is not stored: the peer has already received the BYE.
func TestEndingCallIsNotMovable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	id := h.dial(numberPrefix+"0009", collectPathway())
	h.waitUntil(10*time.Second, "the call is answered", func() bool { return h.liveCalls().Movable == 1 })
	gate := make(chan struct{})
	h.store.mu.Lock()
	h.store.gates = map[event.Type]chan struct{}{event.CallEnded: gate}
	h.store.mu.Unlock()
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	now := h.liveCalls()
	assert.Equal(t, 1, now.Open)
	assert.Zero(t, now.Movable)
	close(gate)
	assert.Equal(t, domain.ReasonHangup, h.waitForEnd(id).Verdict.Reason)
}
