package campaign

import "time"

// abandonedLimit is the longest time for which a BYE or CANCEL may stay unanswered (RFC 3261 §17.1.2.2, timer F).
const abandonedLimit = 32 * time.Second

// abandonedDialogs are calls of earlier processes that may still be live. Each one counts as a concurrent call of the
// campaign until its end is reported or its time limit passes.
type abandonedDialogs struct {
	until map[string]time.Time // time limits by call ID
	due   time.Time            // earliest time limit; zero: none
	ended map[string]bool      // calls reported as ended, possibly before they were added
}

func newAbandonedDialogs() abandonedDialogs {
	return abandonedDialogs{until: make(map[string]time.Time), ended: make(map[string]bool)}
}

// add counts a call as live until the time limit, unless the end of the call was reported earlier.
func (d *abandonedDialogs) add(callID string, until time.Time) {
	if !d.ended[callID] {
		d.until[callID] = until
		d.due = earlier(d.due, until)
	}
}

// end records that the dialog of a call has ended.
func (d *abandonedDialogs) end(callID string) {
	d.ended[callID] = true
	delete(d.until, callID)
}

// expire removes the calls whose time limit has passed. checked is the number of calls that it examined.
func (d *abandonedDialogs) expire(now time.Time) (checked int) {
	if !isReached(d.due, now) {
		return 0
	}
	d.due = time.Time{}
	for id, until := range d.until {
		checked++
		if now.Before(until) {
			d.due = earlier(d.due, until)
			continue
		}
		delete(d.until, id)
	}
	return checked
}

// isReached reports whether the time bound has come. A zero bound never comes.
func isReached(bound, now time.Time) bool { return !bound.IsZero() && !now.Before(bound) }
