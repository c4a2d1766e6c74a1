package domain

import "time"

// MaxTimeFactor is the maximum speed of the clock of a test campaign and of the retries of a test webhook, as a
// multiple of real time. With this factor a day takes one minute.
const MaxTimeFactor = 1440

// TestMode speeds up the clock of a campaign in the test environment: its schedule, calling hours, pacing and
// retries. The length of calls does not change.
type TestMode struct {
	TimeFactor int        `json:"time_factor"`     // 1 to MaxTimeFactor
	Since      *time.Time `json:"since,omitempty"` // start of the accelerated clock: when the campaign left draft
}

// Clock converts between real time and the time of a test campaign, which runs Factor times as fast from Since on.
// The zero Clock is real time.
type Clock struct {
	Since  time.Time
	Factor int
}

// maxClockAge limits the real time since Clock.Since in CampaignTime, so that the multiplication cannot overflow.
const maxClockAge = 60 * 24 * time.Hour

// CampaignTime returns the time of the campaign clock at a real time.
func (c Clock) CampaignTime(t time.Time) time.Time {
	if c.Factor <= 1 || t.IsZero() {
		return t
	}
	return c.Since.Add(min(t.Sub(c.Since), maxClockAge) * time.Duration(c.Factor))
}

// RealTime returns the earliest real time at which the campaign clock shows t.
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

// Clock returns the clock for the schedule, calling hours, pacing and retries of the campaign.
func (c *Campaign) Clock() Clock {
	if c.Test == nil || c.Test.Since == nil || c.Environment != Test {
		return Clock{}
	}
	return Clock{Since: *c.Test.Since, Factor: c.Test.TimeFactor}
}

// RealTimePacing returns the pacing in calls per minute of real time.
func (c *Campaign) RealTimePacing() Pacing {
	p := c.Pacing
	p.CallsPerMinute *= max(1, c.Clock().Factor)
	return p
}

// RealTimeRetry returns the retry rules with the retry interval in hours of real time.
func (c *Campaign) RealTimeRetry() Retry {
	r := c.Retry
	r.IntervalHours /= float64(max(1, c.Clock().Factor))
	return r
}
