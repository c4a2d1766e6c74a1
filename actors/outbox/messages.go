// Package outbox is the actor that turns a workspace's committed events into
// deliveries: for each event one row per endpoint that wants it, committed
// together with the place in the log, so that no event is skipped and none is
// queued twice. It knows no HTTP; it nudges the endpoints' actors.
package outbox

import "github.com/callboard/callboard/domain"

// What the outbox hears.
type (
	// Nudge says that events were committed. Many are as good as one.
	Nudge struct{}
	// Changed says that an endpoint was created or changed. Sent after its commit and
	// before the API answers, it lets the endpoint receive every event that is
	// committed after that answer.
	Changed struct{ Webhook domain.Webhook }
	// Deleted says that the row of an endpoint is gone; its deliveries are removed.
	Deleted struct{ WebhookID string }
)

// Control admits it always.
func (Nudge) Control() {}

// Control admits it always.
func (Changed) Control() {}

// Control admits it always.
func (Deleted) Control() {}
