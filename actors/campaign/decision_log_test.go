package campaign_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/domain"
)

// loggedDecisions returns all decisions in the stored log after it has checked the hash chain of the pages.
func (w *fixture) loggedDecisions() []domain.Decision {
	w.Helper()
	chain := domain.DecisionChain{}
	var all []domain.Decision
	for _, page := range w.store.decisionPages() {
		require.True(w, chain.VerifyPage(&page), chain.Reason)
		all = append(all, page.Decisions...)
	}
	p := w.store.progress()
	chain.VerifyEnd(p.DecisionPages, p.DecisionHead)
	require.Zero(w, chain.Broken, chain.Reason)
	return all
}

// closedTimes formats the entries of a decision that say for how long closed calling hours delayed the contact.
func closedTimes(d domain.Decision) (times []string) {
	for _, r := range d.Rules {
		if r.Rule == "calling_hours" && !r.Passed && r.First != nil {
			times = append(times, fmt.Sprintf("%d from %s to %s", r.Held, r.First.Format("2 15:04"), r.Last.Format("2 15:04")))
		}
	}
	return times
}

func TestDecisionLogCountsClosedTimes(t *testing.T) {
	t.Parallel()
	start := "1 from 1 00:00 to 1 01:00"
	for name, c := range map[string]struct {
		interval float64
		want     map[string][]string
	}{
		"a retry comes due at night": {2, map[string][]string{
			number(0): {start, "1 from 1 01:02 to 2 01:00"},
			number(1): {start},
			number(2): {"2 from 1 00:00 to 2 01:00"}, // its turn had not come
			number(3): {"3 from 1 00:00 to 3 01:00"},
		}},
		"a retry comes due by day": {0.01, map[string][]string{
			number(0): {start}, // no closure after its first attempt
			number(1): {"2 from 1 00:00 to 2 01:00"},
			number(2): {"2 from 1 00:00 to 2 01:00"},
			number(3): {"3 from 1 00:00 to 3 01:00"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withCampaign(t, 4, func(k *domain.Campaign) {
				k.Schedule.Timezone = "UTC"
				k.Compliance.CallingHours = domain.CallingHours{Start: "01:00", End: "01:02", Timezone: "UTC"}
				k.Pacing = domain.Pacing{CallsPerMinute: 1, MaxConcurrent: 1}
				k.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: c.interval, RetryOn: []string{"no_answer"}}
			}, func(w *fixture) {
				w.callPlan = func(k domain.Call) callPlan {
					if k.To == number(0) && k.Attempt == 1 {
						return callPlan{verdict: noAnswer, duration: time.Second, reached: true}
					}
					return callPlan{verdict: done, duration: time.Second, reached: true}
				}
				w.mustRequest(campaign.Start{})
				w.waitForStatus(5*24*time.Hour, domain.CampaignCompleted)
				got := map[string][]string{}
				for _, d := range w.loggedDecisions() {
					got[d.Phone] = append(got[d.Phone], closedTimes(d)...)
					for _, r := range d.Rules {
						if r.Rule == "destination" {
							assert.Equal(w, domain.Ruling{Rule: "destination", Passed: true, Country: "US"}, r)
						}
					}
				}
				assert.Equal(w, c.want, got)
			})
		})
	}
}

func TestDecisionLogHasRemovedAndRemainingContacts(t *testing.T) {
	t.Parallel()
	slow := func(c *domain.Campaign) { c.Pacing = domain.Pacing{CallsPerMinute: 1, MaxConcurrent: 1} }
	for name, c := range map[string]struct {
		change func(*domain.Campaign)
		end    func(w *fixture)
		want   domain.Decision
	}{
		"cancelled": {slow, func(w *fixture) { w.mustRequest(campaign.Cancel{}) }, domain.Decision{
			Verdict: "cancel", Contacts: 7, Rules: []domain.Ruling{{Rule: "cancelled"}},
		}},
		"expired": {func(c *domain.Campaign) {
			slow(c)
			end := time.Now().Add(90 * time.Second)
			c.Schedule.Timezone, c.Schedule.End = "UTC", &end
		}, func(w *fixture) { w.waitForStatus(time.Hour, domain.CampaignCompleted) }, domain.Decision{
			Verdict: "expire", Contacts: 7, Rules: []domain.Ruling{{Rule: "schedule", Zone: "UTC", Local: "Sat 00:01"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withCampaign(t, 10, c.change, func(w *fixture) {
				w.mustRequest(campaign.Start{})
				time.Sleep(65 * time.Second) // two contacts are called
				require.Empty(w, w.changeContact(campaign.RemoveContact{Ordinal: 6, Phone: number(6)}))
				c.end(w)
				all := w.loggedDecisions()
				require.Len(w, all, 4)
				out := all[2]
				out.At = time.Time{}
				assert.Equal(w, domain.Decision{Ordinal: 6, Phone: number(6), Verdict: "cancel", Rules: []domain.Ruling{{Rule: "removed"}}}, out)
				left := all[3]
				left.At = time.Time{}
				for i := range left.Rules {
					left.Rules[i].Last = nil
				}
				assert.Equal(w, c.want, left)
			})
		})
	}
}
