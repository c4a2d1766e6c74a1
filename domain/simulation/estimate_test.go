package simulation_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/simulation"
)

// friday is noon on a Friday.
var friday = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// newPlan returns the plan of a campaign with n contacts, which are distributed evenly over the time zones.
func newPlan(t testing.TB, n int, c domain.Campaign, zones ...string) simulation.Plan {
	t.Helper()
	cache := calendar.NewZones()
	rules, err := calendar.New(c.Schedule, c.Compliance.CallingHours, cache)
	require.NoError(t, err)
	p := simulation.Plan{Campaign: &c, Rules: rules, From: friday, Assumptions: simulation.DefaultAssumptions()}
	if len(zones) == 0 {
		zones = []string{"UTC"}
	}
	for _, z := range zones {
		p.Groups = append(p.Groups, simulation.ContactGroup{Window: rules.WindowForZones([]*time.Location{cache.Load(z)})})
	}
	for i := range n {
		p.Contacts = append(p.Contacts, simulation.Contact{Group: int32(i % len(zones))})
	}
	return p
}

var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday"}

// scenario is a simulated campaign whose time of completion the test estimates.
type scenario struct {
	name     string
	contacts int
	campaign domain.Campaign
	zones    []string
	pauses   []simulation.Pause
	change   func(*simulation.Assumptions)
}

func scenarios() []scenario {
	retry := func(n int, hours float64, on ...string) domain.Retry {
		return domain.Retry{Enabled: true, MaxAttempts: n, IntervalHours: hours, RetryOn: on}
	}
	office := domain.Compliance{CallingHours: domain.CallingHours{Start: "09:00", End: "17:30", Timezone: "UTC"}}
	local := domain.Compliance{CallingHours: domain.CallingHours{Start: "09:00", End: "20:00", Timezone: "local"}}
	after := func(d, long time.Duration) simulation.Pause {
		return simulation.Pause{From: friday.Add(d), To: friday.Add(d + long)}
	}
	return []scenario{
		{name: "the pace alone", contacts: 2000, campaign: domain.Campaign{Pacing: domain.Pacing{CallsPerMinute: 30, MaxConcurrent: 100}}},
		{name: "few lines", contacts: 2000, campaign: domain.Campaign{Pacing: domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 10}}},
		{
			name: "retries", contacts: 3000,
			campaign: domain.Campaign{Pacing: domain.Pacing{CallsPerMinute: 20, MaxConcurrent: 50}, Retry: retry(3, 1.5, "no_answer", "busy", "voicemail")},
		},
		{
			name: "retries longer than the list", contacts: 800,
			campaign: domain.Campaign{Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 50}, Retry: retry(4, 6, "no_answer", "busy")},
		},
		{
			name: "office hours over weekends", contacts: 12_000,
			campaign: domain.Campaign{
				Pacing: domain.Pacing{CallsPerMinute: 6, MaxConcurrent: 25}, Retry: retry(3, 4, "no_answer", "busy", "voicemail"),
				Schedule: domain.Schedule{Timezone: "UTC", Days: weekdays}, Compliance: office,
			},
		},
		{
			name: "office hours, a weekend and two pauses", contacts: 8000, pauses: []simulation.Pause{after(3*time.Hour, 2*time.Hour), after(77*time.Hour, 5*time.Hour)},
			campaign: domain.Campaign{
				Pacing: domain.Pacing{CallsPerMinute: 12, MaxConcurrent: 25}, Retry: retry(3, 4, "no_answer", "busy"),
				Schedule: domain.Schedule{Timezone: "UTC", Days: weekdays}, Compliance: office,
			},
		},
		{
			name: "a pause before a weekend", contacts: 8000, pauses: []simulation.Pause{after(2*time.Hour, 2*time.Hour)},
			campaign: domain.Campaign{
				Pacing: domain.Pacing{CallsPerMinute: 8, MaxConcurrent: 25}, Retry: retry(3, 4, "no_answer", "busy"),
				Schedule: domain.Schedule{Timezone: "UTC", Days: weekdays}, Compliance: office,
			},
		},
		{
			name: "four zones", contacts: 6000, zones: []string{"America/New_York", "America/Los_Angeles", "Europe/Berlin", "Asia/Tokyo"},
			campaign: domain.Campaign{
				Pacing: domain.Pacing{CallsPerMinute: 8, MaxConcurrent: 50}, Retry: retry(3, 2.5, "no_answer", "busy"), Compliance: local,
			},
		},
		{
			name: "few lines, hours and retries", contacts: 5000,
			campaign: domain.Campaign{
				Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 5}, Retry: retry(5, 0.25, "no_answer", "busy", "failed"),
				Schedule: domain.Schedule{Timezone: "UTC", Days: weekdays}, Compliance: office,
			},
		},
		{
			name: "hardly anybody answers", contacts: 3000, change: func(a *simulation.Assumptions) { a.Answer, a.Voicemail = 0.08, 0.1 },
			campaign: domain.Campaign{Pacing: domain.Pacing{CallsPerMinute: 20, MaxConcurrent: 50}, Retry: retry(5, 3, "no_answer", "busy")},
		},
	}
}

// estimateSample is an estimate that was made during a simulated campaign.
type estimateSample struct {
	at, estimate time.Time
	percent      float64
}

// collectEstimates simulates a scenario and returns the estimates that the campaign status would have shown. each is
// the number of percent between two estimates.
func collectEstimates(t *testing.T, w scenario, seed uint64, each int) (all []estimateSample, begins, ends time.Time) {
	t.Helper()
	p := newPlan(t, w.contacts, w.campaign, w.zones...)
	p.Seed, p.Pauses = seed, w.pauses
	if w.change != nil {
		w.change(&p.Assumptions)
	}
	p.OnPercent = func(now time.Time, o dialer.EstimateInput, percent float64) {
		if int(percent)%each != 0 {
			return
		}
		s := estimateSample{at: now, percent: percent}
		if e := dialer.Estimate(o, now); e != nil {
			s.estimate = *e
		}
		all = append(all, s)
	}
	r := simulation.Run(p)
	require.True(t, r.Finished, w.name)
	return all, r.Begins, r.Ends
}

// maxMisses is the message of the assertion that at most one in a thousand estimates is off by more than 10 %. An
// estimate cannot know whether the calling hours of a zone end before or after the last contacts. With four zones this
// moves the end by 5 of 29 hours. Few calls also give an inaccurate average length. With 100 seeds and an estimate for
// each percent, 5 of 85,418 estimates are off by more: 3 with four zones and 2 with few concurrent calls.
const maxMisses = "one in a thousand may be off by more"

// From 10 % of the progress on, the estimate is off by at most 10 % of the total time. Estimates before the end of a
// pause are not checked, because an estimate cannot know future pauses.
func TestEstimateIsWithinTenPercentAfterTenPercent(t *testing.T) {
	t.Parallel()
	seeds, each := uint64(2), 4
	if os.Getenv("NIGHTLY") != "" {
		seeds, each = 100, 1
	}
	for _, w := range scenarios() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			worst, count, sum, wrong := 0.0, 0, 0.0, 0
			for seed := range seeds {
				all, begins, ends := collectEstimates(t, w, seed, each)
				whole := ends.Sub(begins)
				checked := 0
				for _, s := range all {
					if s.percent < 10 || len(w.pauses) > 0 && s.at.Before(w.pauses[len(w.pauses)-1].To) {
						continue
					}
					require.False(t, s.estimate.IsZero(), "%s: no estimate at %.0f %%", w.name, s.percent)
					checked++
					off := s.estimate.Sub(ends).Seconds() / whole.Seconds()
					count, sum, worst = count+1, sum+abs(off), max(worst, abs(off))
					if abs(off) <= 0.1 {
						continue
					}
					if wrong++; wrong < 10 {
						t.Logf("seed %d: at %.0f %% (%s) it says %s; it ends at %s, %.1f %% off of %s", seed, s.percent,
							s.at.Format(time.DateTime), s.estimate.Format(time.DateTime), ends.Format(time.DateTime), 100*off, whole)
					}
				}
				require.Greater(t, checked, 5)
			}
			t.Logf("%d estimates, off by %.2f %% on average, %.2f %% at worst, %d by more than 10 %%", count, 100*sum/float64(count), 100*worst, wrong)
			assert.LessOrEqual(t, float64(wrong), 0.001*float64(count), maxMisses)
		})
	}
}

func abs(x float64) float64 { return max(x, -x) }
