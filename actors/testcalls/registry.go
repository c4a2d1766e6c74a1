// Package testcalls holds the calls that were ordered from the built-in test
// carrier until they arrive.
package testcalls

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// Order is what a test call was ordered for. Its INVITE carries the mark under
// which the order was registered (header testcarrier.TestHeader).
type Order struct {
	WorkspaceID string
	AgentID     string               // that shall answer; "": the number that is called decides
	Number      string               // that the record shows as called, if AgentID is set
	OnSegment   func(domain.Segment) // receives the transcript of the call; nil: nobody reads it
}

// Registry holds the orders by their marks, and the watchers of the transcripts
// of test calls. Its zero value is empty and ready to use.
type Registry struct {
	mu       sync.Mutex
	orders   map[string]*entry
	watchers map[string]func(domain.Segment) // by call
}

type entry struct {
	Order

	arrived chan string // the id of the call
	callID  string      // of the call whose transcript is watched; "": none yet
}

// Add registers an order under its mark. arrived receives the id of the call
// once the call actor has it. remove ends the wait.
func (r *Registry) Add(mark string, o Order) (arrived <-chan string, remove func()) {
	e := &entry{Order: o, arrived: make(chan string, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.orders == nil {
		r.orders, r.watchers = make(map[string]*entry), make(map[string]func(domain.Segment))
	}
	r.orders[mark] = e
	return e.arrived, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.orders, mark)
	}
}

// Order returns the order of a mark; false if there is none.
func (r *Registry) Order(mark string) (Order, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.orders[mark]
	if !ok {
		return Order{}, false
	}
	return e.Order, true
}

// AssignCall says which call an order becomes, before its conversation begins: the
// order's watcher receives the transcript of the call.
func (r *Registry) AssignCall(mark, callID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.orders[mark]; e != nil && e.OnSegment != nil {
		e.callID, r.watchers[callID] = callID, e.OnSegment
	}
}

// ReportArrival says that the actor of a call has it, and ends its order.
func (r *Registry) ReportArrival(mark, callID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.orders[mark]; e != nil {
		e.arrived <- callID
		delete(r.orders, mark)
	}
}

// Cancel ends an order whose caller waits no longer, and removes its watcher.
// arrived is the channel that Add returned.
func (r *Registry) Cancel(mark string, arrived <-chan string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.orders[mark]; e != nil {
		delete(r.watchers, e.callID)
	}
	delete(r.orders, mark)
	select {
	case id := <-arrived:
		delete(r.watchers, id)
	default:
	}
}

// Watcher returns the function that receives the transcript of a call; nil:
// nobody reads it.
func (r *Registry) Watcher(callID string) func(domain.Segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watchers[callID]
}

// RemoveWatcher ends the delivery of the transcript of a call.
func (r *Registry) RemoveWatcher(callID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watchers, callID)
}
