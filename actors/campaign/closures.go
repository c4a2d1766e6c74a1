package campaign

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// closuresMost bounds how many closed times are counted at once: those of some
// years of days.
const closuresMost = 2000

// closures are the times for which a zone was closed since the campaign began.
// The calendar tells them, whoever looked and whenever the process was there.
type closures struct {
	count       int
	first       time.Time // when it closed first
	from, until time.Time // the last of them
	open        time.Time // all until here are counted
	closes      time.Time // when it closes next; zero: not known
	never       bool      // it does not close any more
}

// look counts what was closed from the campaign's start up to now.
func (c *closures) look(w *calendar.Window, start, now time.Time) {
	if c.open.IsZero() {
		c.open = start
	}
	for range closuresMost {
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

// closedTo are the closed times through which somebody waited who is rung now:
// before a first attempt all since the campaign began, as one with their count;
// before a retry the last one, if it was due by then.
func (a *Campaign) closedTo(who *candidate, now time.Time) (domain.Ruling, bool) {
	start, z := a.campaign.StartedAt, who.zone
	if start == nil {
		return domain.Ruling{}, false
	}
	z.closed.look(&z.window, *start, now)
	c := &z.closed
	from, held := c.first, c.count
	if who.retry {
		if c.until.Before(who.since) {
			return domain.Ruling{}, false
		}
		from, held = c.from, min(1, c.count)
	}
	if held == 0 {
		return domain.Ruling{}, false
	}
	r := a.hoursOf(z, from, false)
	first, last := from.UTC(), c.until.UTC()
	r.Held, r.First, r.Last = held, &first, &last
	return r, true
}
