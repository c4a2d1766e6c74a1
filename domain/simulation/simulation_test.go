package simulation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/simulation"
)

func TestSimulationOfHundredThousandContacts(t *testing.T) {
	t.Parallel()
	p := newPlan(t, 100_000, domain.Campaign{
		Pacing:     domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 300},
		Retry:      domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 4, RetryOn: []string{"no_answer", "busy"}},
		Schedule:   domain.Schedule{Timezone: "UTC", Days: weekdays},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "09:00", End: "20:00", Timezone: "local"}},
	}, "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "Europe/London")
	began := time.Now()
	r := simulation.Run(p)
	require.True(t, r.Finished)
	t.Logf("%d attempts played in %s", r.Attempts, time.Since(began))
	sum := 0
	for _, n := range r.Outcomes {
		sum += n
	}
	assert.Equal(t, 100_000, sum)
	calls := 0
	for _, h := range r.Hours {
		calls += h.Calls
		assert.LessOrEqual(t, h.Calls, 600*60)
	}
	assert.Equal(t, r.Attempts, calls)
	assert.LessOrEqual(t, r.Peak, 300)
	assert.Equal(t, r.Attempts, r.Months["2026-03"])
	assert.InDelta(t, 0.35, float64(r.Outcomes[domain.OutcomeCompleted])/float64(r.Attempts), 0.01)
}

func TestSimulationReportsSkippedAndExpiredContacts(t *testing.T) {
	t.Parallel()
	ends := friday.Add(2 * time.Hour)
	c := domain.Campaign{
		Pacing:     domain.Pacing{CallsPerMinute: 10, MaxConcurrent: 50},
		Schedule:   domain.Schedule{Timezone: "UTC", End: &ends},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "09:00", End: "17:00", Timezone: "local"}},
	}
	p := newPlan(t, 3000, c, "UTC", "Asia/Tokyo")
	p.Groups = append(p.Groups, simulation.ContactGroup{Window: p.Rules.WindowForZones(nil), Unknown: true})
	for range 7 {
		p.Contacts = append(p.Contacts, simulation.Contact{Group: 2})
	}
	r := simulation.Run(p)
	assert.True(t, r.Finished)
	assert.Equal(t, "window_ended", r.Reason)
	assert.Equal(t, ends, r.Ends)
	assert.Equal(t, 7, r.SkippedHours, "unknown zone")
	assert.InDelta(t, 1195, r.Attempts, 6, "two hours at ten a minute")
	assert.Equal(t, 3000-r.Attempts, r.Expired, "Tokyo sleeps")

	c.Schedule.End = nil
	p = newPlan(t, 10, c)
	p.Groups[0] = simulation.ContactGroup{Window: p.Rules.WindowForZones([]*time.Location{time.FixedZone("", 0), time.FixedZone("", 12*3600)})}
	r = simulation.Run(p)
	assert.Equal(t, 10, r.SkippedHours, "never are both open")
	assert.Zero(t, r.Attempts)
	assert.Equal(t, "exhausted", r.Reason)
}

func TestRetryOutsideWindowMovesToNextOpening(t *testing.T) {
	t.Parallel()
	p := newPlan(t, 60, domain.Campaign{
		Pacing:     domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 100},
		Retry:      domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 8, RetryOn: []string{"no_answer"}},
		Schedule:   domain.Schedule{Timezone: "UTC", Days: weekdays},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "09:00", End: "17:00", Timezone: "UTC"}},
	})
	p.Assumptions = simulation.Assumptions{Unheard: 30 * time.Second}
	r := simulation.Run(p)
	monday := time.Date(2026, 3, 9, 9, 0, 0, 0, time.UTC)
	assert.Equal(t, []simulation.Hour{{Hour: friday, Calls: 60}, {Hour: monday, Calls: 60}}, r.Hours)
	assert.Equal(t, 120, r.Attempts)
	assert.Equal(t, 60, r.Outcomes[domain.OutcomeNoAnswer])
}

func TestSimulationContinuesFromCampaignStateAndCanBeStopped(t *testing.T) {
	t.Parallel()
	c := domain.Campaign{
		Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 100},
		Retry:  domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 1, RetryOn: []string{"no_answer"}},
	}
	p := newPlan(t, 0, c)
	p.Assumptions = simulation.Assumptions{}
	p.Contacts = []simulation.Contact{{Spent: 2, Due: friday.Add(time.Hour)}, {Spent: 1, Due: friday.Add(-time.Hour)}}
	r := simulation.Run(p)
	assert.Equal(t, 3, r.Attempts, "one is left to the first, two to the other")
	assert.Equal(t, 2, r.Outcomes[domain.OutcomeNoAnswer])

	p = newPlan(t, 50_000, c)
	asked := 0
	p.ShouldStop = func() bool { asked++; return asked > 3 }
	r = simulation.Run(p)
	assert.False(t, r.Finished)
	assert.Less(t, r.Attempts, 50_000)
}

func TestSimulationRespectsDailyLimitOfNumber(t *testing.T) {
	t.Parallel()
	p := newPlan(t, 4, domain.Campaign{
		Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 100},
		Retry:  domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 1, RetryOn: []string{"no_answer"}},
	})
	p.Assumptions = simulation.Assumptions{Unheard: 30 * time.Second}
	p.DailyCap, p.Days = 2, [][]*time.Location{{time.UTC}, {time.FixedZone("", -9*3600)}}
	p.Contacts[0].DialedAt = []time.Time{friday.Add(-time.Hour), friday.Add(-time.Minute)}
	p.Contacts[1].DialedAt = []time.Time{friday.Add(-24 * time.Hour), friday.Add(-13 * time.Hour), friday.Add(-time.Hour)} // the first two were on the previous day
	p.Contacts[3].Days = 1                                                                                                 // its day starts now
	r := simulation.Run(p)
	assert.True(t, r.Finished)
	midnight := friday.Truncate(24 * time.Hour).Add(24 * time.Hour)
	assert.Equal(t, []simulation.Hour{
		{Hour: friday, Calls: 3},
		{Hour: friday.Add(time.Hour), Calls: 2}, // not the contact with one earlier call
		{Hour: midnight, Calls: 3},              // second and third attempts, and the first attempt of the contact with two earlier calls
		{Hour: midnight.Add(time.Hour), Calls: 2},
		{Hour: midnight.Add(9 * time.Hour), Calls: 1}, // the contact whose day ends then
		{Hour: midnight.Add(24 * time.Hour), Calls: 1},
	}, r.Hours)
	assert.Equal(t, 12, r.Attempts)
	assert.Equal(t, 4, r.Outcomes[domain.OutcomeNoAnswer])
}

func TestSameSeedGivesSameSimulation(t *testing.T) {
	t.Parallel()
	c := domain.Campaign{Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 20}}
	one, two := simulation.Run(newPlan(t, 500, c)), simulation.Run(newPlan(t, 500, c))
	assert.Equal(t, one, two)
	p := newPlan(t, 500, c)
	p.Seed = 1
	assert.NotEqual(t, one, simulation.Run(p))
}

// BenchmarkPlay simulates a campaign of 100,000 contacts with retries over several days.
func BenchmarkPlay(b *testing.B) {
	p := newPlan(b, 100_000, domain.Campaign{
		Pacing:     domain.Pacing{CallsPerMinute: 600, MaxConcurrent: 300},
		Retry:      domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 4, RetryOn: []string{"no_answer", "busy"}},
		Schedule:   domain.Schedule{Timezone: "UTC", Days: weekdays},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "09:00", End: "20:00", Timezone: "local"}},
	}, "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "Europe/London")
	for b.Loop() {
		simulation.Run(p)
	}
}
