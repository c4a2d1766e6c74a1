package sms

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/domain/sms"
	domainwebhook "github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/textmessage"
)

// route is a way to send a message: one proxy of a trunk, or a gateway.
type route struct {
	trunk   *domain.Trunk
	proxy   domain.Proxy
	gateway *domain.SMSGateway
}

func (r *route) id() string {
	if r.gateway != nil {
		return r.gateway.ID
	}
	return r.trunk.ID
}

// routes returns the routes of a message, best first. Trunks and gateways are ordered by the longest matching
// prefix and their priority, and the proxies of a trunk by their priority. If the sender is a number of a trunk
// with SMS, only that trunk is used. Errors: destination_not_allowed if the matching trunks must not dial the
// number, caller_id_not_allowed if no trunk may show the sender, errors of the store.
func (svc *Service) routes(ctx context.Context, workspaceID string, env domain.Environment, call routing.Call) ([]route, error) {
	all, gateways, err := svc.routeSources(ctx, workspaceID, env)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	call.Environment = env
	own, err := svc.cfg.Numbers.LiveNumber(ctx, workspaceID, env, call.From)
	if err != nil {
		return nil, err
	}
	if own != nil && slices.ContainsFunc(all, func(t *domain.Trunk) bool { return t.ID == own.TrunkID }) {
		call.TrunkID = own.TrunkID
	}
	var out []route
	best, refused := routing.SelectTrunks(all, call)
	for _, i := range best {
		if g := gateways[all[i].ID]; g != nil {
			out = append(out, route{gateway: g})
			continue
		}
		proxies := slices.Clone(all[i].Proxies)
		slices.SortStableFunc(proxies, func(a, b domain.Proxy) int { return a.Priority - b.Priority })
		for _, p := range proxies {
			out = append(out, route{trunk: all[i], proxy: p})
		}
	}
	return out, refused
}

// routeSources returns the trunks with SMS, and the gateways by id. The trunks include one stand-in for each gateway,
// because routing.Trunks selects among trunks. CallerIDs of a trunk are the sender numbers that it may show. A gateway
// may show all numbers of the workspace.
func (svc *Service) routeSources(ctx context.Context, workspaceID string, env domain.Environment) ([]*domain.Trunk, map[string]*domain.SMSGateway, error) {
	var all []*domain.Trunk
	gateways := make(map[string]*domain.SMSGateway)
	numbers, err := svc.cfg.Numbers.LiveNumbers(ctx, workspaceID, env)
	if err != nil {
		return nil, nil, err
	}
	shown, err := svc.cfg.Numbers.CallerIDs(ctx, domain.Principal{WorkspaceID: workspaceID, Environment: env})
	if err != nil {
		return nil, nil, err
	}
	err = commit.ForEachRow(ctx, svc.store, "trunk", workspaceID, "env="+string(env), func(t *domain.Trunk) {
		if (t.SMS == domain.SMSPlain || t.SMS == domain.SMSIMDN) && !t.Simulator {
			t.CallerIDs = trunk.CallerIDs(t, numbers)
			all = append(all, t)
		}
	})
	if err == nil {
		err = commit.ForEachRow(ctx, svc.store, "sms_gateway", workspaceID, "env="+string(env), func(g *domain.SMSGateway) {
			gateways[g.ID] = g
			all = append(all, &domain.Trunk{Meta: g.Meta, Prefixes: g.Prefixes, Priority: g.Priority, CallerIDs: shown})
		})
	}
	return all, gateways, commit.StoreError(err)
}

// resumableRoute returns the route over which an interrupted delivery can be repeated without a second delivery;
// nil if there is none. A gateway recognizes the message id. A SIP peer treats the repeated request as a
// retransmission for a limited time.
func resumableRoute(routes []route, m *domain.Message) *route {
	for i := range routes {
		w := &routes[i]
		if w.id() != m.RouteID {
			continue
		}
		if w.gateway != nil || m.TriedAt != nil && sms.CanRetransmit(w.trunk, m.Body, time.Since(*m.TriedAt)) {
			return w
		}
	}
	return nil
}

// send sends a message over a route and returns the carrier's answer. It returns an error only if the process ends.
func (svc *Service) send(ctx context.Context, m *domain.Message, by *route) (sms.CarrierResponse, error) {
	if by.gateway != nil {
		return svc.sendByGateway(ctx, m, by.gateway), ctx.Err()
	}
	return svc.sendByTrunk(ctx, m, by)
}

// sendByTrunk sends a message as a SIP MESSAGE request (RFC 3428).
func (svc *Service) sendByTrunk(ctx context.Context, m *domain.Message, by *route) (sms.CarrierResponse, error) {
	t, p := by.trunk, by.proxy
	dialled, err := t.DialString(m.To)
	if err != nil {
		return sms.CarrierResponse{Unsent: true}, nil //nolint:nilerr // the answer reports it
	}
	out := &textmessage.Message{
		Environment: m.Environment,
		Name:        m.ID + " " + strconv.Itoa(m.Tries), To: dialled, From: t.FormatNumber(m.From), FromDomain: t.FromDomain,
		Target: resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport, TrunkID: t.ID}, ContentType: sms.TypePlain, Body: []byte(m.Body),
	}
	if p := t.OutboundProxy; p != nil {
		out.Proxy = &resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport, TrunkID: t.ID}
	}
	if a := t.Auth; a != nil {
		out.Credentials = &auth.Credentials{Username: a.Username, Password: a.Password, Realm: a.Realm}
	}
	if t.SMS == domain.SMSIMDN {
		host := t.FromDomain
		if host == "" {
			host = p.Host
		}
		e := sms.Envelope{ID: m.ID, From: "sip:" + out.From + "@" + host, To: "sip:" + out.To + "@" + p.Host, At: m.CreatedAt, Body: m.Body}
		out.ContentType, out.Body = sms.TypeCPIM, e.Wrap()
	}
	f, err := svc.cfg.SIP.Send(ctx, out)
	if ctx.Err() != nil {
		return sms.CarrierResponse{}, ctx.Err()
	}
	if err != nil { // the trunk cannot be used, nothing was sent
		return sms.CarrierResponse{Unsent: true}, nil //nolint:nilerr // the answer reports it
	}
	return sms.CarrierResponse{Code: f.Code, RetryAfter: f.RetryAfter}, nil
}

// GatewayMessage is the request body for an SMS gateway.
type GatewayMessage struct {
	MessageID string                 `json:"message_id"`
	From      string                 `json:"from"`
	To        string                 `json:"to"`
	Body      string                 `json:"body"`
	Media     []string               `json:"media"`
	Segments  int                    `json:"segments"`
	Encoding  domain.MessageEncoding `json:"encoding"`
	CreatedAt time.Time              `json:"created_at"`
}

// sendByGateway posts a message to a gateway, signed like a webhook delivery. A repeated request has the same
// Idempotency-Key.
func (svc *Service) sendByGateway(ctx context.Context, m *domain.Message, g *domain.SMSGateway) sms.CarrierResponse {
	media := m.Media
	if media == nil {
		media = []string{}
	}
	body, err := domain.EncodeJSON(GatewayMessage{m.ID, m.From, m.To, m.Body, media, m.Segments, m.Encoding, m.CreatedAt})
	if err != nil {
		return sms.CarrierResponse{HTTP: true, Unsent: true}
	}
	signed := domainwebhook.SignedRequest{EventID: m.ID, Number: max(m.Tries, 1), First: m.CreatedAt, At: time.Now(), Secret: g.Secret}
	a := svc.cfg.Gateways.Send(ctx, webhook.Request{
		URL: g.URL, Body: body, Header: append(signed.SignedHeaders(body), domainwebhook.Header{Name: "Idempotency-Key", Value: m.ID}),
	})
	return sms.CarrierResponse{HTTP: true, Code: a.Status, RetryAfter: a.RetryAfter}
}
