package campaign

import (
	"container/heap"
	"slices"
	"time"
)

// contactHeap is a heap of contacts, ordered by the time until which they wait.
type contactHeap []timedContact

type timedContact struct {
	at      time.Time
	ordinal int
}

func (h contactHeap) Len() int           { return len(h) }
func (h contactHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h contactHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *contactHeap) Push(x any) { *h = append(*h, x.(timedContact)) } //nolint:forcetypeassert // only add pushes

// Pop implements heap.Interface.
func (h *contactHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (h *contactHeap) add(ordinal int, at time.Time) { heap.Push(h, timedContact{at, ordinal}) }

// first returns the earliest time in the heap, or the zero time if the heap is empty.
func (h contactHeap) first() time.Time {
	if len(h) == 0 {
		return time.Time{}
	}
	return h[0].at
}

// due reports whether the time of the first contact in the heap has come.
func (h contactHeap) due(now time.Time) bool { return len(h) > 0 && !h[0].at.After(now) }

// remove removes a contact and returns its time, or the zero time if the contact was not in the heap.
func (h *contactHeap) remove(ordinal int) (at time.Time) {
	i := slices.IndexFunc(*h, func(c timedContact) bool { return c.ordinal == ordinal })
	if i < 0 {
		return time.Time{}
	}
	at = (*h)[i].at
	heap.Remove(h, i)
	return at
}
