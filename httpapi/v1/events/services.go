package events

import "github.com/callboard/callboard/httpapi/router"

// Services are the services that the operations of this package use.
type Services struct {
	Events     Events
	Webhooks   Webhooks
	Deliveries Deliveries
}

// Register registers the operations of events and webhooks.
func Register(r *router.Router, services Services) {
	registerEvents(r, services.Events)
	registerWebhooks(r, services.Webhooks, services.Deliveries)
}
