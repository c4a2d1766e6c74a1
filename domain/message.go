package domain

import (
	"time"
)

// MessageStatus is the state of a text message.
type MessageStatus string

// The states of a message. An inbound message is always in the state received.
const (
	MessageQueued      MessageStatus = "queued"
	MessageSent        MessageStatus = "sent"        // the carrier accepted the message
	MessageDelivered   MessageStatus = "delivered"   // the carrier reported delivery
	MessageUndelivered MessageStatus = "undelivered" // the carrier reported that delivery failed
	MessageFailed      MessageStatus = "failed"      // no carrier accepted the message
	MessageReceived    MessageStatus = "received"
)

// Values returns the states of a message.
func (MessageStatus) Values() []string {
	return values(MessageQueued, MessageSent, MessageDelivered, MessageUndelivered, MessageFailed, MessageReceived)
}

// MessageEncoding is the character encoding of a message on the mobile network.
type MessageEncoding string

// The encodings of a message.
const (
	GSM7 MessageEncoding = "gsm7" // 160 characters of the GSM alphabet, or 153 in each of several segments
	UCS2 MessageEncoding = "ucs2" // 70 UTF-16 units, or 67 in each of several segments
)

// Values returns the encodings of a message.
func (MessageEncoding) Values() []string {
	return values(GSM7, UCS2)
}

// Message is a text message. Its body and context are encrypted at rest.
type Message struct {
	Meta
	RequestTrace

	MessageID    string          `json:"message_id"` // same as ID
	Direction    Direction       `json:"direction"`
	From         string          `json:"from"`
	To           string          `json:"to"`
	Body         string          `json:"body"`
	Media        []string        `json:"media"`
	Segments     int             `json:"segments"`
	Encoding     MessageEncoding `json:"encoding"`
	Status       MessageStatus   `json:"status"`
	ErrorCode    string          `json:"error_code,omitempty"`
	ErrorMessage string          `json:"error_message,omitempty"`
	OptOut       bool            `json:"opt_out"`            // inbound: the sender opted out
	Notice       bool            `json:"notice"`             // outbound: confirmation of an opt-out, the only message that is still sent to such a number
	ReplyTo      string          `json:"reply_to,omitempty"` // ID of the message that this message answers
	// ConversationID is the ID of the conversation between an agent and the contact.
	ConversationID string     `json:"conversation_id,omitempty" doc:"The id of the agent's conversation that the message belongs to."`
	Context        Context    `json:"context,omitempty"`
	SentAt         *time.Time `json:"sent_at"`
	DeliveredAt    *time.Time `json:"delivered_at"`
	FailedAt       *time.Time `json:"failed_at"`
	// RouteID is the ID of the trunk or SMS gateway that delivers the message. It is empty for the test carrier and
	// until a route is chosen.
	RouteID string `json:"route_id,omitempty" doc:"The id of the trunk or SMS gateway that delivers the message."`
	// Tries counts the delivery attempts. TriedAt is the time of the last attempt, and NextAt the time of the next
	// attempt.
	Tries   int        `json:"tries,omitempty" doc:"Number of delivery attempts."`
	TriedAt *time.Time `json:"tried_at,omitempty" hidden:"true"`
	NextAt  *time.Time `json:"next_try_at,omitempty" doc:"Time of the next delivery attempt."`
	// Todo is the next processing step, or "" if processing is complete. After a restart the service continues with
	// this step.
	Todo MessageTodo `json:"todo,omitempty" hidden:"true"`
	// Answering is the ID of the conversation whose agent is preparing an answer to this message.
	Answering string `json:"answering,omitempty" hidden:"true"`
	// SealedContext is the encrypted form of Context.
	SealedContext string `json:"sealed_context,omitempty" hidden:"true"`
}

// MessageTodo is the next processing step of a message.
type MessageTodo string

// The processing steps of a message.
const (
	TodoSend          MessageTodo = "send"    // queued: send the message
	TodoReport        MessageTodo = "report"  // sent: wait for the delivery report
	TodoReply         MessageTodo = "reply"   // delivered to a phone of the test carrier that sends a reply
	TodoOptOut        MessageTodo = "opt_out" // received: add the sender to the default do-not-call list
	TodoDeliver       MessageTodo = "carry"   // queued: hand the message to a trunk or gateway
	TodoAnswer        MessageTodo = "answer"  // received: let the agent of the number answer
	TodoAwaitResponse MessageTodo = "await"   // handed to a carrier: wait for its response
)

// CodeDeliveryUnknown is the error code of a message whose delivery is unknown, because the service stopped during
// the handover to the carrier.
const CodeDeliveryUnknown = "unknown"

// Key returns the key of the message in the store.
func (m *Message) Key() Key { return Key{"message", m.WorkspaceID, m.ID} }

// Indexes returns the indexes by environment, status, direction, both numbers, conversation and processing step.
func (m *Message) Indexes() []string {
	e := string(m.Environment)
	ix := []string{
		envIndex(m.Environment), "status=" + e + "/" + string(m.Status), "direction=" + e + "/" + string(m.Direction),
		"to=" + e + "/" + m.To, "from=" + e + "/" + m.From,
	}
	if m.ConversationID != "" {
		ix = append(ix, "conversation="+m.ConversationID)
	}
	switch {
	case m.Todo == "":
	case m.Todo == TodoAnswer:
		ix = append(ix, "answer")
	case m.Todo != TodoDeliver && m.Todo != TodoAwaitResponse:
		ix = append(ix, "todo")
	case m.NextAt != nil:
		ix = append(ix, "carry_later")
	default:
		ix = append(ix, "carry")
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (m *Message) Sort() string { return m.ID }

// Sealed returns a copy whose body and context are encrypted by f.
func (m *Message) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *m
	var err error
	if c.Body, err = f("body", m.Body); err != nil || len(m.Context) == 0 {
		return &c, err
	}
	text, err := AppendRow(nil, m.Context)
	if err != nil {
		return nil, err
	}
	c.Context = nil
	c.SealedContext, err = f("context", string(text))
	return &c, err
}

// Unseal decrypts the body and the context with f. Records of earlier versions have a context that is not encrypted.
func (m *Message) Unseal(f func(field, text string) (string, error)) (err error) {
	if m.Body, err = f("body", m.Body); err != nil || m.SealedContext == "" {
		return err
	}
	text, err := f("context", m.SealedContext)
	if err != nil {
		return err
	}
	m.SealedContext = ""
	return ReadRow([]byte(text), &m.Context)
}

// Public returns a copy with the fields that the API shows.
func (m *Message) Public() *Message {
	c := *m
	c.Todo, c.Answering, c.TriedAt = "", "", nil
	return &c
}

// NewMessage is a request to send a text message. Values of Context replace the placeholders in Body.
type NewMessage struct {
	To       string // E.164, or national in the workspace's default country
	From     string // empty: the service chooses
	Body     string
	Media    []string
	Context  Context
	Metadata map[string]string
}
