package outbox

import (
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// NewEvent returns an event about a resource, with a new ID and the current time. The caller commits it together
// with the change of the resource.
func NewEvent(m *domain.Meta, t event.Type, subject, unit string, data any) event.Draft {
	return event.Draft{
		ID: mailbox.NewID(domain.PrefixEvent), Type: t, CreatedAt: domain.Timestamp(time.Now()), WorkspaceID: m.WorkspaceID,
		Environment: m.Environment, SvcID: unit, Subject: subject, Data: data,
	}
}
