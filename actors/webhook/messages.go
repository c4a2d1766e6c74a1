// Package webhook is the actor of one webhook endpoint.
//
// It sends the events queued for the endpoint, first attempts in order and retries when due, and stores the results.
// Package outbox queues deliveries in the store and notifies the actor.
//
// A delivery is sent first, and its result is committed afterwards. Before the request nothing is stored: the queued
// row itself is the intent. After a crash in between, the event is sent again with the same event ID and attempt
// number, so receivers can recognize the duplicate. No event is lost.
package webhook

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Messages to an endpoint.
type (
	// DeliveriesQueued reports that new deliveries were queued.
	DeliveriesQueued struct{}
	// NewDeliveries carries deliveries, oldest first, that were queued right after the delivery After. An endpoint
	// that has read up to After queues them directly. Otherwise the endpoint reads them from the store.
	NewDeliveries struct {
		After string
		Items []QueuedDelivery
	}
	// EndpointChanged reports that the endpoint's row changed, or that deliveries were committed by others than the
	// outbox. The endpoint then reads everything again. It also pauses and resumes an endpoint.
	EndpointChanged struct{}
	// EndpointDeleted reports that the endpoint was deleted. The actor sends nothing more and stops; the outbox
	// removes the delivery rows.
	EndpointDeleted struct{}
	// SendTestEvent sends one event that is not queued, even while the endpoint is paused. The reply is TestResult
	// or a *domain.Error.
	SendTestEvent struct {
		EventType string // canonical name or alias; "": webhook.test
	}
)

// QueuedDelivery is a delivery with its event. Both are immutable.
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
