package sms

import (
	"github.com/callboard/callboard/domain"
)

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

// GatewayResult is what became of one GatewayEvent: a message, or why it cannot
// be taken.
type GatewayResult struct {
	Index     int
	MessageID string
	Duplicate bool // it was told before
	Code      domain.Code
	Message   string
	Param     string
}
