package bulk

import (
	"slices"
	"sync"
	"time"
)

// Values of the API field waiting, which tells why a bulk job does not continue now.
const (
	waitPermit       = "line"
	waitTrunk        = "trunk"
	waitCallingHours = "calling_hours"
)

// maxSleep is the longest single sleep while a job waits for calling hours. The system clock may be changed during a
// sleep, so the job checks the time again after it.
const maxSleep = 30 * time.Second

// waitState describes why a running job waits now. It is not stored, because the next run computes it again.
type waitState struct {
	mu        sync.Mutex
	reason    string            // reason of the current item; "": not waiting
	heldItems map[int]time.Time // start of the calling hours, by index of the held item
}

// setReason sets the reason for which the current item waits. The reason "" means that the item does not wait.
func (w *waitState) setReason(reason string) {
	w.mu.Lock()
	w.reason = reason
	w.mu.Unlock()
}

// hold records that an item waits until its calling hours begin at the time until.
func (w *waitState) hold(index int, until time.Time) {
	w.mu.Lock()
	if w.heldItems == nil {
		w.heldItems = make(map[int]time.Time)
	}
	w.heldItems[index] = until
	w.mu.Unlock()
}

// release removes an item from the held items.
func (w *waitState) release(index int) {
	w.mu.Lock()
	delete(w.heldItems, index)
	w.mu.Unlock()
}

// clear removes the state of an earlier run.
func (w *waitState) clear() {
	w.mu.Lock()
	w.reason, w.heldItems = "", nil
	w.mu.Unlock()
}

// until returns the time at which the calling hours of a held item begin. It returns false if the item is not held.
func (w *waitState) until(index int) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.heldItems[index]
	return t, ok
}

// due returns the indexes of the held items whose calling hours have begun at time now, in ascending order. next is the
// earliest time at which the calling hours of another held item begin, or zero if there is none.
func (w *waitState) due(now time.Time) (open []int, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for index, until := range w.heldItems {
		switch {
		case !until.After(now):
			open = append(open, index)
		case next.IsZero() || until.Before(next):
			next = until
		}
	}
	slices.Sort(open)
	return open, next
}

// current returns the reason for which the job waits and, if it is known, the time at which the wait ends.
func (w *waitState) current() (reason string, until *time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason != waitCallingHours {
		return w.reason, nil
	}
	for _, t := range w.heldItems {
		if until == nil || t.Before(*until) {
			until = &t
		}
	}
	return w.reason, until
}

// waitStateOf returns the wait state of a job, or nil if the job is not running in this process.
func (s *Service) waitStateOf(id string) *waitState {
	v, _ := s.running.Load(id)
	w, _ := v.(*waitState)
	return w
}
