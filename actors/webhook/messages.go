// Package webhook is the actor of one webhook endpoint.
//
// It sends the events that are queued for the endpoint: first attempts in order, and retries when they are due. It
// stores the results. Package outbox queues deliveries in the store and notifies the actor.
//
// The actor sends a delivery first and commits its result afterwards. It stores nothing before the request. After a
// crash between request and commit, it sends the event again with the same event ID and attempt number, so receivers
// can recognize the duplicate. No event is lost.
package webhook

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Messages that an endpoint receives.
type (
	// DeliveriesQueued reports that the store contains new deliveries for the endpoint.
	DeliveriesQueued struct{}
	// NewDeliveries contains deliveries, oldest first, that were queued right after the delivery with the ID After. An
	// endpoint that has read all deliveries up to After queues them directly. Otherwise it reads them from the store.
	NewDeliveries struct {
		After string
		Items []QueuedDelivery
	}
	// EndpointChanged reports that the endpoint's row changed, for example its pause, or that another component than the
	// outbox committed deliveries. The endpoint then reads its row and its deliveries again.
	EndpointChanged struct{}
	// EndpointDeleted reports that the endpoint was deleted. The actor sends nothing more and stops. The outbox removes
	// the delivery rows.
	EndpointDeleted struct{}
	// SendTestEvent sends one test event at once, even while the endpoint is paused. The reply is TestResult or a
	// *domain.Error.
	SendTestEvent struct {
		EventType string // canonical name or alias; "": webhook.test
	}
)

// QueuedDelivery is a delivery row with its event. Neither may be changed.
type QueuedDelivery struct {
	Row   *domain.Delivery
	Event *event.Event
}

// TestResult is the endpoint's response to a test event.
type TestResult struct {
	EventID        string `json:"event_id"`
	Delivered      bool   `json:"delivered"`
	ResponseStatus int    `json:"response_status"`
	ResponseTimeMs int64  `json:"response_time_ms"`
	Error          string `json:"error,omitempty"`
}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (DeliveriesQueued) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (NewDeliveries) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (EndpointChanged) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (EndpointDeleted) Control() {}
