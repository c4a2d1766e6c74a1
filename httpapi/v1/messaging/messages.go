package messaging

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// Messages sends and reads text messages.
type Messages interface {
	// SendMessage queues a message and returns it with the status queued. Errors: destination_not_allowed,
	// recipient_opted_out, dnc_blocked, spend_cap_reached, and no_sms_route if no trunk or gateway carries messages.
	SendMessage(ctx context.Context, p domain.Principal, o domain.NewMessage) (*domain.Message, error)
	Message(ctx context.Context, p domain.Principal, id string) (*domain.Message, error)
	ListMessages(ctx context.Context, p domain.Principal, q sms.MessageQuery) (record.Page[*domain.Message], error)
	// DeleteMessage deletes a message. It returns invalid_state while the message is being delivered.
	DeleteMessage(ctx context.Context, p domain.Principal, id string) error
	// TestInboundMessage lets the test carrier send a message to the workspace and returns the received message.
	TestInboundMessage(ctx context.Context, p domain.Principal, o sms.InboundMessage) (*domain.Message, error)
}

// messageHandlers serves the operations of text messages.
type messageHandlers struct {
	*router.Router

	messages Messages
}

// NewMessage is a text message in a request body.
type NewMessage struct {
	To       string            `json:"to" doc:"Recipient, preferably in E.164." example:"+15005550000"`
	From     string            `json:"from,omitempty" doc:"Sender: a number of the workspace, or one in caller_ids of a trunk that can carry the message. Default: a number of the trunk or gateway that carries the message."`
	Body     string            `json:"body" doc:"Text, at most 1600 characters. {{name}} and {{name | fallback}} insert variables of context." example:"See you on {{day}}, {{name | there}}."`
	Media    []string          `json:"media,omitempty" nullable:"false" doc:"https URLs of media, at most 10."`
	Context  domain.Context    `json:"context,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// TestMessage is the request body with which a client lets the test carrier send a message.
type TestMessage struct {
	From string `json:"from" example:"+15005550000"`
	To   string `json:"to" example:"+15005550100"`
	Body string `json:"body" example:"STOP"`
}

// registerMessages registers the operations of text messages.
func registerMessages(r *router.Router, messages Messages) {
	s := &messageHandlers{Router: r, messages: messages}
	const tag, path = "SMS", "/v1/sms"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "sendSMS", Tag: tag, Status: http.StatusCreated, Summary: "Send a text message",
		Description: "Returns the message with the status queued; sms.sent, sms.delivered and sms.failed report the result. 403 recipient_opted_out after an opt-out of the recipient, 403 spend_cap_reached once daily_spend_cap is reached. " +
			"With a live key, 409 no_sms_route if no trunk or gateway carries messages. With a test key the test carrier accepts the message. All routes of this path share 100 requests per minute.",
	}, s.sendSMS)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listSMS", Tag: tag, Summary: "List text messages", Errors: []int{http.StatusUnprocessableEntity}}, s.listSMS)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getSMS", Tag: tag, Summary: "Get a text message"},
		router.HandleByID(domain.PrefixMessage, s.messages, Messages.Message, (*domain.Message).Public))
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteSMS", Tag: tag, Summary: "Delete a text message",
		Description: "409 invalid_state while the message is being delivered. Its events, with numbers and the text of an inbound message, remain in the event log until the workspace is deleted.", Errors: []int{http.StatusConflict},
	}, router.HandleDeleteByID(domain.PrefixMessage, "message", s.messages, Messages.DeleteMessage))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/test/inbound-sms", ID: "testInboundSMS", Tag: tag, Status: http.StatusCreated,
		Summary: "Let the test carrier send a text message to the workspace", Description: "With a test key only. sms.received reports the message. A message with only STOP, or another opt-out keyword of carriers, opts its sender out.",
	}, s.testInboundSMS)
}

func (s *messageHandlers) sendSMS(ctx context.Context, p domain.Principal, in *struct{ Body NewMessage }) (*router.Response[*domain.Message], error) {
	var problems domain.Problems
	o := in.Body.Order(&problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	sent, err := s.messages.SendMessage(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return router.RespondCreated(ctx, sent.Public(), nil)
}

// Order converts the request body to a message to send. It adds validation errors to problems.
func (b *NewMessage) Order(problems *domain.Problems) domain.NewMessage {
	o := domain.NewMessage{To: b.To, From: b.From, Body: b.Body, Media: b.Media, Context: b.Context, Metadata: b.Metadata}
	validation.Text(problems, "to", b.To, true, 64)
	validation.Text(problems, "from", b.From, false, 64)
	validation.Message(problems, &o)
	validation.Context(problems, "context", b.Context)
	return o
}

func (s *messageHandlers) testInboundSMS(ctx context.Context, p domain.Principal, in *struct{ Body TestMessage }) (*router.Response[*domain.Message], error) {
	b := &in.Body
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	var problems domain.Problems
	o := sms.InboundMessage{Body: b.Body}
	o.From = validation.Phone(&problems, "from", b.From, w.DefaultCountry)
	o.To = validation.Phone(&problems, "to", b.To, w.DefaultCountry)
	validation.Message(&problems, &domain.NewMessage{Body: b.Body})
	if err = problems.Err(); err != nil {
		return nil, err
	}
	got, err := s.messages.TestInboundMessage(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return router.RespondCreated(ctx, got.Public(), nil)
}

func (s *messageHandlers) listSMS(ctx context.Context, p domain.Principal, in *struct {
	router.Paging
	Status         string `query:"status" enum:"queued,sent,delivered,undelivered,failed,received" doc:"Filters by status."`
	Direction      string `query:"direction" enum:"inbound,outbound" doc:"Filters by direction."`
	To             string `query:"to" maxLength:"40" doc:"Filters by recipient."`
	From           string `query:"from" maxLength:"40" doc:"Filters by sender."`
	ConversationID string `query:"conversation_id" doc:"Filters by conversation."`
},
) (*router.Response[router.List[*domain.Message]], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	q := sms.MessageQuery{PageQuery: in.Query(), Status: domain.MessageStatus(in.Status), Direction: domain.Direction(in.Direction)}
	if q.Conversation, err = router.OptionalID("conversation_id", domain.PrefixConversation, in.ConversationID); err != nil {
		return nil, err
	}
	if q.To, err = router.OptionalPhone("to", in.To, w.DefaultCountry); err != nil {
		return nil, err
	}
	if q.From, err = router.OptionalPhone("from", in.From, w.DefaultCountry); err != nil {
		return nil, err
	}
	l, err := s.messages.ListMessages(ctx, p, q)
	return router.Page(l, err, (*domain.Message).Public)
}
