package campaign

import "time"

// abandonedLimit is the longest that BYE or CANCEL may go unanswered (RFC 3261 §17.1.2.2, timer F).
const abandonedLimit = 32 * time.Second

// abandonedDialogs are calls of earlier processes that may still be live. They count for the campaign's concurrent
// calls until their end is reported or their limit passes.
type abandonedDialogs struct {
	until map[string]time.Time // limits by call ID
	due   time.Time            // no limit passes before
	ended map[string]bool      // calls reported as ended, possibly before they were added
}

func newAbandonedDialogs() abandonedDialogs {
	return abandonedDialogs{until: make(map[string]time.Time), ended: make(map[string]bool)}
}

// add counts a call as live until its limit, unless its end was reported before.
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

// expire removes the calls whose limit has passed. checked is the number of entries examined.
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

// isReached reports whether a time has passed. A zero time never passes.
func isReached(bound, now time.Time) bool { return !bound.IsZero() && !now.Before(bound) }
