package sms

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// MessageQuery filters messages.
type MessageQuery struct {
	record.PageQuery
	Status    domain.MessageStatus // "": any
	Direction domain.Direction     // "": any
	To, From  string               // E.164; "": any
	// Conversation is the id of one of an agent; "": any.
	Conversation string
}

// ConversationQuery filters conversations by text message.
type ConversationQuery struct {
	record.PageQuery
	Status  domain.TextingStatus // "": any
	Contact string               // E.164; "": any
}

// InboundMessage lets the built-in carrier send a message to a number of the
// workspace.
type InboundMessage struct {
	From, To string // E.164
	Body     string
	Media    []string
}
