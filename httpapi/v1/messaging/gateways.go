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

// Gateways carry text messages over HTTP.
type Gateways interface {
	// CreateSMSGateway makes the secret where it is empty. invalid_state with a
	// test key; a URL outside Egress: 422 invalid_url.
	CreateSMSGateway(ctx context.Context, p domain.Principal, g *domain.SMSGateway) (*domain.SMSGateway, error)
	SMSGateway(ctx context.Context, p domain.Principal, id string) (*domain.SMSGateway, error)
	ListSMSGateways(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.SMSGateway], error)
	// UpdateSMSGateway: an emptied secret is made anew.
	UpdateSMSGateway(ctx context.Context, p domain.Principal, id string, change func(*domain.SMSGateway) error) (*domain.SMSGateway, error)
	DeleteSMSGateway(ctx context.Context, p domain.Principal, id string) error
	// SMSGatewayEvents answers for each event what became of it, in their order.
	// After an error some may have been taken; all may be told again.
	SMSGatewayEvents(ctx context.Context, p domain.Principal, id string, all []sms.GatewayEvent) ([]sms.GatewayResult, error)
}

// gatewayHandlers serves the operations of SMS gateways.
type gatewayHandlers struct {
	*router.Router

	gateways Gateways
}

// NewSMSGateway is a gateway as it is sent.
type NewSMSGateway struct {
	Name     string            `json:"name" example:"House gateway"`
	URL      string            `json:"url" doc:"Where messages are posted: https only, at an address that may be reached." example:"https://example.com/sms"`
	Secret   string            `json:"secret,omitempty" doc:"Signs what is posted, as a webhook's does. Default: Callboard makes one."`
	Prefixes []string          `json:"prefixes,omitempty" nullable:"false" doc:"Numbers that it takes; empty: all. Of trunks and gateways the one with the longest is taken."`
	Priority int               `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Among those of one prefix length: lower first."`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// apply writes the settings to a gateway, and checks the gateway.
func (n *NewSMSGateway) apply(g *domain.SMSGateway) error {
	g.Name, g.URL, g.Secret, g.Prefixes, g.Priority, g.Metadata = n.Name, n.URL, n.Secret, n.Prefixes, n.Priority, n.Metadata
	return validation.SMSGateway(g).Err()
}

// SMSGatewayEvent is what a gateway tells.
type SMSGatewayEvent struct {
	Type         string   `json:"type" enum:"received,delivered,undelivered,failed" doc:"received tells of a message that came in, the others of one that was posted to the gateway."`
	MessageID    string   `json:"message_id,omitempty" doc:"Of delivered, undelivered and failed: the message_id that was posted." example:"msg_01JH0000000000000000000000"`
	ErrorCode    string   `json:"error_code,omitempty" doc:"Of undelivered and failed: why, in a word."`
	ErrorMessage string   `json:"error_message,omitempty" doc:"The same for people."`
	ID           string   `json:"id,omitempty" doc:"Of received: the gateway's own name for the message. Told again, it is taken once."`
	From         string   `json:"from,omitempty" doc:"Of received, best in E.164." example:"+12025550123"`
	To           string   `json:"to,omitempty" doc:"Of received: a number of the workspace." example:"+12025550100"`
	Body         string   `json:"body,omitempty" doc:"Of received: at most 1600 characters." example:"Yes, please."`
	Media        []string `json:"media,omitempty" nullable:"false" doc:"Of received: addresses of pictures and the like, https only; 10 at most."`
}

// SMSGatewayEvents are some of them.
type SMSGatewayEvents struct {
	Events []SMSGatewayEvent `json:"events" nullable:"false" minItems:"1" maxItems:"100" doc:"1 to 100, in the order in which they are to be taken."`
}

// SMSGatewayResult is what became of one event.
type SMSGatewayResult struct {
	Index     int               `json:"index" doc:"Its place among the events, from 0."`
	MessageID string            `json:"message_id,omitempty" doc:"The message it made or changed; empty where it was not taken."`
	Duplicate bool              `json:"duplicate" doc:"It was told before."`
	Error     *domain.BulkError `json:"error,omitempty" doc:"Why it cannot be taken: telling it again will not help."`
}

// SMSGatewayResults are what became of the events.
type SMSGatewayResults struct {
	Results []SMSGatewayResult `json:"results" doc:"One for each event, in their order."`
}

// registerGateways registers the operations of SMS gateways.
func registerGateways(r *router.Router, gateways Gateways) {
	s := &gatewayHandlers{Router: r, gateways: gateways}
	const tag, path = "SMS", "/v1/sms-gateways"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createSMSGateway", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create an SMS gateway",
		Description: "Live messages that it may take are posted to its URL as JSON {message_id, from, to, body, media, segments, encoding, created_at}, signed as deliveries of events are, " +
			"with the message's id as Idempotency-Key: the same key is the same message, sent again because no answer was seen. Any 2xx says that the gateway has it; 408, 425, 429, 5xx and silence are tried again " +
			"(Retry-After is honoured), anything else is final. The secret is in this answer only. 409 invalid_state with a test key.",
		Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewSMSGateway }) (*router.Response[*domain.SMSGateway], error) {
		g := &domain.SMSGateway{}
		if err := in.Body.apply(g); err != nil {
			return nil, err
		}
		made, err := s.gateways.CreateSMSGateway(ctx, p, g)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, made, nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listSMSGateways", Tag: tag, Summary: "List SMS gateways"},
		router.HandleList(s.gateways, Gateways.ListSMSGateways, (*domain.SMSGateway).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getSMSGateway", Tag: tag, Summary: "Get an SMS gateway"},
		router.HandleByID(domain.PrefixGateway, s.gateways, Gateways.SMSGateway, (*domain.SMSGateway).Public))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", ID: "updateSMSGateway", Credential: router.KeyOrSession, Tag: tag, Summary: "Change an SMS gateway",
		Description: "A changed secret is in this answer only.",
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
		Method: http.MethodPost, Path: path + "/{id}/events", ID: "tellSMSGatewayEvents", Tag: tag, Summary: "Tell of messages, as a gateway",
		Description: "For the gateway, with an API key of the workspace: what came in, and what became of messages that were posted to it. 200 says that all of it is stored; after anything else, or no answer, it is told again as a whole. " +
			"What cannot be taken (an unknown number or message) has an error in its result and holds nothing else back.",
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

// gatewayEvent notes what is wrong with an event.
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
	if o.From = e.From; e.From != "" { // it may be a short code or a name
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

// CheckRules checks what the schema cannot express.
func (n *NewSMSGateway) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.SMSGateway{})
}
