package lines

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// sender is a campaign and what it waits for.
type sender struct {
	pid        *actor.PID
	weight     int
	retry      bool
	count      int // permits it still waits for
	generation int
	credit     int // of the smooth round-robin
}

// next is whose turn it is: due retries before the rest, and within each the
// campaigns by weight in smooth rotation (each gains its weight, the richest
// is served and pays what all gained). nil where nobody waits.
func next(all []*sender) *sender {
	retry := slices.ContainsFunc(all, func(s *sender) bool { return s.count > 0 && s.retry })
	var best *sender
	total := 0
	for _, s := range all {
		if s.count == 0 || s.retry != retry {
			continue
		}
		s.credit += s.weight
		total += s.weight
		if best == nil || s.credit > best.credit {
			best = s
		}
	}
	if best != nil {
		best.credit -= total
	}
	return best
}

// window remembers when calls began, oldest first, for as long as they count.
type window struct{ begun []time.Time }

func (w *window) start(opened []time.Time) {
	w.begun = slices.SortedFunc(slices.Values(opened), time.Time.Compare)
}

func (w *window) add(at time.Time) { w.begun = append(w.begun, at) }

// free is when one more may begin so that no window holds more than limit.
func (w *window) free(now time.Time, limit int) time.Time {
	old := 0
	for old < len(w.begun) && now.Sub(w.begun[old]) >= minute {
		old++
	}
	if old == len(w.begun) {
		w.begun = w.begun[:0]
	} else {
		w.begun = w.begun[old:]
	}
	if len(w.begun) < limit {
		return now
	}
	if limit <= 0 { // all of it is leased: a bind, a return or an expiry will tell
		return now.Add(lease)
	}
	return w.begun[len(w.begun)-limit].Add(minute)
}
