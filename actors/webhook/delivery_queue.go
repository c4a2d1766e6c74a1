package webhook

import (
	"container/heap"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// queuedItem is one open delivery. The row and the event that it points to are immutable. To change the delivery, the
// endpoint replaces the pointer row.
type queuedItem struct {
	row       *domain.Delivery
	event     *event.Event // nil: read right before sending
	heapIndex int          // index in the retry heap; -1: not in it
}

// deliveryQueue orders those open deliveries of one endpoint that are in memory. First attempts are sent in the order of
// their events, and only one per subject at a time. Retries are ordered by due time.
type deliveryQueue struct {
	known   map[string]*queuedItem   // every delivery in memory, by event ID
	ready   []*queuedItem            // deliveries that may be sent, in order
	urgent  []*queuedItem            // next deliveries of a subject whose attempt has ended; sent before ready
	waiting map[string][]*queuedItem // by subject: deliveries behind a first attempt; a subject without a key is free
	queued  int                      // number of deliveries that wait for their first attempt
	retries retryHeap

	parkedUntil time.Time // due time of the first retry that is only in the store; zero: none
}

func newDeliveryQueue() *deliveryQueue {
	return &deliveryQueue{known: make(map[string]*queuedItem), waiting: make(map[string][]*queuedItem)}
}

// add queues an open delivery unless its event is in memory already.
func (q *deliveryQueue) add(it *queuedItem) {
	if _, known := q.known[it.row.EventID]; known {
		return
	}
	it.heapIndex = -1
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

// hasFirstAttempt reports whether takeFirstAttempt would return a delivery.
func (q *deliveryQueue) hasFirstAttempt() bool { return len(q.urgent)+len(q.ready) > 0 }

// takeFirstAttempt removes and returns the delivery whose first attempt is next. It returns nil if there is none.
func (q *deliveryQueue) takeFirstAttempt() *queuedItem {
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

// returnFirstAttempt puts a delivery from takeFirstAttempt back to the front of the queue, because its request was not sent.
func (q *deliveryQueue) returnFirstAttempt(it *queuedItem) {
	q.urgent = append([]*queuedItem{it}, q.urgent...)
	q.queued++
}

// firstEnded records that the first attempt of a delivery has ended, so that the next delivery with the same subject
// may be sent.
func (q *deliveryQueue) firstEnded(subject string) {
	behind := q.waiting[subject]
	if len(behind) == 0 {
		delete(q.waiting, subject)
		return
	}
	q.urgent = append(q.urgent, behind[0])
	q.waiting[subject] = behind[1:]
}

// addRetry adds a delivery to the retries, ordered by its due time.
func (q *deliveryQueue) addRetry(it *queuedItem) { heap.Push(&q.retries, it) }

// takeRetry removes and returns a delivery whose retry is due. It returns nil if no retry is due.
func (q *deliveryQueue) takeRetry(now time.Time) *queuedItem {
	if len(q.retries) == 0 || q.retries[0].dueAt().After(now) {
		return nil
	}
	it, _ := heap.Pop(&q.retries).(*queuedItem)
	return it
}

// nextDue returns the due time of the earliest retry. It is zero if there are no retries.
func (q *deliveryQueue) nextDue() time.Time {
	if len(q.retries) == 0 {
		return time.Time{}
	}
	return q.retries[0].dueAt()
}

// removeSettled removes a delivery that needs no further attempt.
func (q *deliveryQueue) removeSettled(eventID string) { delete(q.known, eventID) }

// forgetRetry forgets a retry that takeLast has removed. The endpoint reads it from the store when it is due.
func (q *deliveryQueue) forgetRetry(it *queuedItem) {
	delete(q.known, it.row.EventID)
	if due := it.dueAt(); q.parkedUntil.IsZero() || due.Before(q.parkedUntil) {
		q.parkedUntil = due
	}
}

// takeOlderThan removes and returns the deliveries that were created before the given time and are not being sent.
func (q *deliveryQueue) takeOlderThan(before time.Time) []*queuedItem {
	var old []*queuedItem
	keep := func(list []*queuedItem) []*queuedItem {
		var young []*queuedItem
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
	var late []*queuedItem
	for _, it := range q.retries {
		if it.row.CreatedAt.Before(before) {
			late = append(late, it)
		}
	}
	for _, it := range late {
		heap.Remove(&q.retries, it.heapIndex)
	}
	return append(old, late...)
}

// takeLast removes and returns the n retries with the latest due times.
func (q *deliveryQueue) takeLast(n int) []*queuedItem {
	slices.SortFunc(q.retries, func(a, b *queuedItem) int { return a.dueAt().Compare(b.dueAt()) }) // a sorted slice is a valid heap
	from := len(q.retries) - n
	out := slices.Clone(q.retries[from:])
	clear(q.retries[from:])
	q.retries = q.retries[:from]
	for i, it := range q.retries {
		it.heapIndex = i
	}
	for _, it := range out {
		it.heapIndex = -1
	}
	return out
}

// retryHeap implements heap.Interface, ordered by due time.
type retryHeap []*queuedItem

func (it *queuedItem) dueAt() time.Time {
	if it.row.DueAt == nil {
		return time.Time{}
	}
	return *it.row.DueAt
}

func (h retryHeap) Len() int           { return len(h) }
func (h retryHeap) Less(i, j int) bool { return h[i].dueAt().Before(h[j].dueAt()) }
func (h retryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}

// Push implements heap.Interface.
func (h *retryHeap) Push(x any) {
	it, _ := x.(*queuedItem)
	it.heapIndex = len(*h)
	*h = append(*h, it)
}

// Pop implements heap.Interface.
func (h *retryHeap) Pop() any {
	last := len(*h) - 1
	it := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	it.heapIndex = -1
	return it
}
