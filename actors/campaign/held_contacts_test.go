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

// taken lets the owner of the numbers say of all that they are on the line.
func (w *world) taken() (free func()) {
	pid := w.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if m, ok := ctx.Message().(numbers.RequestNumber); ok {
			ctx.Send(ctx.Sender(), numbers.NumberDenied{CallID: m.CallID, Generation: m.Generation, Reason: numbers.Busy})
		}
	}))
	w.numbers = pid
	w.kill()
	w.begin()
	return func() { w.sys.Root.Poison(pid) }
}

func TestWhoseNumberIsOnTheLineWaitsAndNotForTheHours(t *testing.T) {
	t.Parallel()
	in(t, 1, mixed, func(w *world) {
		defer w.taken()()
		w.must(campaign.Start{})
		time.Sleep(2 * time.Second)
		o := w.must(campaign.GetStatus{})
		require.NotNil(w, o.Waiting)
		assert.Equal(w, "retry", o.Waiting.Reason)
		require.NotNil(w, o.Waiting.Until)
		assert.WithinDuration(w, time.Now(), *o.Waiting.Until, 5*time.Second)
	})
}

func TestWhatHeldAContactIsForgottenWithIt(t *testing.T) {
	t.Parallel()
	in(t, 2, mixed, func(w *world) {
		defer w.taken()()
		w.must(campaign.Start{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(w, 2, w.alive.made.Held())
		require.Empty(w, w.revise(campaign.RemoveContact{Ordinal: 0}))
		synctest.Wait()
		assert.Equal(w, 1, w.alive.made.Held())
	})
}

func TestNobodyIsExpectedToBeRungAgainWhoWasTakenOut(t *testing.T) {
	t.Parallel()
	in(t, 1, func(c *domain.Campaign) {
		c.AutoComplete = false
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 20, RetryOn: []string{"no_answer"}}
	}, func(w *world) {
		w.ends = func(domain.Call) plan { return plan{verdict: noAnswer, lasts: time.Second, reached: true} }
		begun := time.Now()
		w.must(campaign.Start{})
		time.Sleep(10 * time.Second)
		o := w.must(campaign.GetStatus{})
		require.NotNil(w, o.Timing.EstimatedCompletion)
		assert.WithinDuration(w, begun.Add(20*time.Hour), *o.Timing.EstimatedCompletion, time.Hour)
		require.Empty(w, w.revise(campaign.RemoveContact{Ordinal: 0}))
		time.Sleep(10 * time.Second)
		if at := w.must(campaign.GetStatus{}).Timing.EstimatedCompletion; at != nil {
			assert.WithinDuration(w, begun, *at, time.Hour)
		}
	})
}

// The body of a contact may be read again just now, because that of another
// beside it was changed.
func TestTheLogNamesTheNumberThatMayNotBeRung(t *testing.T) {
	t.Parallel()
	in(t, 2, func(c *domain.Campaign) { mixed(c); c.Pacing.MaxConcurrent = 1 }, func(w *world) {
		answer, reads := make(chan struct{}), make(chan struct{})
		w.noSlot = func() (trunk.SlotDenied, bool) {
			<-answer
			return trunk.SlotDenied{Reason: trunk.ReasonForbidden}, true
		}
		w.must(campaign.Start{})
		time.Sleep(time.Second)
		w.store.set(func(m *memory) { m.stall = map[string]chan struct{}{"chunk": reads} })
		require.Empty(w, w.revise(campaign.EditContact{Ordinal: 1, Contact: other(1)}))
		close(answer)
		time.Sleep(time.Second)
		close(reads)
		w.until(time.Minute, domain.CampaignCompleted)
		var phones []string
		for _, page := range w.store.decided() {
			for _, d := range page.Decisions {
				phones = append(phones, d.Phone)
			}
		}
		assert.Equal(w, []string{number(0), other(1).Phone}, phones)
	})
}
