package messaging

import "github.com/callboard/callboard/httpapi/router"

// Services are the services that the operations of this package use.
type Services struct {
	Messages      Messages
	Conversations Conversations
	Gateways      Gateways
}

// Register registers the HTTP operations of this package.
func Register(r *router.Router, services Services) {
	registerMessages(r, services.Messages)
	registerConversations(r, services.Conversations)
	registerGateways(r, services.Gateways)
}
