package dialer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
)

// newInput returns the input for a campaign of a hundred contacts with a pace of one call per second.
func newInput() dialer.EstimateInput {
	return dialer.EstimateInput{
		Status: domain.CampaignRunning, Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 100},
		Groups: []dialer.ContactGroup{{Size: 1}}, Pending: 100, AttemptDuration: 10 * time.Second,
	}
}

func estimateFor(t *testing.T, o dialer.EstimateInput) time.Duration {
	t.Helper()
	at := dialer.Estimate(o, epoch)
	require.NotNil(t, at)
	return at.Sub(epoch)
}

func TestEstimateExamples(t *testing.T) {
	t.Parallel()
	within := func(want, got time.Duration, why string) {
		t.Helper()
		assert.InDelta(t, want.Seconds(), got.Seconds(), 0.03*want.Seconds()+2, why)
	}
	within(110*time.Second, estimateFor(t, newInput()), "a hundred at one a second, and the last call")

	o := newInput()
	o.Pacing.MaxConcurrent = 2
	within(510*time.Second, estimateFor(t, o), "two lines, ten seconds each")

	o.Rate = 0.1
	within(1010*time.Second, estimateFor(t, o), "others have the lines: it gets on by one in ten seconds")

	o = newInput()
	o.Retry = domain.Retry{Enabled: true, MaxAttempts: 2, IntervalHours: 1}
	for range 400 {
		o.RetryRates.AddAttempt(1, true)
		o.RetryRates.AddAttempt(1, false)
	}
	within(time.Hour+120*time.Second, estimateFor(t, o), "half of them are tried again an hour later")

	o = newInput()
	o.Pending, o.Retries = 0, []dialer.RetryCohort{{At: epoch.Add(3 * time.Hour), Attempts: 1, Count: 1}}
	within(3*time.Hour+11*time.Second, estimateFor(t, o), "the last one waits for a retry")

	hours, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "09:00", End: "12:01", Timezone: "UTC"}, calendar.NewZones())
	require.NoError(t, err)
	o = newInput()
	o.Groups[0].Window = hours.GlobalWindow()
	within(21*time.Hour+50*time.Second, estimateFor(t, o), "a minute is left of today; the rest is for tomorrow at nine")

	o.ScheduleEnd = epoch.Add(time.Hour)
	assert.Equal(t, time.Hour, estimateFor(t, o), "the end of the schedule comes before")

	never, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "09:00", End: "10:00", Timezone: "local"}, calendar.NewZones())
	require.NoError(t, err)
	o = newInput()
	o.Groups[0].Window = never.WindowForZones(nil)
	assert.Nil(t, dialer.Estimate(o, epoch), "the estimate is unknown")

	for _, s := range []domain.CampaignStatus{domain.CampaignPaused, domain.CampaignDraft, domain.CampaignCompleted, domain.CampaignCancelled} {
		o = newInput()
		o.Status = s
		assert.Nil(t, dialer.Estimate(o, epoch), s)
	}
	o.Status, o.ScheduleStart = domain.CampaignScheduled, epoch.Add(time.Hour)
	within(time.Hour+110*time.Second, estimateFor(t, o), "it begins in an hour")
}

func TestEstimateIsNeverInThePast(t *testing.T) {
	t.Parallel()
	cache := calendar.NewZones()
	rapid.Check(t, func(t *rapid.T) {
		r, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "09:00", End: "20:00", Timezone: "local"}, cache)
		require.NoError(t, err)
		o := newInput()
		o.Pending = rapid.IntRange(0, 1_000_000).Draw(t, "pending")
		o.Pacing = domain.Pacing{CallsPerMinute: rapid.IntRange(0, 10_000).Draw(t, "pace"), MaxConcurrent: rapid.IntRange(0, 500).Draw(t, "lines")}
		o.Retry = domain.Retry{
			Enabled: rapid.Bool().Draw(t, "retries"), MaxAttempts: rapid.IntRange(1, 20).Draw(t, "attempts"),
			IntervalHours: rapid.Float64Range(0, 720).Draw(t, "interval"),
		}
		for range rapid.IntRange(0, 200).Draw(t, "ended") {
			o.RetryRates.AddAttempt(rapid.IntRange(1, 25).Draw(t, "number"), rapid.Bool().Draw(t, "again"))
		}
		var waits dialer.RetryCohorts
		for range rapid.IntRange(0, 100).Draw(t, "waits") {
			n := rapid.IntRange(0, 300).Draw(t, "spent")
			waits.Add(n, epoch.Add(time.Duration(rapid.IntRange(-600, 600).Draw(t, "due"))*time.Minute))
			if rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
				waits.Remove(n)
			}
		}
		o.Retries = waits.All()
		zones := []string{"UTC", "Asia/Tokyo", "America/New_York", "Pacific/Apia", "Europe/Berlin"}
		o.Groups = nil
		for range rapid.IntRange(1, 40).Draw(t, "crowds") {
			o.Groups = append(o.Groups, dialer.ContactGroup{
				Window:      r.WindowForZones([]*time.Location{cache.Load(rapid.SampledFrom(zones).Draw(t, "zone"))}),
				NeverCalled: rapid.IntRange(0, 1000).Draw(t, "waiting"), Size: rapid.IntRange(0, 2000).Draw(t, "weight"),
				OpenAttempts: []int{0, rapid.IntRange(0, 5).Draw(t, "live")},
			})
		}
		if at := dialer.Estimate(o, epoch); at == nil || at.Before(epoch) {
			t.Fatalf("%v", at)
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	cache := calendar.NewZones()
	r, err := calendar.New(domain.Schedule{}, domain.CallingHours{Start: "09:00", End: "20:00", Timezone: "local"}, cache)
	require.NoError(b, err)
	o := newInput()
	o.Pending, o.Groups = 1_000_000, nil
	o.Retry = domain.Retry{Enabled: true, MaxAttempts: 3, IntervalHours: 4}
	for _, z := range []string{"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"} {
		o.Groups = append(o.Groups, dialer.ContactGroup{Window: r.WindowForZones([]*time.Location{cache.Load(z)}), Size: 100})
	}
	for b.Loop() {
		dialer.Estimate(o, epoch)
	}
}
