// Package outbox is the actor that turns a workspace's committed events into webhook deliveries.
//
// For each event it commits one delivery row per subscribed endpoint, together with its position in the event log.
// No event is skipped, and none is queued twice. The endpoint actors (package webhook) send the requests.
package outbox

import "github.com/callboard/callboard/domain"

// Messages to the outbox.
type (
	// EventsCommitted reports that events of the workspace were committed. One message may stand for many commits.
	EventsCommitted struct{}
	// EndpointChanged reports that an endpoint was created or changed. The API sends it after the commit and before
	// its response: the endpoint receives every event committed after that response.
	EndpointChanged struct{ Webhook domain.Webhook }
	// EndpointDeleted reports that an endpoint was deleted. The outbox then removes the endpoint's deliveries.
	EndpointDeleted struct{ WebhookID string }
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (EventsCommitted) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (EndpointChanged) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (EndpointDeleted) Control() {}
