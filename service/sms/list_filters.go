package sms

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// MessageQuery filters messages. Empty fields match all messages.
type MessageQuery struct {
	record.PageQuery
	Status    domain.MessageStatus // "": any
	Direction domain.Direction     // "": any
	To, From  string               // E.164; "": any
	// Conversation is the id of an SMS conversation with an agent.
	Conversation string
}

// ConversationQuery filters conversations by SMS. Empty fields match all conversations.
type ConversationQuery struct {
	record.PageQuery
	Status  domain.SMSConversationStatus // "": any
	Contact string                       // E.164; "": any
}

// InboundMessage is a request for a message from the test carrier to a number of the workspace.
type InboundMessage struct {
	From, To string // E.164
	Body     string
	Media    []string
}
