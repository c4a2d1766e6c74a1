package webhook

import (
	"container/heap"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// item is one open delivery. Neither row nor event changes: another row replaces it.
type item struct {
	row   *domain.Delivery
	event *event.Event // nil: read when it is sent
	place int          // in the heap of retries; -1: not in it
}

// deliveryQueue orders the open deliveries of one endpoint that are in memory: first attempts as they were queued, but
// of each subject only one at a time, and retries by their due time.
type deliveryQueue struct {
	known   map[string]*item   // every delivery in memory, by event
	ready   []*item            // may be sent, in order
	urgent  []*item            // released by the end of the one before: sent first
	waiting map[string][]*item // behind a subject's first attempt; a key: the subject is busy
	queued  int                // first attempts not yet under way
	retries retryHeap

	parkedUntil time.Time // when the first retry is due that only the store has; zero: none
}

func newDeliveryQueue() *deliveryQueue {
	return &deliveryQueue{known: make(map[string]*item), waiting: make(map[string][]*item)}
}

// add queues an open delivery, unless it is known.
func (q *deliveryQueue) add(it *item) {
	if _, known := q.known[it.row.EventID]; known {
		return
	}
	it.place = -1
	q.known[it.row.EventID] = it
	if it.row.State == domain.DeliveryRetrying {
		q.addRetry(it)
		return
	}
	q.queued++
	subject := it.row.Subject
	if behind, busy := q.waiting[subject]; busy && subject != "" {
		q.waiting[subject] = append(behind, it)
		return
	}
	q.waiting[subject] = nil
	q.ready = append(q.ready, it)
}

// hasFirst says whether takeFirst has one.
func (q *deliveryQueue) hasFirst() bool { return len(q.urgent)+len(q.ready) > 0 }

// takeFirst takes out the first attempt that is to be sent now, or nil.
func (q *deliveryQueue) takeFirst() *item {
	from := &q.ready
	if len(q.urgent) > 0 {
		from = &q.urgent
	}
	if len(*from) == 0 {
		return nil
	}
	it := (*from)[0]
	(*from)[0] = nil
	*from = (*from)[1:]
	q.queued--
	return it
}

// returnFirst undoes takeFirst: nothing was sent.
func (q *deliveryQueue) returnFirst(it *item) {
	q.urgent = append([]*item{it}, q.urgent...)
	q.queued++
}

// firstEnded notes the end of a first attempt: the next delivery of its subject may be sent.
func (q *deliveryQueue) firstEnded(subject string) {
	behind := q.waiting[subject]
	if len(behind) == 0 {
		delete(q.waiting, subject)
		return
	}
	q.urgent = append(q.urgent, behind[0])
	q.waiting[subject] = behind[1:]
}

// addRetry adds a delivery to the retries, at its due time.
func (q *deliveryQueue) addRetry(it *item) { heap.Push(&q.retries, it) }

// takeRetry takes out a retry whose time has come, or nil.
func (q *deliveryQueue) takeRetry(now time.Time) *item {
	if len(q.retries) == 0 || q.retries[0].dueAt().After(now) {
		return nil
	}
	it, _ := heap.Pop(&q.retries).(*item)
	return it
}

// nextDue is when the earliest retry is due; zero: there is none.
func (q *deliveryQueue) nextDue() time.Time {
	if len(q.retries) == 0 {
		return time.Time{}
	}
	return q.retries[0].dueAt()
}

// settle drops a delivery that needs no more attempts.
func (q *deliveryQueue) settle(eventID string) { delete(q.known, eventID) }

// park leaves a retry, which was taken out before, to the store.
func (q *deliveryQueue) park(it *item) {
	delete(q.known, it.row.EventID)
	if due := it.dueAt(); q.parkedUntil.IsZero() || due.Before(q.parkedUntil) {
		q.parkedUntil = due
	}
}

// expire takes out every delivery that is not under way and was queued before
// the time given.
func (q *deliveryQueue) expire(before time.Time) []*item {
	var old []*item
	keep := func(list []*item) []*item {
		var young []*item
		for _, it := range list {
			if it.row.CreatedAt.Before(before) {
				old = append(old, it)
				q.queued--
			} else {
				young = append(young, it)
			}
		}
		return young
	}
	for subject, behind := range q.waiting {
		q.waiting[subject] = keep(behind)
	}
	first := len(old)
	q.ready, q.urgent = keep(q.ready), keep(q.urgent)
	for _, it := range old[first:] {
		q.firstEnded(it.row.Subject)
	}
	var late []*item
	for _, it := range q.retries {
		if it.row.CreatedAt.Before(before) {
			late = append(late, it)
		}
	}
	for _, it := range late {
		heap.Remove(&q.retries, it.place)
	}
	return append(old, late...)
}

// takeLast takes out the n retries that are due last.
func (q *deliveryQueue) takeLast(n int) []*item {
	slices.SortFunc(q.retries, func(a, b *item) int { return a.dueAt().Compare(b.dueAt()) }) // a sorted slice is a heap as well
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

// retryHeap is container/heap's, by due time.
type retryHeap []*item

func (it *item) dueAt() time.Time {
	if it.row.DueAt == nil {
		return time.Time{}
	}
	return *it.row.DueAt
}

func (h retryHeap) Len() int           { return len(h) }
func (h retryHeap) Less(i, j int) bool { return h[i].dueAt().Before(h[j].dueAt()) }
func (h retryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push is container/heap's.
func (h *retryHeap) Push(x any) {
	it, _ := x.(*item)
	it.place = len(*h)
	*h = append(*h, it)
}

// Pop is container/heap's.
func (h *retryHeap) Pop() any {
	last := len(*h) - 1
	it := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	it.place = -1
	return it
}
