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

// now are the calls that live.
func (h *fixture) now() call.LiveCalls {
	h.t.Helper()
	now, err := mailbox.Ask[call.LiveCalls](h.t.Context(), h.sys, h.calls, call.GetLiveCalls{})
	require.NoError(h.t, err)
	return now
}

// part has all calls hold still.
func (h *fixture) part() call.HandoverPrepared {
	h.t.Helper()
	p, err := mailbox.Ask[call.HandoverPrepared](h.t.Context(), h.sys, h.calls, call.PrepareHandover{})
	require.NoError(h.t, err)
	return p
}

// A call whose node stops in order is let go of without a word, and goes on
// elsewhere from where it stood; however often.
func TestACallIsHandedOverAsOftenAsNeedBe(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	const number = area + "0009" // says and presses nothing
	start := h.order(number, waits())
	id := h.start(start)
	for round := range 5 {
		h.until(10*time.Second, "it to be such that another process could go on with it", func() bool {
			now := h.now()
			return now.Movable == 1 && now.Open == 1 && h.packets(id) > 60
		})
		assert.Equal(t, call.HandoverPrepared{Ready: 1}, h.part())
		h.sys.Root.Send(h.calls, call.CancelHandover{})
		assert.Equal(t, call.HandoverPrepared{Ready: 1}, h.part(), "what was taken back can be done again")
		_, before := h.attempt(id)
		_, err := mailbox.Ask[call.HandedOver](t.Context(), h.sys, h.calls, call.HandOver{})
		require.NoError(t, err)
		assert.Len(t, h.now().Calls, 1, "it lives, wherever, the time no. %d, %+v", round+1, h.ends(id))
		h.sys.Root.Poison(h.calls)
		h.until(10*time.Second, "the calls to be gone", func() bool {
			_, alive := h.sys.ProcessRegistry.Get(h.calls)
			return !alive
		})
		c, a := h.attempt(id)
		assert.NotEqual(t, string(before.ResumeState), string(a.ResumeState), "where it stands was stored anew")
		s, ok := recovery.NewResumable(c, a, "next", time.Now())
		require.True(t, ok, "the time no. %d", round+1)
		var kept struct{ Times int }
		require.NoError(t, json.Unmarshal(s.Attempt.ResumeState, &kept))
		assert.Zero(t, kept.Times, "it was not the call that ended its process")
		s.Trunk, s.Owner = start.Slot.Via, h.owner
		_, err = h.store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&s.Attempt}})
		require.NoError(t, err)
		took := make(chan string, 4)
		next := h.config
		next.Resumable, next.ResumptionDone = []*recovery.Resumable{s}, func(result string) { took <- result }
		h.calls = h.sys.Root.Spawn(call.Props(next))
		h.sys.Root.Send(h.calls, call.ResumeCalls{})
		assert.Equal(t, recovery.ResultResumed, soon(t, took))
	}
	assert.Zero(t, h.diary.count(number, testcarrier.CallerHungUp), "its far end hears of no end")
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	assert.Equal(t, domain.ReasonHangup, h.end(id).Verdict.Reason)
	assert.Equal(t, 1, h.diary.count(number, testcarrier.Answered))
}

// A call that rings cannot go on elsewhere: whoever asks is told so, and the
// others go on when they are told to.
func TestCallsHoldStillForOneThatCannotOnlyUntilTheyAreTold(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	talks := h.dial(area+"0003", confirm())
	h.until(10*time.Second, "one to talk", func() bool { return h.now().Movable == 1 })
	rings := h.start(h.order(never, waits()))
	h.until(10*time.Second, "the other one to ring", func() bool { return h.diary.count(never, testcarrier.Ringing) == 1 })
	p := h.part()
	assert.Equal(t, 1, p.Left, "%+v", p)
	h.sys.Root.Send(h.calls, call.CancelHandover{})
	h.until(time.Minute, "the agent, whom nobody answers, to give up", func() bool { return len(h.ends(talks)) > 0 })
	assert.Equal(t, domain.ReasonCompleted, h.end(talks).Verdict.Reason)
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: rings})
	require.NoError(t, err)
	assert.Equal(t, domain.ReasonCancelled, h.end(rings).Verdict.Reason)
}

// Where no answer was waited for any more, what could not hold still is ended.
func TestACallThatEndsWhileItHoldsStillIsOver(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	id := h.dial(area+"0009", waits())
	h.until(10*time.Second, "it to talk", func() bool { return h.now().Movable == 1 })
	require.Equal(t, call.HandoverPrepared{Ready: 1}, h.part())
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	_, err = mailbox.Ask[call.HandedOver](t.Context(), h.sys, h.calls, call.HandOver{})
	require.NoError(t, err)
	assert.Equal(t, domain.ReasonHangup, h.end(id).Verdict.Reason)
}

// A call whose end is not stored yet is waited for: whoever went on with it would
// call somebody who has heard that it is over.
func TestACallThatEndsCannotGoOnElsewhere(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	id := h.dial(area+"0009", waits())
	h.until(10*time.Second, "it to talk", func() bool { return h.now().Movable == 1 })
	gate := make(chan struct{})
	h.store.mu.Lock()
	h.store.slow = map[event.Type]chan struct{}{event.CallEnded: gate}
	h.store.mu.Unlock()
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	now := h.now()
	assert.Equal(t, 1, now.Open)
	assert.Zero(t, now.Movable)
	close(gate)
	assert.Equal(t, domain.ReasonHangup, h.end(id).Verdict.Reason)
}
