package campaign_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// panicAt makes the actor panic at the given occurrences of a message type, counted from 1. thrown returns the number of
// panics so far.
func (w *fixture) panicAt(kind string, which ...int) (thrown func() int) {
	seen, n := 0, 0
	synctest.Wait() // no message is being handled
	w.onMessage = func(m any) {
		if fmt.Sprintf("%T", m) != kind {
			return
		}
		seen++
		for _, i := range which {
			if seen == i {
				n++
				panic("planted at " + kind)
			}
		}
	}
	return func() int { return n }
}

func TestPanicAtDenialLosesNoContact(t *testing.T) {
	t.Parallel()
	const n = 24
	for _, kind := range []string{"trunk.SlotDenied", "numbers.NumberDenied"} {
		for _, which := range []int{1, 3} {
			withCampaign(t, n, withRetries, func(w *fixture) {
				w.callPlan = plannedResult
				w.store.latency = 3 * time.Millisecond
				asked, wanted := 0, 0
				w.noSlot = func() (trunk.SlotDenied, bool) {
					wanted++
					return trunk.SlotDenied{Reason: trunk.ReasonThrottled, Until: time.Now().Add(time.Second)}, wanted%4 == 1 && wanted < 40
				}
				w.numbers = w.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
					m, ok := ctx.Message().(numbers.RequestNumber)
					if !ok {
						return
					}
					if asked++; asked%4 == 1 && asked < 40 {
						ctx.Send(ctx.Sender(), numbers.NumberDenied{CallID: m.CallID, Generation: m.Generation, Reason: numbers.Busy})
						return
					}
					ctx.Send(ctx.Sender(), numbers.NumberGranted{CallID: m.CallID, Generation: m.Generation})
				}))
				defer w.sys.Root.Poison(w.numbers)
				w.killProcess()
				w.startProcess()
				thrown := w.panicAt(kind, which, which+2)
				w.mustRequest(campaign.Start{})
				w.runToEnd(n)
				assert.Equal(w, 2, thrown(), kind)
			})
		}
	}
}

func TestPanicAtCancelCostsOnlyItsReply(t *testing.T) {
	t.Parallel()
	const n = 24
	withCampaign(t, n, withRetries, func(w *fixture) {
		w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: done, duration: time.Hour, reached: true} }
		w.mustRequest(campaign.Start{})
		time.Sleep(2 * time.Second)
		require.NotEmpty(w, w.openCalls())
		thrown := w.panicAt("campaign.Cancel", 1)
		_, err := w.request(campaign.Cancel{HangupActive: true})
		require.Error(w, err, "the sender gets an error")
		require.Equal(w, 1, thrown())
		o := w.mustRequest(campaign.GetStatus{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		w.mustRequest(campaign.Cancel{HangupActive: true})
		o = w.waitForStatus(time.Minute, domain.CampaignCancelled)
		time.Sleep(10 * time.Second)
		assert.Empty(w, w.openCalls(), "the live calls were hung up")
		assert.Equal(w, n, o.Progress.Total)
		w.checkOneCallPerAttempt()
	})
}

func TestPanicAtContactChangeCostsOnlyItsReply(t *testing.T) {
	t.Parallel()
	for kind, change := range map[string]any{
		"campaign.RemoveContact": campaign.RemoveContact{Ordinal: 39}, "campaign.EditContact": campaign.EditContact{Ordinal: 39, Contact: changedContact(39)},
	} {
		withCampaign(t, 40, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 5} }, func(w *fixture) {
			w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: done, duration: time.Second, reached: true} }
			w.mustRequest(campaign.Start{})
			time.Sleep(3 * time.Second)
			thrown := w.panicAt(kind, 1)
			assert.NotEmpty(w, w.changeContact(change), "the sender gets an error")
			require.Equal(w, 1, thrown())
			assert.Empty(w, w.changeContact(change), "a second request succeeds")
			w.runToEnd(40)
			assert.Zero(w, w.callCount(number(39)))
			if kind == "campaign.EditContact" {
				assert.Equal(w, 1, w.callCount(changedContact(39).Phone))
			}
		})
	}
}

func TestPanicDuringDrainLosesNoContact(t *testing.T) {
	t.Parallel()
	const n = 80
	withCampaign(t, n, withRetries, func(w *fixture) {
		w.callPlan = plannedResult
		w.store.latency = 3 * time.Millisecond
		w.mustRequest(campaign.Start{})
		time.Sleep(2 * time.Second)
		thrown := w.panicAt("campaign.Drain", 1)
		w.send(campaign.Drain{})
		require.Equal(w, 1, thrown())
		time.Sleep(2 * time.Second)
		w.send(campaign.Drain{})
		time.Sleep(time.Second)
		before := len(w.callTimes())
		require.Less(w, before, n)
		time.Sleep(30 * time.Second)
		assert.Len(w, w.callTimes(), before, "no further call starts")
		assert.Empty(w, w.openCalls(), "what was live has ended")
		w.killProcess()
		w.startProcess()
		w.runToEnd(n)
	})
}
