package webhook

import (
	"slices"
	"time"
)

// park lets go of the retries that are due last, where more are held than may
// be. They stand in the store, and are read again when the first of them is
// due. What is not yet committed stays; while a page is read nothing is let go,
// because that page may show it as it was before.
func (e *endpoint) park() {
	if e.loading || len(e.q.retries) <= e.cfg.MaxRetries {
		return
	}
	for _, it := range e.q.last(len(e.q.retries) - 3*e.cfg.MaxRetries/4) {
		id := it.row.EventID
		_, result := e.results[id]
		if _, writing := e.writing[id]; result || writing {
			e.q.later(it)
			continue
		}
		e.q.forget(id)
		if due := it.dueAt(); e.parked.IsZero() || due.Before(e.parked) {
			e.parked = due
		}
	}
}

// fetchParked reads what was let go, once it is due and nothing held is due
// before it. A reading from the start that goes on already brings it too.
func (e *endpoint) fetchParked(now time.Time) {
	if e.parked.IsZero() || e.parked.After(now) || e.loading || e.fromStart && !e.full() {
		return
	}
	if due := e.q.nextDue(); due.IsZero() || due.After(e.parked) {
		e.parked, e.stale = time.Time{}, true
	}
}

// full: there are first attempts enough in memory.
func (e *endpoint) full() bool { return e.q.queued > e.cfg.Window/2 }

// last takes out the n retries that are due last.
func (q *queue) last(n int) []*item {
	slices.SortFunc(q.retries, func(a, b *item) int { return a.dueAt().Compare(b.dueAt()) }) // sorted, it is a heap still
	from := len(q.retries) - n
	out := slices.Clone(q.retries[from:])
	clear(q.retries[from:])
	q.retries = q.retries[:from]
	for i, it := range q.retries {
		it.place = i
	}
	for _, it := range out {
		it.place = -1
	}
	return out
}
