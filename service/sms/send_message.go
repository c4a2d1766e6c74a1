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

// SendMessage checks a message and queues it durably. In the test environment the test carrier delivers it, in the
// live environment a trunk or a gateway.
func (svc *Service) SendMessage(ctx context.Context, p domain.Principal, o domain.NewMessage) (*domain.Message, error) {
	if created, err := record.CreatedBySameRequest[domain.Message](ctx, svc.store, p, domain.PrefixMessage); created != nil || err != nil {
		return created, err
	}
	return svc.QueueMessage(ctx, p, o, record.RequestResourceID(ctx, domain.PrefixMessage))
}

// QueueMessage does the work of SendMessage for a message whose id is given. The functions in more add changes to the
// commit.
func (svc *Service) QueueMessage(ctx context.Context, p domain.Principal, o domain.NewMessage, id string, more ...func(*commit.Change)) (*domain.Message, error) {
	w := svc.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, svc.cfg.Workspaces.WorkspaceNotFound()
	}
	number, err := svc.cfg.Zones.ParseNumber(o.To, w.DefaultCountry)
	if errors.Is(err, domain.ErrPhoneForbidden) {
		return nil, &domain.Error{Code: domain.CodeDestinationNotAllowed, Param: "to", Message: "to is an emergency number or a short code, to which no messages are sent"}
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
		RequestTrace: tracing.OfRequest(ctx), Direction: domain.Outbound, From: from, To: number.E164, Body: body, Media: o.Media, Status: domain.MessageQueued, Context: o.Context, Todo: firstPendingStep(p.Environment),
	}
	m.ID, m.Metadata = id, o.Metadata
	svc.setMessageMeta(m, p)
	if err = svc.checkSpending(ctx, m); err != nil {
		svc.cfg.Spending.SettleSMS(m, false, false) // an answer after the deadline may have reserved the cost
		return nil, err
	}
	if err = record.Create(ctx, svc.store, m, more...); err != nil {
		svc.cfg.Spending.SettleSMS(m, false, false) // if the commit succeeded after all, the delivery reserves the cost again
		return nil, err
	}
	svc.messages.Wake(p.WorkspaceID)
	return m, nil
}

// checkSpending reserves the cost of a live message in the workspace's daily spend. Errors: spend_cap_reached.
func (svc *Service) checkSpending(ctx context.Context, m *domain.Message) error {
	w := svc.cfg.Workspaces.Workspace(m.WorkspaceID)
	if m.Environment != domain.Live || w == nil || w.Calling.DailySpendCap == nil {
		return nil
	}
	return svc.cfg.Spending.ReserveWithinCap(ctx, w, m.Environment, m.ID, m.To, m.Segments)
}

// checkRoute returns an error if a live message has no route. Errors: no_sms_route, destination_not_allowed.
func (svc *Service) checkRoute(ctx context.Context, p domain.Principal, from, to string) error {
	if p.Environment == domain.Test {
		return nil
	}
	routes, err := svc.routes(ctx, p.WorkspaceID, p.Environment, routing.Call{From: from, To: to})
	if err == nil && len(routes) == 0 {
		return noSMSRouteError()
	}
	return err
}

func noSMSRouteError() error {
	return domain.Errorf(domain.CodeNoSMSRoute, "no trunk and no SMS gateway of this workspace sends messages from and to these numbers; set sms of a trunk or create an SMS gateway")
}

// CheckSMSRoutes returns no_sms_route if the workspace has no trunk and no gateway for live messages.
func (svc *Service) CheckSMSRoutes(ctx context.Context, p domain.Principal) error {
	if p.Environment == domain.Test {
		return nil
	}
	all, _, err := svc.routeSources(ctx, p.WorkspaceID, p.Environment)
	if err == nil && len(all) == 0 {
		err = noSMSRouteError()
	}
	return err
}

// firstPendingStep returns the first processing step of a new outbound message.
func firstPendingStep(env domain.Environment) domain.MessageTodo {
	if env == domain.Test {
		return domain.TodoSend
	}
	return domain.TodoDeliver
}

// setMessageMeta sets id, times, segments and encoding of a new message.
func (svc *Service) setMessageMeta(m *domain.Message, p domain.Principal) {
	if m.ID == "" {
		m.ID = mailbox.NewID(domain.PrefixMessage)
	}
	m.Init("message", p, m.ID, record.Now())
	m.MessageID = m.ID
	m.Segments, m.Encoding = sms.Segments(m.Body)
}

// fillBody replaces the placeholders of the body by the values of the context, and checks the length of the result.
func fillBody(o domain.NewMessage) (string, error) {
	values := make(map[string]string, len(o.Context))
	for name := range o.Context {
		if v, ok := o.Context.Text(name); ok {
			values[name] = v
		}
	}
	body, missing := pathway.FillPlaceholders(o.Body, values)
	var problems domain.Problems
	for _, name := range missing {
		problems.Add("context."+name, domain.CodeValidation, "is required: body uses it and has no fallback")
	}
	if n := utf8.RuneCountInString(body); n > sms.MaxBody {
		problems.Add("body", domain.CodeValidation, "has %d characters after the context is filled in; the maximum is %d", n, sms.MaxBody)
	}
	return body, problems.Err()
}

// CheckRecipient returns an error if a number has opted out or is on the default do-not-call list. Errors:
// opted_out, dnc_blocked.
func (svc *Service) CheckRecipient(ctx context.Context, p domain.Principal, e164 string) error {
	hit, err := svc.cfg.DNC.MatchPhone(ctx, p.WorkspaceID, dnc.DefaultScrub(p.WorkspaceID, p.Environment), e164)
	switch {
	case err != nil:
		return commit.StoreError(err)
	case hit == nil:
		return nil
	case hit.Origin.Source == domain.DNCOptOut:
		return domain.Errorf(domain.CodeOptedOut, "this number has opted out of messages and calls")
	}
	return dnc.NewBlockedError()
}

// Message returns one message. Errors: not_found.
func (svc *Service) Message(ctx context.Context, p domain.Principal, id string) (*domain.Message, error) {
	m, _, err := record.Get[domain.Message](ctx, svc.store, p, domain.PrefixMessage, id)
	return m, err
}

// ListMessages returns a page of messages, read from the most selective index of the query.
func (svc *Service) ListMessages(ctx context.Context, p domain.Principal, q MessageQuery) (record.Page[*domain.Message], error) {
	index, environment := record.EnvironmentIndex(p), string(p.Environment)
	if q.Direction != "" {
		index = "direction=" + environment + "/" + string(q.Direction)
	}
	if q.Status != "" {
		index = "status=" + environment + "/" + string(q.Status)
	}
	if q.From != "" {
		index = "from=" + environment + "/" + q.From
	}
	if q.To != "" {
		index = "to=" + environment + "/" + q.To
	}
	if q.Conversation != "" {
		index = "conversation=" + q.Conversation
	}
	return record.List(ctx, svc.store, p.WorkspaceID, index, domain.PrefixMessage, q.PageQuery, func(m *domain.Message) bool {
		return m.Environment == p.Environment && (q.Conversation == "" || m.ConversationID == q.Conversation) && (q.Status == "" || m.Status == q.Status) && (q.Direction == "" || m.Direction == q.Direction) &&
			(q.To == "" || m.To == q.To) && (q.From == "" || m.From == q.From)
	})
}

// DeleteMessage deletes a message that has no pending processing step. Its events stay. Errors: not_found, invalid_state.
func (svc *Service) DeleteMessage(ctx context.Context, p domain.Principal, id string) error {
	return record.Delete(ctx, svc.store, p, domain.PrefixMessage, id, func(_ *commit.Change, m *domain.Message) error {
		if m.Todo != "" {
			return domain.Errorf(domain.CodeInvalidState, "a message that is being sent cannot be deleted; try again later").With("current_status", m.Status)
		}
		return nil
	})
}
