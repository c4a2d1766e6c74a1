package campaign_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// revise changes or removes a contact and answers the error's code.
func (w *world) revise(m any) domain.Code {
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	_, err := mailbox.Ask[campaign.ContactRevised](ctx, w.sys, w.alive.actor, m)
	if err != nil && domain.CodeOf(err) == "" {
		return domain.Code(err.Error())
	}
	return domain.CodeOf(err)
}

// rings is how often a number was rung.
func (w *world) rings(phone string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rung[phone]
}

func other(i int) domain.Contact {
	return domain.Contact{Phone: fmt.Sprintf("+1303555%04d", i), Context: domain.Context{"name": "Changed " + strconv.Itoa(i)}}
}

func TestAContactThatIsTakenOutIsNeverRung(t *testing.T) {
	t.Parallel()
	in(t, 40, func(c *domain.Campaign) {
		c.Pacing = domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 5}
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 1, RetryOn: []string{"no_answer"}}
	}, func(w *world) {
		w.ends = func(c domain.Call) plan {
			if c.To == number(0) || c.To == number(1) {
				return plan{verdict: noAnswer, lasts: time.Second, reached: true}
			}
			return plan{verdict: done, lasts: 4 * time.Second, reached: true}
		}
		assert.Empty(w, w.revise(campaign.RemoveContact{Ordinal: 7}), "of a draft")
		w.must(campaign.Start{})
		time.Sleep(6500 * time.Millisecond)
		assert.Empty(w, w.revise(campaign.RemoveContact{Ordinal: 39}), "nobody has looked at it yet")
		assert.Empty(w, w.revise(campaign.RemoveContact{Ordinal: 10}), "it is at hand")
		assert.Empty(w, w.revise(campaign.RemoveContact{Ordinal: 0}), "it waits for its retry")
		assert.Equal(w, domain.CodeInvalidState, w.revise(campaign.RemoveContact{Ordinal: 5}), "it is rung")
		assert.Equal(w, domain.CodeInvalidState, w.revise(campaign.RemoveContact{Ordinal: 2}), "it is done")
		assert.Equal(w, domain.CodeInvalidState, w.revise(campaign.RemoveContact{Ordinal: 10}), "it is out already")
		assert.Equal(w, domain.CodeNotFound, w.revise(campaign.RemoveContact{Ordinal: 40}))
		o := w.until(3*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 4, o.Outcomes[domain.OutcomeCancelled])
		assert.Equal(w, 35, o.Outcomes[domain.OutcomeCompleted])
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeNoAnswer])
		for _, i := range []int{7, 10, 39} {
			assert.Zero(w, w.rings(number(i)), i)
		}
		assert.Equal(w, []int{1, 2}, []int{w.rings(number(0)), w.rings(number(1))}, "no retry of who was taken out")
		assert.Equal(w, domain.CodeUnavailable, w.revise(campaign.RemoveContact{Ordinal: 3}), "the campaign is over and its actor gone: the desk says why")
	})
}

func TestAContactThatIsChangedIsRungAsItIsNow(t *testing.T) {
	t.Parallel()
	in(t, 520, func(c *domain.Campaign) {
		c.Pacing = domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 20}
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 1, RetryOn: []string{"no_answer"}}
	}, func(w *world) {
		w.ends = func(c domain.Call) plan {
			if c.To == number(0) {
				return plan{verdict: noAnswer, lasts: time.Second, reached: true}
			}
			return plan{verdict: done, lasts: time.Second, reached: true}
		}
		assert.Empty(w, w.revise(campaign.EditContact{Ordinal: 510, Contact: other(510)}))
		w.must(campaign.Start{})
		time.Sleep(3 * time.Second)
		w.must(campaign.Pause{})
		time.Sleep(3 * time.Second)
		assert.Empty(w, w.revise(campaign.EditContact{Ordinal: 0, Contact: other(0)}), "it waits for its retry")
		assert.Empty(w, w.revise(campaign.EditContact{Ordinal: 45, Contact: other(45)}), "its body is at hand")
		assert.Empty(w, w.revise(campaign.EditContact{Ordinal: 46, Contact: other(46)}))
		assert.Empty(w, w.revise(campaign.EditContact{Ordinal: 46, Contact: other(4646)}), "twice")
		assert.Equal(w, domain.CodeInvalidState, w.revise(campaign.EditContact{Ordinal: 3, Contact: other(3)}), "it is done")
		w.must(campaign.Resume{})
		time.Sleep(10 * time.Second)
		w.kill()
		w.begin()
		o := w.until(5*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 520, o.Progress.Attempted)
		want := map[int]string{510: other(510).Phone, 45: other(45).Phone, 46: other(4646).Phone}
		for i, phone := range want {
			assert.Equal(w, []int{0, 1}, []int{w.rings(number(i)), w.rings(phone)}, i)
		}
		assert.Equal(w, []int{1, 1}, []int{w.rings(number(0)), w.rings(other(0).Phone)}, "the retry rings the new number")
		assert.Zero(w, w.rings(other(46).Phone))
		w.onceEach()
	})
}

// Whatever fails meanwhile: who was taken out is not rung once that was
// answered, and who was changed is rung at no other number afterwards.
func TestChangesOfContactsHoldUnderFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		in(t, 80, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 1200, MaxConcurrent: 40} }, func(w *world) {
			dice := rand.New(rand.NewPCG(seed, 1))
			w.ends = func(domain.Call) plan { return plan{verdict: done, lasts: time.Second, reached: true} }
			w.store.latency = 3 * time.Millisecond
			w.store.judge = func(n int, _ commit.Change) fault {
				switch {
				case n%7 == 3:
					return conflicted
				case n%11 == 5:
					return unheard
				case n%13 == 6:
					return lost
				}
				return none
			}
			w.must(campaign.Start{})
			removed, changed := map[int]int{}, map[int]int{}
			for range 30 {
				time.Sleep(time.Duration(dice.IntN(150)) * time.Millisecond)
				i := dice.IntN(80)
				if dice.IntN(2) == 0 {
					if w.revise(campaign.RemoveContact{Ordinal: i}) == "" {
						removed[i] = w.rings(number(i)) + w.rings(other(i).Phone)
					}
				} else if w.revise(campaign.EditContact{Ordinal: i, Contact: other(i)}) == "" {
					changed[i] = w.rings(number(i))
				}
			}
			w.until(10*time.Minute, domain.CampaignCompleted)
			require.NotEmpty(w, removed)
			require.NotEmpty(w, changed)
			for i, n := range removed {
				assert.Equal(w, n, w.rings(number(i))+w.rings(other(i).Phone), "contact %d was taken out", i)
			}
			for i, n := range changed {
				assert.Equal(w, n, w.rings(number(i)), "contact %d was changed", i)
			}
			w.onceEach()
		})
	}
}
