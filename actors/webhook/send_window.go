package webhook

import "time"

// requestLimiter counts the running requests to one endpoint and limits them. Each success increases the limit of first
// attempts by one, and each failure halves it.
type requestLimiter struct {
	slots   *sendSlots
	waiting [sendKinds]bool // kinds that wait for a slot of the pool
	firsts  int             // number of running first attempts
	retries int             // number of running retries
	limit   float64         // limit of concurrent first attempts
	probeAt time.Time       // when the next first attempt is sent while first attempts are held
}

// count returns the number of running requests.
func (w *requestLimiter) count() int { return w.firsts + w.retries }

// requestEnded counts one running request less. first says whether it was a first attempt.
func (w *requestLimiter) requestEnded(first bool) {
	if first {
		w.firsts--
	} else {
		w.retries--
	}
}

func (w *requestLimiter) increaseLimit(most int) { w.limit = min(w.limit+1, float64(most)) }

func (w *requestLimiter) halveLimit() { w.limit = max(w.limit/2, 1) }

// setWaiting records for which kinds of requests a delivery waits for a slot. For the other kinds it leaves the waiting
// queues of the pool.
func (w *requestLimiter) setWaiting(waits [sendKinds]bool) {
	for k, waited := range w.waiting {
		if waited && !waits[k] {
			w.slots.cancelWait(sendKind(k))
		}
	}
	w.waiting = waits
}
