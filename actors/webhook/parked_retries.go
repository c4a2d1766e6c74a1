package webhook

import "time"

// parkRetries drops the retries that are due last, if more are in memory than allowed. The store has them, and they
// are read again when the first of them is due. A retry whose row is not committed yet stays. While a page is read
// none is dropped, because the page may show its earlier state.
func (e *endpoint) parkRetries() {
	if e.reader.loading || len(e.queue.retries) <= e.cfg.MaxRetries {
		return
	}
	for _, it := range e.queue.takeLast(len(e.queue.retries) - 3*e.cfg.MaxRetries/4) {
		if e.results.has(it.row.EventID) {
			e.queue.addRetry(it)
			continue
		}
		e.queue.park(it)
	}
}

// readParkedRetries reads the parked retries, once the first is due and no retry in memory is due before it. A
// reading from the start that is under way brings them as well.
func (e *endpoint) readParkedRetries(now time.Time) {
	parked := e.queue.parkedUntil
	if parked.IsZero() || parked.After(now) || e.reader.loading || e.reader.fromStart && !e.enoughQueued() {
		return
	}
	if due := e.queue.nextDue(); due.IsZero() || due.After(parked) {
		e.queue.parkedUntil, e.reader.stale = time.Time{}, true
	}
}

// enoughQueued says whether no more first attempts need be read.
func (e *endpoint) enoughQueued() bool { return e.queue.queued > e.cfg.Window/2 }
