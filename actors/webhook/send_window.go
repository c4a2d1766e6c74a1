package webhook

import "time"

// sendWindow limits the concurrent requests to one endpoint. The limit of first attempts grows by one after each
// success and is halved by a failure.
type sendWindow struct {
	slots   *sendSlots
	waiting [sendKinds]bool // kinds that wait for a slot of the pool
	firsts  int             // number of running first attempts
	retries int             // number of running retries
	limit   float64         // limit of concurrent first attempts
	probeAt time.Time       // when the next first attempt is sent while first attempts are held
}

// count returns the number of running requests.
func (w *sendWindow) count() int { return w.firsts + w.retries }

// requestEnded records the end of a request.
func (w *sendWindow) requestEnded(first bool) {
	if first {
		w.firsts--
	} else {
		w.retries--
	}
}

func (w *sendWindow) increaseLimit(most int) { w.limit = min(w.limit+1, float64(most)) }

func (w *sendWindow) halveLimit() { w.limit = max(w.limit/2, 1) }

// setWaiting leaves the pool's queues for which nothing waits any more.
func (w *sendWindow) setWaiting(waits [sendKinds]bool) {
	for k, waited := range w.waiting {
		if waited && !waits[k] {
			w.slots.cancelWait(sendKind(k))
		}
	}
	w.waiting = waits
}
