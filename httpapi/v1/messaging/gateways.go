package messaging

import (
	"context"
	"net/http"
	"strconv"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// Gateways manages SMS gateways, which carry text messages over HTTP.
type Gateways interface {
	// CreateSMSGateway stores a gateway. It creates the gateway's secret if g has none. Errors: invalid_state for a test
	// key, 422 invalid_url for a URL at a forbidden address.
	CreateSMSGateway(ctx context.Context, p domain.Principal, g *domain.SMSGateway) (*domain.SMSGateway, error)
	SMSGateway(ctx context.Context, p domain.Principal, id string) (*domain.SMSGateway, error)
	ListSMSGateways(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.SMSGateway], error)
	// UpdateSMSGateway applies change to a gateway. If the changed gateway has an empty secret, it gets a new one.
	UpdateSMSGateway(ctx context.Context, p domain.Principal, id string, change func(*domain.SMSGateway) error) (*domain.SMSGateway, error)
	DeleteSMSGateway(ctx context.Context, p domain.Principal, id string) error
	// SMSGatewayEvents processes events that a gateway reports and returns a result for each event. After an error some of
	// the events may be stored. The gateway can safely send all of them again.
	SMSGatewayEvents(ctx context.Context, p domain.Principal, id string, all []sms.GatewayEvent) ([]sms.GatewayResult, error)
}

// gatewayHandlers serves the operations of SMS gateways.
type gatewayHandlers struct {
	*router.Router

	gateways Gateways
}

// NewSMSGateway is an SMS gateway in a request body.
type NewSMSGateway struct {
	Name     string            `json:"name" example:"House gateway"`
	URL      string            `json:"url" doc:"https URL at an allowed address that receives the messages." example:"https://example.com/sms"`
	Secret   string            `json:"secret,omitempty" doc:"Secret that signs the requests like webhook deliveries. Default: Callboard creates one."`
	Prefixes []string          `json:"prefixes,omitempty" nullable:"false" doc:"Number prefixes that the gateway carries; empty: all. The trunk or gateway with the longest matching prefix carries a message."`
	Priority int               `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Priority among gateways and trunks with the same prefix length; lower first."`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// apply copies the settings of the request body to g and validates g.
func (n *NewSMSGateway) apply(g *domain.SMSGateway) error {
	g.Name, g.URL, g.Secret, g.Prefixes, g.Priority, g.Metadata = n.Name, n.URL, n.Secret, n.Prefixes, n.Priority, n.Metadata
	return validation.SMSGateway(g).Err()
}

// SMSGatewayEvent is an event that a gateway reports.
type SMSGatewayEvent struct {
	Type         string   `json:"type" enum:"received,delivered,undelivered,failed" doc:"received reports an inbound message. The other types report the state of a message that was sent to the gateway."`
	MessageID    string   `json:"message_id,omitempty" doc:"For delivered, undelivered and failed: the message_id of the message." example:"msg_01JH0000000000000000000000"`
	ErrorCode    string   `json:"error_code,omitempty" doc:"For undelivered and failed: an error code."`
	ErrorMessage string   `json:"error_message,omitempty" doc:"For undelivered and failed: an error message."`
	ID           string   `json:"id,omitempty" doc:"For received: the gateway's id of the message. Repeated events with the same id are stored once."`
	From         string   `json:"from,omitempty" doc:"For received: the sender, preferably in E.164." example:"+12025550123"`
	To           string   `json:"to,omitempty" doc:"For received: a number of the workspace." example:"+12025550100"`
	Body         string   `json:"body,omitempty" doc:"For received: the text, at most 1600 characters." example:"Yes, please."`
	Media        []string `json:"media,omitempty" nullable:"false" doc:"For received: https URLs of media, at most 10."`
}

// SMSGatewayEvents is a list of gateway events.
type SMSGatewayEvents struct {
	Events []SMSGatewayEvent `json:"events" nullable:"false" minItems:"1" maxItems:"100" doc:"1 to 100 events, in the order of processing."`
}

// SMSGatewayResult is the result of processing one gateway event.
type SMSGatewayResult struct {
	Index     int               `json:"index" doc:"Index of the event, from 0."`
	MessageID string            `json:"message_id,omitempty" doc:"The created or changed message; empty after an error."`
	Duplicate bool              `json:"duplicate" doc:"true: the event was already reported."`
	Error     *domain.BulkError `json:"error,omitempty" doc:"Final error of the event; do not send the event again."`
}

// SMSGatewayResults is the response with the results of all gateway events of a request.
type SMSGatewayResults struct {
	Results []SMSGatewayResult `json:"results" doc:"One result for each event, in the same order."`
}

// registerGateways registers the operations of SMS gateways.
func registerGateways(r *router.Router, gateways Gateways) {
	s := &gatewayHandlers{Router: r, gateways: gateways}
	const tag, path = "SMS", "/v1/sms-gateways"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createSMSGateway", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create an SMS gateway",
		Description: "Callboard sends live messages to the URL as JSON {message_id, from, to, body, media, segments, encoding, created_at}, signed like webhook deliveries, " +
			"with the message id as Idempotency-Key. The same key marks a repeated message after a missing response. Any 2xx means that the gateway has accepted the message. 408, 425, 429, 5xx and timeouts are retried " +
			"(Retry-After is respected), any other status is final. Only this response contains the secret. 409 invalid_state with a test key.",
		Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewSMSGateway }) (*router.Response[*domain.SMSGateway], error) {
		g := &domain.SMSGateway{}
		if err := in.Body.apply(g); err != nil {
			return nil, err
		}
		created, err := s.gateways.CreateSMSGateway(ctx, p, g)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, created, nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listSMSGateways", Tag: tag, Summary: "List SMS gateways"},
		router.HandleList(s.gateways, Gateways.ListSMSGateways, (*domain.SMSGateway).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getSMSGateway", Tag: tag, Summary: "Get an SMS gateway"},
		router.HandleByID(domain.PrefixGateway, s.gateways, Gateways.SMSGateway, (*domain.SMSGateway).Public))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", ID: "updateSMSGateway", Credential: router.KeyOrSession, Tag: tag, Summary: "Change an SMS gateway",
		Description: "Only this response contains a changed secret.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		Body router.Patch[NewSMSGateway]
	},
	) (*router.Response[*domain.SMSGateway], error) {
		id, err := router.PathID(domain.PrefixGateway, in.ID)
		if err != nil {
			return nil, err
		}
		g, err := s.gateways.UpdateSMSGateway(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, (*NewSMSGateway).apply))
		if err == nil && in.Body.Has("secret") {
			return &router.Response[*domain.SMSGateway]{Body: g}, nil
		}
		return router.RespondPublic(g, err)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteSMSGateway", Tag: tag, Summary: "Delete an SMS gateway"},
		router.HandleDeleteByID(domain.PrefixGateway, "sms_gateway", s.gateways, Gateways.DeleteSMSGateway))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/events", ID: "tellSMSGatewayEvents", Tag: tag, Summary: "Report message events, for a gateway",
		Description: "The gateway reports inbound messages and the state of messages that were sent to it, with an API key of the workspace. 200 means that all events are stored. After any other response, or none, send all events again. " +
			"An invalid event, such as one with an unknown number or message, has an error in its result and does not affect other events.",
		Errors: []int{http.StatusUnprocessableEntity},
	}, s.gatewayEvents)
}

func (s *gatewayHandlers) gatewayEvents(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body SMSGatewayEvents
},
) (*router.Response[SMSGatewayResults], error) {
	id, err := router.PathID(domain.PrefixGateway, in.ID)
	if err != nil {
		return nil, err
	}
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	var problems domain.Problems
	all := make([]sms.GatewayEvent, len(in.Body.Events))
	for i := range in.Body.Events {
		all[i] = in.Body.Events[i].gatewayEvent(&problems, "events["+strconv.Itoa(i)+"].", w.DefaultCountry)
	}
	if err = problems.Err(); err != nil {
		return nil, err
	}
	taken, err := s.gateways.SMSGatewayEvents(ctx, p, id, all)
	if err != nil {
		return nil, err
	}
	out := SMSGatewayResults{Results: make([]SMSGatewayResult, len(taken))}
	for i, t := range taken {
		out.Results[i] = SMSGatewayResult{Index: t.Index, MessageID: t.MessageID, Duplicate: t.Duplicate}
		if t.Code != "" {
			out.Results[i].Error = &domain.BulkError{Index: t.Index, Code: t.Code, Message: t.Message, Param: t.Param}
		}
	}
	return &router.Response[SMSGatewayResults]{Body: out}, nil
}

// gatewayEvent converts a reported event to its domain form. It adds validation errors to p, with at as the prefix of
// the parameter names.
func (e *SMSGatewayEvent) gatewayEvent(p *domain.Problems, at, country string) sms.GatewayEvent {
	o := sms.GatewayEvent{Type: e.Type, MessageID: e.MessageID, ID: e.ID, Body: e.Body, Media: e.Media, ErrorCode: e.ErrorCode, ErrorMessage: e.ErrorMessage}
	validation.Text(p, at+"error_code", e.ErrorCode, false, 64)
	validation.Text(p, at+"error_message", e.ErrorMessage, false, 256)
	if e.Type != sms.GatewayReceived {
		validation.Text(p, at+"message_id", e.MessageID, true, 64)
		o.MessageID = validation.ID(p, at+"message_id", domain.PrefixMessage, e.MessageID)
		return o
	}
	validation.Text(p, at+"id", e.ID, true, 256)
	validation.Text(p, at+"from", e.From, true, 64)
	if o.From = e.From; e.From != "" { // may be a short code or a sender name
		if e164, err := domain.E164(e.From, country); err == nil {
			o.From = e164
		}
	}
	o.To = validation.Phone(p, at+"to", e.To, country)
	var inner domain.Problems
	validation.Message(&inner, &domain.NewMessage{Body: e.Body, Media: e.Media})
	for _, x := range inner {
		p.Add(at+x.Param, x.Code, "%s", x.Message)
	}
	return o
}

// CheckRules returns the violations of rules that the JSON schema cannot express, such as the form of the URL.
func (n *NewSMSGateway) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.SMSGateway{})
}
