package webhooks

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// Query filters webhook endpoints. Empty fields match all endpoints.
type Query struct {
	record.PageQuery
	CampaignID string
	Status     domain.WebhookStatus // "": any
	Event      event.Type           // event to which the endpoint subscribes; "": any
}
