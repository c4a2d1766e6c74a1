package webhook

import "time"

// parkRetries removes the latest retries from memory if there are more than MaxRetries. The endpoint reads them from the
// store again when they are due. A retry whose row is not committed stays in memory. No retry is removed while a page
// of deliveries is being read, because the page may show an older state.
func (e *endpoint) parkRetries() {
	if e.reader.loading || len(e.queue.retries) <= e.cfg.MaxRetries {
		return
	}
	for _, it := range e.queue.takeLast(len(e.queue.retries) - 3*e.cfg.MaxRetries/4) {
		if e.results.contains(it.row.EventID) {
			e.queue.addRetry(it)
			continue
		}
		e.queue.forgetRetry(it)
	}
}

// readParkedRetries makes the endpoint read the parked retries from the store, once the first of them is due and no
// earlier retry is in memory. If all deliveries are being read anyway, it does nothing.
func (e *endpoint) readParkedRetries(now time.Time) {
	parked := e.queue.parkedUntil
	if parked.IsZero() || parked.After(now) || e.reader.loading || e.reader.fromStart && !e.enoughQueued() {
		return
	}
	if due := e.queue.nextDue(); due.IsZero() || due.After(parked) {
		e.queue.parkedUntil, e.reader.stale = time.Time{}, true
	}
}

// enoughQueued reports whether enough deliveries without an attempt are in memory, so that no page must be read.
func (e *endpoint) enoughQueued() bool { return e.queue.queued > e.cfg.Window/2 }
