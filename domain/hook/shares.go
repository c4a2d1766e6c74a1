package hook

import "container/heap"

// Lane is a kind of sending. Each has slots of its own, so that none waits
// behind another.
type Lane int

// The lanes.
const (
	LaneFirst    Lane = iota // first attempts to endpoints that answer
	LaneDoubtful             // first attempts to endpoints whose last attempt failed
	LaneRetry                // what failed before
	Lanes        int  = iota
)

// MinSlots is the least number of slots that can be divided among the lanes.
const MinSlots = 8

// Slots is the part of all slots, MinSlots at least, that a lane has: half of
// them are for first attempts to endpoints that answer.
func (l Lane) Slots(all int) int {
	quarter := max(all, MinSlots) / 4
	if l == LaneFirst {
		return max(all, MinSlots) - 2*quarter
	}
	return quarter
}

// part is how much of what is left to its workspace an endpoint may have in
// use before it gets another slot: an eighth.
const part = 8

// Shares divides the slots of a lane among workspaces and their endpoints.
// Whoever has none gets one while there is any. Beyond that a workspace has no
// more than is left to all others, and an endpoint no more than an eighth of
// what is left to its workspace. So the more are busy the less each may have,
// some is left for whoever comes next, and nobody can take all: a workspace
// that is alone comes to half of the slots, an endpoint that is alone to a tenth.
//
// What comes free goes to the waiting workspace that has the fewest in use, and
// there to the endpoint that has; among equals to the one that has waited
// longest. It is told who takes and who gives back, knows no clock, and is not
// safe for concurrent use.
type Shares struct {
	slots   int
	free    int
	turn    uint64
	spaces  map[string]*tenant
	waiting ranked[*tenant]
}

// rank is what the waiting are ordered by.
type rank struct {
	used  int
	turn  uint64 // of the wait
	place int    // in the heap; -1: not waiting
}

func (r *rank) ranked() *rank { return r }

type tenant struct {
	rank
	id      string
	ends    map[string]*taker
	waiting ranked[*taker]
}

type taker struct {
	rank
	id string
}

// NewShares divides a number of slots.
func NewShares(slots int) *Shares {
	return &Shares{slots: slots, free: slots, spaces: make(map[string]*tenant)}
}

// Used is how many slots are taken.
func (s *Shares) Used() int { return s.slots - s.free }

// Try takes a slot for an endpoint, unless that is more than its share.
func (s *Shares) Try(workspace, endpoint string) bool {
	t, e := s.find(workspace, endpoint)
	if s.may(t, e) {
		s.take(t, e)
		return true
	}
	s.forget(t, e)
	return false
}

// Take is Try; where it gets none the endpoint waits for one, once.
func (s *Shares) Take(workspace, endpoint string) bool {
	if s.Try(workspace, endpoint) {
		return true
	}
	t, e := s.find(workspace, endpoint)
	if e.place < 0 {
		s.turn++
		e.turn = s.turn
		heap.Push(&t.waiting, e)
	}
	if t.place < 0 {
		t.turn = e.turn
		heap.Push(&s.waiting, t)
	}
	return false
}

// Drop ends an endpoint's wait.
func (s *Shares) Drop(workspace, endpoint string) {
	t, e := s.find(workspace, endpoint)
	s.unwait(t, e)
	s.forget(t, e)
}

// Give takes a slot back. Next says who gets it.
func (s *Shares) Give(workspace, endpoint string) {
	t, e := s.find(workspace, endpoint)
	s.use(t, e, -1)
	s.forget(t, e)
}

// Next takes a slot for whoever waits and is to have one, and ends that wait.
func (s *Shares) Next() (workspace, endpoint string, ok bool) {
	var passed []*tenant
	for s.free > 0 && len(s.waiting) > 0 && !ok {
		t := s.waiting[0]
		if e := t.waiting[0]; s.may(t, e) {
			s.unwait(t, e)
			s.take(t, e)
			if t.place >= 0 { // its next endpoint waits behind the other workspaces
				s.turn++
				t.turn = s.turn
				heap.Fix(&s.waiting, t.place)
			}
			workspace, endpoint, ok = t.id, e.id, true
			continue
		}
		if t.used > 0 && t.used >= s.free {
			break // nor may those behind it, who have as many or more
		}
		heap.Pop(&s.waiting)
		passed = append(passed, t)
	}
	for _, t := range passed {
		heap.Push(&s.waiting, t)
	}
	return workspace, endpoint, ok
}

func (s *Shares) may(t *tenant, e *taker) bool {
	if s.free == 0 || t.used > 0 && t.used >= s.free {
		return false
	}
	return e.used == 0 || e.used*part < s.free-t.used
}

func (s *Shares) take(t *tenant, e *taker) { s.use(t, e, 1) }

func (s *Shares) use(t *tenant, e *taker, n int) {
	s.free -= n
	t.used += n
	e.used += n
	if e.place >= 0 {
		heap.Fix(&t.waiting, e.place)
	}
	if t.place >= 0 {
		heap.Fix(&s.waiting, t.place)
	}
}

func (s *Shares) unwait(t *tenant, e *taker) {
	if e.place >= 0 {
		heap.Remove(&t.waiting, e.place)
	}
	if len(t.waiting) == 0 && t.place >= 0 {
		heap.Remove(&s.waiting, t.place)
	}
}

func (s *Shares) find(workspace, endpoint string) (*tenant, *taker) {
	t := s.spaces[workspace]
	if t == nil {
		t = &tenant{rank: rank{place: -1}, id: workspace, ends: make(map[string]*taker)}
		s.spaces[workspace] = t
	}
	e := t.ends[endpoint]
	if e == nil {
		e = &taker{rank: rank{place: -1}, id: endpoint}
		t.ends[endpoint] = e
	}
	return t, e
}

// forget keeps nothing of those who neither have nor want a slot.
func (s *Shares) forget(t *tenant, e *taker) {
	if e.used == 0 && e.place < 0 {
		delete(t.ends, e.id)
	}
	if len(t.ends) == 0 {
		delete(s.spaces, t.id)
	}
}

// ranked is container/heap's: the one that has the fewest stands first.
type ranked[T interface{ ranked() *rank }] []T

func (h ranked[T]) Len() int { return len(h) }

func (h ranked[T]) Less(i, j int) bool {
	a, b := h[i].ranked(), h[j].ranked()
	return a.used < b.used || a.used == b.used && a.turn < b.turn
}

func (h ranked[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].ranked().place, h[j].ranked().place = i, j
}

// Push is container/heap's.
func (h *ranked[T]) Push(x any) {
	it, _ := x.(T)
	it.ranked().place = len(*h)
	*h = append(*h, it)
}

// Pop is container/heap's.
func (h *ranked[T]) Pop() any {
	last := len(*h) - 1
	it := (*h)[last]
	var none T
	(*h)[last] = none
	*h = (*h)[:last]
	it.ranked().place = -1
	return it
}
