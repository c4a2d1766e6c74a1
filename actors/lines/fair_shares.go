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
	count      int // permits it still waits for
	retries    int // of these, for due retries
	generation int
	granted    int  // of this generation
	credit     int  // of the smooth round-robin
	speed      int  // of its clock; 1: ours
	pace       pace // of a clock that is not ours
}

// waits says whether the sender takes part in a turn for due retries, or in
// one for first attempts.
func (s *sender) waits(retry bool) bool {
	if retry {
		return s.retries > 0
	}
	return s.count > s.retries
}

// row is whose turn it is. Due retries come before first attempts, but where
// both wait, every fourth turn is for a first attempt: a campaign with a
// hundred thousand retries does not stop the others.
type row struct {
	all     []*sender
	retries int // turns in a row that went to retries while first attempts waited
}

const mostRetries = 3

// next serves one: within its kind of turn the campaigns rotate by weight
// (each gains its weight, the richest is served and pays what all gained). nil
// where nobody waits.
func (r *row) next() *sender {
	due := slices.ContainsFunc(r.all, func(s *sender) bool { return s.waits(true) })
	first := slices.ContainsFunc(r.all, func(s *sender) bool { return s.waits(false) })
	retry := due && (!first || r.retries < mostRetries)
	switch {
	case retry && first:
		r.retries++
	default:
		r.retries = 0
	}
	var best *sender
	total := 0
	for _, s := range r.all {
		if !s.waits(retry) {
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
		best.count--
		best.granted++
		if retry {
			best.retries--
		}
	}
	return best
}

// pace spreads what a minute allows evenly over it: a place falls due after
// each interval, and what was left out is not made up for. grain is how much
// may leave at once, so that a wide pace needs no timer for each call.
type pace struct{ next time.Time }

const grain = 100 * time.Millisecond

// free is when the next place falls due.
func (p *pace) free() time.Time { return p.next.Add(-grain) }

// take spends a place.
func (p *pace) take(now time.Time, limit int) {
	if limit <= 0 {
		return
	}
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(minute / time.Duration(limit))
}

// back returns a place that was not used.
func (p *pace) back(limit int) {
	if limit > 0 {
		p.next = p.next.Add(-minute / time.Duration(limit))
	}
}

// widen lets a new limit hold at once: a place of the old one may be far off.
func (p *pace) widen(now time.Time, limit int) {
	if limit <= 0 {
		p.next = time.Time{}
		return
	}
	if soon := now.Add(minute / time.Duration(limit)); soon.Before(p.next) {
		p.next = soon
	}
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
