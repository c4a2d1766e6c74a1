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

// changeContact sends an EditContact or RemoveContact request and returns the error code of the reply.
func (w *fixture) changeContact(m any) domain.Code {
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	_, err := mailbox.Ask[campaign.ContactRevised](ctx, w.sys, w.process.actor, m)
	if err != nil && domain.CodeOf(err) == "" {
		return domain.Code(err.Error())
	}
	return domain.CodeOf(err)
}

// callCount returns how often a number was called.
func (w *fixture) callCount(phone string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.callsByNumber[phone]
}

func changedContact(i int) domain.Contact {
	return domain.Contact{Phone: fmt.Sprintf("+1303555%04d", i), Context: domain.Context{"name": "Changed " + strconv.Itoa(i)}}
}

func TestRemovedContactIsNeverCalled(t *testing.T) {
	t.Parallel()
	withCampaign(t, 40, func(c *domain.Campaign) {
		c.Pacing = domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 5}
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 1, RetryOn: []string{"no_answer"}}
	}, func(w *fixture) {
		w.callPlan = func(c domain.Call) callPlan {
			if c.To == number(0) || c.To == number(1) {
				return callPlan{verdict: noAnswer, duration: time.Second, reached: true}
			}
			return callPlan{verdict: done, duration: 4 * time.Second, reached: true}
		}
		assert.Empty(w, w.changeContact(campaign.RemoveContact{Ordinal: 7}), "of a draft")
		w.mustRequest(campaign.Start{})
		time.Sleep(6500 * time.Millisecond)
		assert.Empty(w, w.changeContact(campaign.RemoveContact{Ordinal: 39}), "the contact is not classified yet")
		assert.Empty(w, w.changeContact(campaign.RemoveContact{Ordinal: 10}), "the contact is ready")
		assert.Empty(w, w.changeContact(campaign.RemoveContact{Ordinal: 0}), "it waits for its retry")
		assert.Equal(w, domain.CodeInvalidState, w.changeContact(campaign.RemoveContact{Ordinal: 5}), "the contact is being called")
		assert.Equal(w, domain.CodeInvalidState, w.changeContact(campaign.RemoveContact{Ordinal: 2}), "it is done")
		assert.Equal(w, domain.CodeInvalidState, w.changeContact(campaign.RemoveContact{Ordinal: 10}), "the contact is already removed")
		assert.Equal(w, domain.CodeNotFound, w.changeContact(campaign.RemoveContact{Ordinal: 40}))
		o := w.waitForStatus(3*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 4, o.Outcomes[domain.OutcomeCancelled])
		assert.Equal(w, 35, o.Outcomes[domain.OutcomeCompleted])
		assert.Equal(w, 1, o.Outcomes[domain.OutcomeNoAnswer])
		for _, i := range []int{7, 10, 39} {
			assert.Zero(w, w.callCount(number(i)), i)
		}
		assert.Equal(w, []int{1, 2}, []int{w.callCount(number(0)), w.callCount(number(1))}, "no retry of a removed contact")
		assert.Equal(w, domain.CodeUnavailable, w.changeContact(campaign.RemoveContact{Ordinal: 3}), "the campaign has ended and its actor has stopped")
	})
}

func TestEditedContactIsCalledWithNewNumber(t *testing.T) {
	t.Parallel()
	withCampaign(t, 520, func(c *domain.Campaign) {
		c.Pacing = domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 20}
		c.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 1, RetryOn: []string{"no_answer"}}
	}, func(w *fixture) {
		w.callPlan = func(c domain.Call) callPlan {
			if c.To == number(0) {
				return callPlan{verdict: noAnswer, duration: time.Second, reached: true}
			}
			return callPlan{verdict: done, duration: time.Second, reached: true}
		}
		assert.Empty(w, w.changeContact(campaign.EditContact{Ordinal: 510, Contact: changedContact(510)}))
		w.mustRequest(campaign.Start{})
		time.Sleep(3 * time.Second)
		w.mustRequest(campaign.Pause{})
		time.Sleep(3 * time.Second)
		assert.Empty(w, w.changeContact(campaign.EditContact{Ordinal: 0, Contact: changedContact(0)}), "it waits for its retry")
		assert.Empty(w, w.changeContact(campaign.EditContact{Ordinal: 45, Contact: changedContact(45)}), "its body is at hand")
		assert.Empty(w, w.changeContact(campaign.EditContact{Ordinal: 46, Contact: changedContact(46)}))
		assert.Empty(w, w.changeContact(campaign.EditContact{Ordinal: 46, Contact: changedContact(4646)}), "twice")
		assert.Equal(w, domain.CodeInvalidState, w.changeContact(campaign.EditContact{Ordinal: 3, Contact: changedContact(3)}), "it is done")
		w.mustRequest(campaign.Resume{})
		time.Sleep(10 * time.Second)
		w.killProcess()
		w.startProcess()
		o := w.waitForStatus(5*time.Hour, domain.CampaignCompleted)
		assert.Equal(w, 520, o.Progress.Attempted)
		want := map[int]string{510: changedContact(510).Phone, 45: changedContact(45).Phone, 46: changedContact(4646).Phone}
		for i, phone := range want {
			assert.Equal(w, []int{0, 1}, []int{w.callCount(number(i)), w.callCount(phone)}, i)
		}
		assert.Equal(w, []int{1, 1}, []int{w.callCount(number(0)), w.callCount(changedContact(0).Phone)}, "the retry rings the new number")
		assert.Zero(w, w.callCount(changedContact(46).Phone))
		w.checkOneCallPerAttempt()
	})
}

// Store and process faults occur. A removed contact must not be called after the reply, and an edited contact must be called
// only at its new number.
func TestContactChangesSurviveFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		withCampaign(t, 80, func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 1200, MaxConcurrent: 40} }, func(w *fixture) {
			dice := rand.New(rand.NewPCG(seed, 1))
			w.callPlan = func(domain.Call) callPlan { return callPlan{verdict: done, duration: time.Second, reached: true} }
			w.store.latency = 3 * time.Millisecond
			w.store.injectFault = func(n int, _ commit.Change) commitFault {
				switch {
				case n%7 == 3:
					return commitConflict
				case n%11 == 5:
					return replyLost
				case n%13 == 6:
					return commitLost
				}
				return none
			}
			w.mustRequest(campaign.Start{})
			removed, changed := map[int]int{}, map[int]int{}
			for range 30 {
				time.Sleep(time.Duration(dice.IntN(150)) * time.Millisecond)
				i := dice.IntN(80)
				if dice.IntN(2) == 0 {
					if w.changeContact(campaign.RemoveContact{Ordinal: i}) == "" {
						removed[i] = w.callCount(number(i)) + w.callCount(changedContact(i).Phone)
					}
				} else if w.changeContact(campaign.EditContact{Ordinal: i, Contact: changedContact(i)}) == "" {
					changed[i] = w.callCount(number(i))
				}
			}
			w.waitForStatus(10*time.Minute, domain.CampaignCompleted)
			require.NotEmpty(w, removed)
			require.NotEmpty(w, changed)
			for i, n := range removed {
				assert.Equal(w, n, w.callCount(number(i))+w.callCount(changedContact(i).Phone), "contact %d was taken out", i)
			}
			for i, n := range changed {
				assert.Equal(w, n, w.callCount(number(i)), "contact %d was changed", i)
			}
			w.checkOneCallPerAttempt()
		})
	}
}
