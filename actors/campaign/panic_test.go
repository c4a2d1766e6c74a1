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

// plant throws at the messages of a kind whose numbers are given, from 1, and
// says how often it has thrown.
func (w *world) plant(kind string, which ...int) (thrown func() int) {
	seen, n := 0, 0
	synctest.Wait() // nobody reads it just now
	w.before = func(m any) {
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

func TestAPanicAtARefusalForgetsNobody(t *testing.T) {
	t.Parallel()
	const n = 24
	for _, kind := range []string{"trunk.SlotDenied", "numbers.NumberDenied"} {
		for _, which := range []int{1, 3} {
			in(t, n, mixed, func(w *world) {
				w.ends = fates
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
				w.kill()
				w.begin()
				thrown := w.plant(kind, which, which+2)
				w.must(campaign.Start{})
				w.complete(n)
				assert.Equal(w, 2, thrown(), kind)
			})
		}
	}
}

func TestAPanicAtACancellationCostsOnlyItsAnswer(t *testing.T) {
	t.Parallel()
	const n = 24
	in(t, n, mixed, func(w *world) {
		w.ends = func(domain.Call) plan { return plan{verdict: done, lasts: time.Hour, reached: true} }
		w.must(campaign.Start{})
		time.Sleep(2 * time.Second)
		require.NotEmpty(w, w.openCalls())
		thrown := w.plant("campaign.Cancel", 1)
		_, err := w.ask(campaign.Cancel{HangupActive: true})
		require.Error(w, err, "whoever asked hears that it was not done")
		require.Equal(w, 1, thrown())
		o := w.must(campaign.GetStatus{})
		assert.Equal(w, domain.CampaignRunning, o.Status)
		w.must(campaign.Cancel{HangupActive: true})
		o = w.until(time.Minute, domain.CampaignCancelled)
		time.Sleep(10 * time.Second)
		assert.Empty(w, w.openCalls(), "the live calls were hung up")
		assert.Equal(w, n, o.Progress.Total)
		w.onceEach()
	})
}

func TestAPanicAtAChangeOfAContactCostsOnlyItsAnswer(t *testing.T) {
	t.Parallel()
	for kind, change := range map[string]any{
		"campaign.RemoveContact": campaign.RemoveContact{Ordinal: 39}, "campaign.EditContact": campaign.EditContact{Ordinal: 39, Contact: other(39)},
	} {
		in(t, 40, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 5} }, func(w *world) {
			w.ends = func(domain.Call) plan { return plan{verdict: done, lasts: time.Second, reached: true} }
			w.must(campaign.Start{})
			time.Sleep(3 * time.Second)
			thrown := w.plant(kind, 1)
			assert.NotEmpty(w, w.revise(change), "whoever asked hears that it was not done")
			require.Equal(w, 1, thrown())
			assert.Empty(w, w.revise(change), "and may ask again")
			w.complete(40)
			assert.Zero(w, w.rings(number(39)))
			if kind == "campaign.EditContact" {
				assert.Equal(w, 1, w.rings(other(39).Phone))
			}
		})
	}
}

func TestAPanicWhileItDrainsForgetsNobody(t *testing.T) {
	t.Parallel()
	const n = 80
	in(t, n, mixed, func(w *world) {
		w.ends = fates
		w.store.latency = 3 * time.Millisecond
		w.must(campaign.Start{})
		time.Sleep(2 * time.Second)
		thrown := w.plant("campaign.Drain", 1)
		w.tell(campaign.Drain{})
		require.Equal(w, 1, thrown())
		time.Sleep(2 * time.Second)
		w.tell(campaign.Drain{})
		time.Sleep(time.Second)
		before := len(w.calls())
		require.Less(w, before, n)
		time.Sleep(30 * time.Second)
		assert.Len(w, w.calls(), before, "nobody is rung any more")
		assert.Empty(w, w.openCalls(), "what was live has ended")
		w.kill()
		w.begin()
		w.complete(n)
	})
}
