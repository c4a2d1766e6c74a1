package campaign_test

import (
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

// makeNumbersBusy replaces the numbers actor by one that denies every number as busy.
func (w *fixture) makeNumbersBusy() (free func()) {
	pid := w.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if m, ok := ctx.Message().(numbers.RequestNumber); ok {
			ctx.Send(ctx.Sender(), numbers.NumberDenied{CallID: m.CallID, Generation: m.Generation, Reason: numbers.Busy})
		}
	}))
	w.numbers = pid
	w.killProcess()
	w.startProcess()
	return func() { w.sys.Root.Poison(pid) }
}

func TestBusyNumberWaitsAsRetry(t *testing.T) {
	t.Parallel()
	withCampaign(t, 1, withRetries, func(w *fixture) {
		defer w.makeNumbersBusy()()
		w.mustRequest(campaign.Start{})
		time.Sleep(2 * time.Second)
		o := w.mustRequest(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "retry", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		assert.WithinDuration(w, time.Now(), *o.Waiting.Until, 5*time.Second)
	})
}

func TestHoldsOfRemovedContactAreDropped(t *testing.T) {
	t.Parallel()
	withCampaign(t, 2, withRetries, func(w *fixture) {
		defer w.makeNumbersBusy()()
		w.mustRequest(campaign.Start{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(w, 2, w.process.campaign.HeldContacts())
		require.Empty(w, w.changeContact(campaign.RemoveContact{Ordinal: 0}))
		synctest.Wait()
		assert.Equal(w, 1, w.process.campaign.HeldContacts())
	})
}

func TestEstimateIgnoresRemovedContact(t *testing.T) {
	t.Parallel()
	withCampaign(t, 1, func(c *domain.Campaign) {
		c.AutoComplete = false
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 20, RetryOn: []string{"no_answer"}}
	}, func(w *fixture) {
		w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: noAnswer, duration: time.Second, reached: true} }
		begun := time.Now()
		w.mustRequest(campaign.Start{})
		time.Sleep(10 * time.Second)
		o := w.mustRequest(campaign.GetStatus{})
		require.NotNil(w, o.Timing.EstimatedCompletion)
		assert.WithinDuration(w, begun.Add(20*time.Hour), *o.Timing.EstimatedCompletion, time.Hour)
		require.Empty(w, w.changeContact(campaign.RemoveContact{Ordinal: 0}))
		time.Sleep(10 * time.Second)
		if at := w.mustRequest(campaign.GetStatus{}).Timing.EstimatedCompletion; at != nil {
			assert.WithinDuration(w, begun, *at, time.Hour)
		}
	})
}

// When a slot denial names a forbidden number, the chunk of the contact may just be read again after an edit of another
// contact. The decision log must name the number nevertheless.
func TestDecisionLogNamesDeniedNumber(t *testing.T) {
	t.Parallel()
	withCampaign(t, 2, func(c *domain.Campaign) { withRetries(c); c.Pacing.MaxConcurrent = 1 }, func(w *fixture) {
		answer, reads := make(chan struct{}), make(chan struct{})
		w.noSlot = func() (trunk.SlotDenied, bool) {
			<-answer
			return trunk.SlotDenied{Reason: trunk.ReasonForbidden}, true
		}
		w.mustRequest(campaign.Start{})
		time.Sleep(time.Second)
		w.store.withLock(func(m *memoryStore) { m.blockedKinds = map[string]chan struct{}{"chunk": reads} })
		require.Empty(w, w.changeContact(campaign.EditContact{Ordinal: 1, Contact: changedContact(1)}))
		close(answer)
		time.Sleep(time.Second)
		close(reads)
		w.waitForStatus(time.Minute, domain.CampaignCompleted)
		var phones []string
		for _, page := range w.store.decisionPages() {
			for _, d := range page.Decisions {
				phones = append(phones, d.Phone)
			}
		}
		assert.Equal(w, []string{number(0), changedContact(1).Phone}, phones)
	})
}
