package ask

import "github.com/callboard/callboard/domain"

// MessageQuery filters messages.
type MessageQuery struct {
	Page
	Status    domain.MessageStatus // "": any
	Direction domain.Direction     // "": any
	To, From  string               // E.164; "": any
	// Conversation is the id of one of an agent; "": any.
	Conversation string
}

// TextingQuery filters conversations by text message.
type TextingQuery struct {
	Page
	Status  domain.TextingStatus // "": any
	Contact string               // E.164; "": any
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

// GatewayReceived is the type of a GatewayEvent that tells of a message that
// came in; delivered, undelivered and failed tell of one of ours.
const GatewayReceived = "received"

// GatewayEvent is what an SMS gateway tells.
type GatewayEvent struct {
	Type      string // received | delivered | undelivered | failed
	MessageID string // of ours
	// Of what came in: the gateway's own name for it, and the message.
	ID, From, To, Body string // numbers in E.164
	Media              []string
	// Why a message was not delivered.
	ErrorCode, ErrorMessage string
}

// GatewayTaken is what became of one GatewayEvent: a message, or why it cannot
// be taken.
type GatewayTaken struct {
	Index     int
	MessageID string
	Duplicate bool // it was told before
	Code      domain.Code
	Message   string
	Param     string
}

// InboundMessage lets the built-in carrier send a message to a number of the
// workspace.
type InboundMessage struct {
	From, To string // E.164
	Body     string
	Media    []string
}
