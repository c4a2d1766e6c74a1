package campaign

import (
	"time"

	"github.com/callboard/callboard/domain/calendar"
)

// maxClosures limits the closures that one update counts. It covers a few years of daily closures.
const maxClosures = 2000

// zoneClosures counts how often the calling hours of a zone have closed since the campaign started. The count is computed
// from the calendar, so a restart does not change it.
type zoneClosures struct {
	count       int
	first       time.Time // begin of the first closure
	from, until time.Time // begin and end of the last closure
	open        time.Time // all closures before this time are counted
	closes      time.Time // begin of the next closure; zero: unknown
	never       bool      // the zone does not close again
}

// update counts the closures of the calling hours w between start, the start of the campaign, and now.
func (c *zoneClosures) update(w *calendar.Window, start, now time.Time) {
	if c.open.IsZero() {
		c.open = start
	}
	for range maxClosures {
		if c.closes.IsZero() && !c.never {
			var ok bool
			c.closes, ok = w.NextClose(c.open)
			c.never = !ok
		}
		if c.never || c.closes.After(now) {
			return
		}
		opens, ok := w.NextOpen(c.closes)
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
