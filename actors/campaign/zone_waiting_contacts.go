package campaign

import (
	"time"

	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/dialer"
)

// closedLimit is the interval between searches for the next opening of a zone that does not open within a year. The search
// takes long.
const closedLimit = 24 * time.Hour

// zone holds the waiting contacts of one combination of time zones. All of them have the same calling hours.
type zone struct {
	key                 string
	closed              zoneClosures
	window              calendar.Window
	opens               time.Time // next opening; zero: never
	computeAt           time.Time // next computation of a zone that never opens
	waiting, dueRetries []int32   // ordinals of waiting contacts; retries come first
	seen                int       // contacts of the zone that were classified
	cohorts             dialer.RetryCohorts
}

// refresh computes the next opening of the zone's calling hours if the last computed one has passed.
func (z *zone) refresh(now time.Time) {
	if z.opens.After(now) || z.opens.IsZero() && now.Before(z.computeAt) {
		return
	}
	var ok bool
	if z.opens, ok = z.window.NextOpen(now); !ok {
		z.opens, z.computeAt = time.Time{}, now.Add(closedLimit)
	}
}

func (z *zone) isEmpty() bool { return len(z.waiting) == 0 && len(z.dueRetries) == 0 }

// hasOpened reports whether contacts wait in the zone and its calling hours have opened.
func (z *zone) hasOpened(now time.Time) bool {
	return !z.isEmpty() && !z.opens.IsZero() && !z.opens.After(now)
}

// add queues a contact until the calling hours of the zone open.
func (z *zone) add(ordinal int, retry bool) {
	q := &z.waiting
	if retry {
		q = &z.dueRetries
	}
	*q = append(*q, int32(ordinal)) //nolint:gosec // below a million
}
