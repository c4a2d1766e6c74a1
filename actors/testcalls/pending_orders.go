// Package testcalls assigns the calls of the built-in test carrier to the API requests that placed them.
package testcalls

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// TestCallRequest is the API request for a test call. The INVITE of the call contains the mark of the order, a unique string, in
// the header testcarrier.TestHeader.
type TestCallRequest struct {
	WorkspaceID string
	AgentID     string               // agent that answers; "": the agent of the called number
	Number      string               // called number in the call record if AgentID is set
	OnSegment   func(domain.Segment) // receives the transcript of the call; nil: no receiver
}

// Registry holds the pending orders of test calls by their mark, and the receivers of the transcripts of test calls.
// Its methods are safe for concurrent use. The zero value is ready to use.
type Registry struct {
	mu       sync.Mutex
	orders   map[string]*entry
	watchers map[string]func(domain.Segment) // by call ID
}

type entry struct {
	TestCallRequest

	arrived chan string // delivers the ID of the call
	callID  string      // ID of the call whose transcript is delivered; "": none yet
}

// Add registers an order under its mark, the string in the header of the INVITE. arrived receives the ID of the call
// once its actor runs. remove deletes the order.
func (r *Registry) Add(mark string, o TestCallRequest) (arrived <-chan string, remove func()) {
	e := &entry{TestCallRequest: o, arrived: make(chan string, 1)}
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

// Order returns the order that was added under a mark. The second result is false if there is none.
func (r *Registry) Order(mark string) (TestCallRequest, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.orders[mark]
	if !ok {
		return TestCallRequest{}, false
	}
	return e.TestCallRequest, true
}

// AssignCall assigns a call to an order before the conversation starts. From then on the order's OnSegment receives
// the transcript of the call.
func (r *Registry) AssignCall(mark, callID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.orders[mark]; e != nil && e.OnSegment != nil {
		e.callID, r.watchers[callID] = callID, e.OnSegment
	}
}

// ReportArrival sends the ID of a call whose actor runs to the channel that Add returned, and removes the order.
func (r *Registry) ReportArrival(mark, callID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.orders[mark]; e != nil {
		e.arrived <- callID
		delete(r.orders, mark)
	}
}

// Cancel removes the order of a test call whose API client has disconnected. arrived is the channel that Add returned
// for the order.
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

// Watcher returns the function that receives the transcript of a call. It returns nil if the call has no receiver.
func (r *Registry) Watcher(callID string) func(domain.Segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watchers[callID]
}

// RemoveWatcher ends the delivery of a call's transcript.
func (r *Registry) RemoveWatcher(callID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watchers, callID)
}
