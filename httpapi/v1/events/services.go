package events

import "github.com/callboard/callboard/httpapi/router"

// Services are the use cases behind the operations of events.
type Services struct {
	Events     Events
	Webhooks   Webhooks
	Deliveries Deliveries
}

// Register registers the operations of events.
func Register(r *router.Router, services Services) {
	registerEvents(r, services.Events)
	registerWebhooks(r, services.Webhooks, services.Deliveries)
}
