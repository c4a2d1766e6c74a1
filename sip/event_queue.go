package sip

import "sync"

// eventQueue is the lock of a userAgentClient, with the callbacks that run once the lock is released. Callbacks run in
// order and one at a time, on the goroutine that releases the lock first.
type eventQueue struct {
	mu         sync.Mutex
	recovered  func(where string, then func()) // called by defer: recovers a panic of a callback
	notify     func(Event)                     // nil: there is no owner any more
	pending    []func()
	delivering bool
}

// do runs f under the lock, then calls the callbacks that f queued.
func (q *eventQueue) do(f func()) {
	defer q.recovered("dialog", nil)
	q.mu.Lock()
	defer q.unlock()
	f()
}

func (q *eventQueue) unlock() {
	for !q.delivering && len(q.pending) > 0 {
		calls := q.pending
		q.pending, q.delivering = nil, true
		q.mu.Unlock()
		for _, call := range calls {
			q.deliver(call)
		}
		q.mu.Lock()
		q.delivering = false
	}
	q.mu.Unlock()
}

func (q *eventQueue) deliver(call func()) {
	defer q.recovered("notify", nil)
	call()
}

// later queues f to run after the queued events, with the lock released.
func (q *eventQueue) later(f func()) { q.pending = append(q.pending, f) }

// emit queues an event for the owner.
func (q *eventQueue) emit(e Event) {
	if notify := q.notify; notify != nil {
		q.later(func() { notify(e) })
	}
}

// emitLast queues the last event for the owner. Then it drops the reference to the owner, while the dialog stays in
// memory for late messages.
func (q *eventQueue) emitLast(e Event) {
	q.emit(e)
	q.notify = nil
}
