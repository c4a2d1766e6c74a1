package campaign

import (
	"time"

	"github.com/callboard/callboard/domain/calendar"
)

// maxClosures is the number of closed times that are counted at once: a few years of daily hours.
const maxClosures = 2000

// zoneClosures counts the times for which a zone was closed since the campaign began. They follow from the calendar
// alone: a restart does not change them.
type zoneClosures struct {
	count       int
	first       time.Time // begin of the first
	from, until time.Time // begin and end of the last
	open        time.Time // all closures until here are counted
	closes      time.Time // next begin; zero: not known
	never       bool      // the zone does not close any more
}

// update counts the closed times from the campaign's start up to now.
func (c *zoneClosures) update(w *calendar.Window, start, now time.Time) {
	if c.open.IsZero() {
		c.open = start
	}
	for range maxClosures {
		if c.closes.IsZero() && !c.never {
			var ok bool
			c.closes, ok = w.Closes(c.open)
			c.never = !ok
		}
		if c.never || c.closes.After(now) {
			return
		}
		opens, ok := w.Next(c.closes)
		if !ok || opens.After(now) {
			return
		}
		if c.count == 0 {
			c.first = c.closes
		}
		c.count++
		c.from, c.until = c.closes, opens
		c.open, c.closes = opens, time.Time{}
	}
}
