// Package webhook is the actor of one endpoint: it sends the events queued for
// it, first attempts in order and retries at their time, and keeps their log.
// It knows no event source: the outbox queues deliveries in the store and
// nudges it.
//
// The order of one delivery is: send, then commit the result. Nothing is
// stored before the send, because the row itself, still queued, is the
// intent: a crash in between leaves it queued, and the event is sent once more
// under the same evt_ id and attempt number. Nothing is lost, a duplicate is
// recognisable, and the hot path costs a share of one commit per event instead
// of two.
package webhook

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// What an endpoint hears.
type (
	// Nudge says that deliveries were queued behind the last one.
	DeliveriesQueued struct{}
	// Fresh brings deliveries, oldest first, that were queued right behind the
	// one named After. To an endpoint that has read up to that one and has room
	// they are as good as read, to any other they are a Nudge.
	NewDeliveries struct {
		After string
		Items []QueuedDelivery
	}
	// Changed says that the endpoint's row, or deliveries that the outbox did
	// not write, were committed: read everything anew. Also how an endpoint is
	// paused and resumed.
	EndpointChanged struct{}
	// Deleted says that the endpoint's row is gone. The actor sends nothing more and
	// ends; the outbox removes the rows of its deliveries.
	EndpointDeleted struct{}
	// Test sends one event that is not queued, also while the endpoint is
	// paused; it replies Tested or a *domain.Error.
	SendTestEvent struct {
		EventType string // a name or its twin; empty: webhook.test
	}
)

// QueuedDelivery is a delivery that was queued, and its event. Nobody changes them.
type QueuedDelivery struct {
	Row   *domain.Delivery
	Event *event.Event
}

// TestResult is how the endpoint answered a test.
type TestResult struct {
	EventID        string `json:"event_id"`
	Delivered      bool   `json:"delivered"`
	ResponseStatus int    `json:"response_status"`
	ResponseTimeMs int64  `json:"response_time_ms"`
	Error          string `json:"error,omitempty"`
}

// Control admits it always.
func (DeliveriesQueued) Control() {}

// Control admits it always.
func (NewDeliveries) Control() {}

// Control admits it always.
func (EndpointChanged) Control() {}

// Control admits it always.
func (EndpointDeleted) Control() {}
