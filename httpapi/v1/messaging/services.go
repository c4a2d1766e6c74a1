package messaging

import "github.com/callboard/callboard/httpapi/router"

// Services are the use cases behind the operations of text messages.
type Services struct {
	Messages      Messages
	Conversations Conversations
	Gateways      Gateways
}

// Register registers the operations of text messages.
func Register(r *router.Router, services Services) {
	registerMessages(r, services.Messages)
	registerConversations(r, services.Conversations)
	registerGateways(r, services.Gateways)
}
