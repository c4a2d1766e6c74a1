package sms

import (
	"github.com/callboard/callboard/domain"
)

// GatewayReceived is the type of a GatewayEvent about an inbound message. Events of the types delivered, undelivered
// and failed report on an outbound message of Callboard.
const GatewayReceived = "received"

// GatewayEvent is an event that an SMS gateway reports.
type GatewayEvent struct {
	Type      string // received | delivered | undelivered | failed
	MessageID string // id of the message that this service sent
	// Inbound messages only: the gateway's id of the message, its sender, recipient and content.
	ID, From, To, Body string // numbers in E.164
	Media              []string
	// Undelivered and failed messages only: the reason.
	ErrorCode, ErrorMessage string
}

// GatewayResult is the result of one GatewayEvent: the id of its message, or an error.
type GatewayResult struct {
	Index     int
	MessageID string
	Duplicate bool // the event was reported before
	Code      domain.Code
	Message   string
	Param     string
}
