package domain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
)

func TestFasterClockRunsADayInAMinute(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	c := domain.Clock{Since: since, Factor: 1440}
	assert.Equal(t, since.AddDate(0, 0, 1), c.CampaignTime(since.Add(time.Minute)))
	assert.Equal(t, since.Add(time.Minute), c.RealTime(since.AddDate(0, 0, 1)))
	assert.Equal(t, since.Add(-time.Minute), c.RealTime(since.AddDate(0, 0, -1)), "before it began to go faster")
	assert.Equal(t, since.Add(time.Hour), domain.Clock{}.CampaignTime(since.Add(time.Hour)), "ours")
	assert.True(t, c.RealTime(time.Time{}).IsZero())
}

func TestRealTimeIsFirstMomentOfCampaignTime(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		c := domain.Clock{Since: since, Factor: rapid.IntRange(1, domain.MaxTimeFactor).Draw(t, "factor")}
		at := since.Add(time.Duration(rapid.Int64Range(0, int64(60*24*time.Hour)).Draw(t, "at")))
		m := c.RealTime(at)
		if c.CampaignTime(m).Before(at) || m.After(since) && !c.CampaignTime(m.Add(-1)).Before(at) {
			t.Fatalf("%s is shown first at %s", at, m)
		}
	})
}

func TestOnlyTestEnvironmentHasFasterClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &domain.Campaign{Pacing: domain.Pacing{CallsPerMinute: 10}, Retry: domain.Retry{IntervalHours: 24}, Test: &domain.TestMode{TimeFactor: 48, Since: &now}}
	c.Environment = domain.Live
	assert.Equal(t, domain.Clock{}, c.Clock())
	c.Environment = domain.Test
	assert.Equal(t, 480, c.RealTimePacing().CallsPerMinute)
	assert.InDelta(t, 0.5, c.RealTimeRetry().IntervalHours, 1e-9)
	c.Test.Since = nil
	assert.Equal(t, 10, c.RealTimePacing().CallsPerMinute, "not before it left draft")
}
