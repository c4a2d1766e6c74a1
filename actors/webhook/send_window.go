package webhook

import "time"

// sendWindow bounds the requests to one endpoint that are under way at once. The bound of first attempts grows by one
// per success and is halved by a failure.
type sendWindow struct {
	slots   *sendSlots
	waiting [sendKinds]bool // for a slot
	firsts  int             // first attempts under way
	retries int             // retries under way
	limit   float64         // of first attempts
	probeAt time.Time       // while first attempts are held: when the next one is sent
}

// count is the number of requests under way.
func (w *sendWindow) count() int { return w.firsts + w.retries }

// end notes the end of a request.
func (w *sendWindow) end(first bool) {
	if first {
		w.firsts--
	} else {
		w.retries--
	}
}

func (w *sendWindow) grow(most int) { w.limit = min(w.limit+1, float64(most)) }

func (w *sendWindow) shrink() { w.limit = max(w.limit/2, 1) }

// setWaiting gives up the places in the pool's queues where nothing waits any more.
func (w *sendWindow) setWaiting(waits [sendKinds]bool) {
	for k, waited := range w.waiting {
		if waited && !waits[k] {
			w.slots.leave(sendKind(k))
		}
	}
	w.waiting = waits
}
