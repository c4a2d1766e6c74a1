package domain

import "time"

// MaxTimeFactor is how much faster than ours the clock of a test campaign, or of
// the retries of a test webhook, may go: a day of it then takes a minute.
const MaxTimeFactor = 1440

// TestMode makes the clock of a campaign of the test environment go faster: its
// schedule, calling hours, pace and retries. The calls themselves take their
// time.
type TestMode struct {
	TimeFactor int        `json:"time_factor"`     // 1 to MaxTimeFactor
	Since      *time.Time `json:"since,omitempty"` // both clocks showed the same: when it left draft
}

// Clock is the clock of a campaign, told by ours. The zero Clock is ours.
type Clock struct {
	Since  time.Time
	Factor int
}

// mostAhead bounds how long ago Since may be: what lies further back counts as
// that.
const maxClockAge = 60 * 24 * time.Hour

// CampaignTime is what the clock shows at a moment of ours.
func (c Clock) CampaignTime(t time.Time) time.Time {
	if c.Factor <= 1 || t.IsZero() {
		return t
	}
	return c.Since.Add(min(t.Sub(c.Since), maxClockAge) * time.Duration(c.Factor))
}

// RealTime is the first moment of ours at which the clock shows t.
func (c Clock) RealTime(t time.Time) time.Time {
	if c.Factor <= 1 || t.IsZero() {
		return t
	}
	d, f := t.Sub(c.Since), time.Duration(c.Factor)
	if d > 0 {
		d += f - 1
	}
	return c.Since.Add(d / f)
}

// Clock is the clock by which the campaign's rules are.
func (c *Campaign) Clock() Clock {
	if c.Test == nil || c.Test.Since == nil || c.Environment != Test {
		return Clock{}
	}
	return Clock{Since: *c.Test.Since, Factor: c.Test.TimeFactor}
}

// RealTimePacing is the pace by our clock.
func (c *Campaign) RealTimePacing() Pacing {
	p := c.Pacing
	p.CallsPerMinute *= max(1, c.Clock().Factor)
	return p
}

// RealTimeRetry is the retrying by our clock.
func (c *Campaign) RealTimeRetry() Retry {
	r := c.Retry
	r.IntervalHours /= float64(max(1, c.Clock().Factor))
	return r
}
