// Package outbox is the actor that turns a workspace's committed events into webhook deliveries.
//
// For each event it commits one delivery row per subscribed endpoint. The same commit stores how far the event log has
// been processed, so that no event is skipped and none is queued twice. The endpoint actors (package webhook) send
// the requests.
package outbox

import "github.com/callboard/callboard/domain"

// Messages that the outbox actor receives.
type (
	// EventsCommitted reports that events of the workspace were committed. One message may report several commits.
	EventsCommitted struct{}
	// EndpointChanged reports that an endpoint was created or changed. The API sends it before its response, so that the
	// endpoint receives every event that is committed after the response.
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
