package bulk

import (
	"slices"
	"sync"
	"time"
)

// What a bulk job waits for (Bulk.Waiting).
const (
	forPermit = "line"
	forTrunk  = "trunk"
	forHours  = "calling_hours"
)

// maxSleep bounds how long a job sleeps until calling hours open: the clock may be set
// meanwhile.
const maxSleep = 30 * time.Second

// waitState is what a running job waits for. It is not stored: the next run finds the
// same closed hours.
type waitState struct {
	mu     sync.Mutex
	reason string            // of the item that is being done; "": it does not wait
	held   map[int]time.Time // items outside their calling hours, until then
}

// setReason sets what the item being processed waits for; "": nothing.
func (w *waitState) setReason(reason string) {
	w.mu.Lock()
	w.reason = reason
	w.mu.Unlock()
}

// hold keeps an item until its calling hours open.
func (w *waitState) hold(index int, until time.Time) {
	w.mu.Lock()
	if w.held == nil {
		w.held = make(map[int]time.Time)
	}
	w.held[index] = until
	w.mu.Unlock()
}

// release ends the hold of an item.
func (w *waitState) release(index int) {
	w.mu.Lock()
	delete(w.held, index)
	w.mu.Unlock()
}

// clear removes what an earlier run waited for.
func (w *waitState) clear() {
	w.mu.Lock()
	w.reason, w.held = "", nil
	w.mu.Unlock()
}

// until returns when an item may be processed; false: it does not wait for its hours.
func (w *waitState) until(index int) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.held[index]
	return t, ok
}

// due returns the items whose calling hours are open at a time, in their order, and the
// next opening of the others; zero: no other waits.
func (w *waitState) due(now time.Time) (open []int, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for index, until := range w.held {
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

// now returns what the job waits for, and until when where that is known.
func (w *waitState) now() (reason string, until *time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason != forHours {
		return w.reason, nil
	}
	for _, t := range w.held {
		if until == nil || t.Before(*until) {
			until = &t
		}
	}
	return w.reason, until
}

// waitStateOf returns what a job waits for; nil if it does not run here.
func (s *Service) waitStateOf(id string) *waitState {
	v, _ := s.running.Load(id)
	w, _ := v.(*waitState)
	return w
}
