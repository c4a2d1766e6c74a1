package sms

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/record"
)

// SendMessage checks a message against the rules and queues it durably. In the test
// environment the built-in test carrier takes it, in the live one a trunk or a gateway.
func (svc *Service) SendMessage(ctx context.Context, p domain.Principal, o domain.NewMessage) (*domain.Message, error) {
	if created, err := record.CreatedBySameRequest[domain.Message](ctx, svc.store, p, domain.PrefixMessage); created != nil || err != nil {
		return created, err
	}
	return svc.QueueMessage(ctx, p, o, record.RequestResourceID(ctx, domain.PrefixMessage))
}

// QueueMessage is SendMessage under an id, in one commit with more.
func (svc *Service) QueueMessage(ctx context.Context, p domain.Principal, o domain.NewMessage, id string, more ...func(*commit.Change)) (*domain.Message, error) {
	w := svc.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, svc.cfg.Workspaces.WorkspaceNotFound()
	}
	number, err := svc.cfg.Zones.ParseNumber(o.To, w.DefaultCountry)
	if errors.Is(err, domain.ErrPhoneForbidden) {
		return nil, &domain.Error{Code: domain.CodeDestinationNotAllowed, Param: "to", Message: "to is an emergency number or a short code; these get no messages"}
	}
	if err != nil {
		return nil, domain.FieldError("to", domain.CodeValidation, "to must be a full telephone number, best in E.164")
	}
	if err = number.CheckDestination(w.Calling, w.DefaultCountry, p.Environment); err != nil {
		return nil, err
	}
	body, err := fillBody(o)
	if err != nil {
		return nil, err
	}
	if err = svc.CheckRecipient(ctx, p, number.E164); err != nil {
		return nil, err
	}
	from, err := svc.senderNumber(ctx, p, w, o.From, number.E164)
	if err != nil {
		return nil, err
	}
	if err = svc.checkRoute(ctx, p, from, number.E164); err != nil {
		return nil, err
	}
	m := &domain.Message{
		RequestTrace: tracing.OfRequest(ctx), Direction: domain.Outbound, From: from, To: number.E164, Body: body, Media: o.Media, Status: domain.MessageQueued, Context: o.Context, Todo: firstStep(p.Environment),
	}
	m.ID, m.Metadata = id, o.Metadata
	svc.setMessageMeta(m, p)
	if err = svc.checkSpending(ctx, m); err != nil {
		svc.cfg.Spending.SettleSMS(m, false, false) // a late answer may have reserved it
		return nil, err
	}
	if err = record.Create(ctx, svc.store, m, more...); err != nil {
		svc.cfg.Spending.SettleSMS(m, false, false) // if the commit succeeded after all, it is reserved again before delivery
		return nil, err
	}
	svc.messages.Wake(p.WorkspaceID)
	return m, nil
}

// checkSpending reserves the cost of a live message until it is settled. Errors:
// spend_cap_reached.
func (svc *Service) checkSpending(ctx context.Context, m *domain.Message) error {
	w := svc.cfg.Workspaces.Workspace(m.WorkspaceID)
	if m.Environment != domain.Live || w == nil || w.Calling.DailySpendCap == nil {
		return nil
	}
	return svc.cfg.Spending.ReserveWithinCap(ctx, w, m.Environment, m.ID, m.To, m.Segments)
}

// checkRoute refuses a live message without a route; the trunk of the sender decides the
// route. Errors: no_sms_route, destination_not_allowed.
func (svc *Service) checkRoute(ctx context.Context, p domain.Principal, from, to string) error {
	if p.Environment == domain.Test {
		return nil
	}
	routes, err := svc.routes(ctx, p.WorkspaceID, p.Environment, routing.Call{From: from, To: to})
	if err == nil && len(routes) == 0 {
		return errNoSMSRoute()
	}
	return err
}

func errNoSMSRoute() error {
	return domain.Errorf(domain.CodeNoSMSRoute, "no trunk and no SMS gateway of this workspace carries such text messages; with a test key the built-in carrier takes them")
}

// CheckSMSRoutes returns no_sms_route if no trunk and no gateway carries live messages.
func (svc *Service) CheckSMSRoutes(ctx context.Context, p domain.Principal) error {
	if p.Environment == domain.Test {
		return nil
	}
	all, _, err := svc.routeSources(ctx, p.WorkspaceID, p.Environment)
	if err == nil && len(all) == 0 {
		err = errNoSMSRoute()
	}
	return err
}

// firstStep returns the first step of a queued message.
func firstStep(env domain.Environment) domain.MessageTodo {
	if env == domain.Test {
		return domain.TodoSend
	}
	return domain.TodoDeliver
}

// setMessageMeta sets the fields that every new message has.
func (svc *Service) setMessageMeta(m *domain.Message, p domain.Principal) {
	if m.ID == "" {
		m.ID = mailbox.NewID(domain.PrefixMessage)
	}
	m.Init("message", p, m.ID, record.Now())
	m.MessageID = m.ID
	m.Segments, m.Encoding = sms.Segments(m.Body)
}

// fillBody fills the context into the body and checks its length.
func fillBody(o domain.NewMessage) (string, error) {
	values := make(map[string]string, len(o.Context))
	for name := range o.Context {
		if v, ok := o.Context.Text(name); ok {
			values[name] = v
		}
	}
	body, left := pathway.FillPlaceholders(o.Body, values)
	var problems domain.Problems
	for _, name := range left {
		problems.Add("context."+name, domain.CodeValidation, "is required: body uses it and has no fallback")
	}
	if n := utf8.RuneCountInString(body); n > sms.MaxBody {
		problems.Add("body", domain.CodeValidation, "has %d letters once the context is filled in; %d at most", n, sms.MaxBody)
	}
	return body, problems.Err()
}

// CheckRecipient refuses a number that opted out or is on the default do-not-call list. Errors:
// opted_out, dnc_blocked.
func (svc *Service) CheckRecipient(ctx context.Context, p domain.Principal, e164 string) error {
	hit, err := svc.cfg.DNC.MatchPhone(ctx, p.WorkspaceID, dnc.DefaultScrub(p.WorkspaceID, p.Environment), e164)
	switch {
	case err != nil:
		return commit.StoreError(err)
	case hit == nil:
		return nil
	case hit.Origin.Source == domain.DNCOptOut:
		return domain.Errorf(domain.CodeOptedOut, "this number has asked for no more messages and calls")
	}
	return dnc.NewBlockedError()
}

// Message returns a message.
func (svc *Service) Message(ctx context.Context, p domain.Principal, id string) (*domain.Message, error) {
	m, _, err := record.Get[domain.Message](ctx, svc.store, p, domain.PrefixMessage, id)
	return m, err
}

// ListMessages returns a page of the narrowest index that a query names.
func (svc *Service) ListMessages(ctx context.Context, p domain.Principal, q MessageQuery) (record.Page[*domain.Message], error) {
	index, e := record.EnvironmentIndex(p), string(p.Environment)
	if q.Direction != "" {
		index = "direction=" + e + "/" + string(q.Direction)
	}
	if q.Status != "" {
		index = "status=" + e + "/" + string(q.Status)
	}
	if q.From != "" {
		index = "from=" + e + "/" + q.From
	}
	if q.To != "" {
		index = "to=" + e + "/" + q.To
	}
	if q.Conversation != "" {
		index = "conversation=" + q.Conversation
	}
	return record.List(ctx, svc.store, p.WorkspaceID, index, domain.PrefixMessage, q.PageQuery, func(m *domain.Message) bool {
		return m.Environment == p.Environment && (q.Conversation == "" || m.ConversationID == q.Conversation) && (q.Status == "" || m.Status == q.Status) && (q.Direction == "" || m.Direction == q.Direction) &&
			(q.To == "" || m.To == q.To) && (q.From == "" || m.From == q.From)
	})
}

// DeleteMessage deletes a message. Its events stay.
func (svc *Service) DeleteMessage(ctx context.Context, p domain.Principal, id string) error {
	return record.Delete(ctx, svc.store, p, domain.PrefixMessage, id, func(_ *commit.Change, m *domain.Message) error {
		if m.Todo != "" {
			return domain.Errorf(domain.CodeInvalidState, "a message that is on its way cannot be deleted").With("current_status", m.Status)
		}
		return nil
	})
}
