package domain

import (
	"time"
)

// MessageStatus is where a text message stands.
type MessageStatus string

// The states of a message. What comes in is received from the start.
const (
	MessageQueued      MessageStatus = "queued"
	MessageSent        MessageStatus = "sent"        // the carrier has it
	MessageDelivered   MessageStatus = "delivered"   // so the carrier reports
	MessageUndelivered MessageStatus = "undelivered" // the carrier could not
	MessageFailed      MessageStatus = "failed"      // no carrier took it
	MessageReceived    MessageStatus = "received"
)

// Values are the states of a message.
func (MessageStatus) Values() []string {
	return values(MessageQueued, MessageSent, MessageDelivered, MessageUndelivered, MessageFailed, MessageReceived)
}

// MessageEncoding is how the letters of a message go over the air.
type MessageEncoding string

// The encodings.
const (
	GSM7 MessageEncoding = "gsm7" // 160 characters of a small alphabet, 153 in each of several segments
	UCS2 MessageEncoding = "ucs2" // 70 units of UTF-16, 67 in each of several segments
)

// Values are the encodings of a message.
func (MessageEncoding) Values() []string {
	return values(GSM7, UCS2)
}

// Message is a text message. Its words, and those that were put into it, are
// kept sealed.
type Message struct {
	Meta
	RequestTrace

	MessageID    string          `json:"message_id"` // as ID
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
	OptOut       bool            `json:"opt_out"`            // inbound: the sender wants no more
	Notice       bool            `json:"notice"`             // outbound: says that an opt-out was heard; the only one that such a number still gets
	ReplyTo      string          `json:"reply_to,omitempty"` // the message that it answers
	// ConversationID is that of an agent with the contact.
	ConversationID string     `json:"conversation_id,omitempty" doc:"The conversation of an agent that it belongs to."`
	Context        Context    `json:"context,omitempty"`
	SentAt         *time.Time `json:"sent_at"`
	DeliveredAt    *time.Time `json:"delivered_at"`
	FailedAt       *time.Time `json:"failed_at"`
	// RouteID is the trunk or gateway that carries it; "": the built-in carrier,
	// or none yet.
	RouteID string `json:"route_id,omitempty" doc:"The trunk or SMS gateway that carried it."`
	// Tries counts how often it was handed to a carrier, TriedAt says when last,
	// and NextAt when it will be again.
	Tries   int        `json:"tries,omitempty" doc:"How often it was handed to a carrier."`
	TriedAt *time.Time `json:"tried_at,omitempty" hidden:"true"`
	NextAt  *time.Time `json:"next_try_at,omitempty" doc:"When it is handed to a carrier again."`
	// Todo is what is still to be done with the message, "" for nothing: a
	// process that ends in between finds it.
	Todo MessageTodo `json:"todo,omitempty" hidden:"true"`
	// Answering is the conversation in which something was begun to answer it,
	// while that is under way.
	Answering string `json:"answering,omitempty" hidden:"true"`
	// SealedContext is Context as it is kept.
	SealedContext string `json:"sealed_context,omitempty" hidden:"true"`
}

// MessageTodo is the next thing to be done with a message.
type MessageTodo string

// What may be left to do.
const (
	TodoSend          MessageTodo = "send"    // queued
	TodoReport        MessageTodo = "report"  // sent, its report is to come
	TodoReply         MessageTodo = "reply"   // delivered to a phone of the test environment that answers
	TodoOptOut        MessageTodo = "opt_out" // received; its sender is to go onto the default list
	TodoDeliver       MessageTodo = "carry"   // queued for a carrier: a trunk or a gateway
	TodoAnswer        MessageTodo = "answer"  // received; the agent of its number is to answer
	TodoAwaitResponse MessageTodo = "await"   // a carrier is being given it; its answer is to come
)

// CodeUnknownFate is the error code of a message of which nobody knows whether
// its carrier has it: the service ended while it was handed over.
const CodeDeliveryUnknown = "unknown"

// Key names the row.
func (m *Message) Key() Key { return Key{"message", m.WorkspaceID, m.ID} }

// Indexes: by environment, status, direction, both numbers, and what is to do.
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

// Sort is by age.
func (m *Message) Sort() string { return m.ID }

// Sealed returns a copy whose words are sealed.
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

// Unseal restores the words. Rows that were written earlier hold their context
// as it is.
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

// Public is the message as the API shows it.
func (m *Message) Public() *Message {
	c := *m
	c.Todo, c.Answering, c.TriedAt = "", "", nil
	return &c
}
