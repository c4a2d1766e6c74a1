package ask

import "github.com/callboard/callboard/domain"

// MessageQuery filters messages.
type MessageQuery struct {
	Page
	Status    domain.MessageStatus // "": any
	Direction domain.Direction     // "": any
	To, From  string               // E.164; "": any
}

// NewMessage orders a text message. The names of Context are filled into Body.
type NewMessage struct {
	To       string // E.164, or national in the workspace's default country
	From     string // "": the desk chooses
	Body     string
	Media    []string
	Context  domain.Context
	Metadata map[string]string
}

// InboundMessage lets the built-in carrier send a message to a number of the
// workspace.
type InboundMessage struct {
	From, To string // E.164
	Body     string
	Media    []string
}
