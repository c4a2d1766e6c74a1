package sms

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
)

// maxGateways is the maximum number of SMS gateways of a workspace.
const maxGateways = 50

// CreateSMSGateway creates a gateway. A gateway without a secret gets a random secret.
func (svc *Service) CreateSMSGateway(ctx context.Context, p domain.Principal, g *domain.SMSGateway) (*domain.SMSGateway, error) {
	if created, err := record.CreatedBySameRequest[domain.SMSGateway](ctx, svc.store, p, domain.PrefixGateway); created != nil || err != nil {
		return created, err
	}
	if p.Environment == domain.Test {
		return nil, domain.Errorf(domain.CodeInvalidState, "messages with a test key go to the test carrier; create gateways with a live key")
	}
	if err := svc.cfg.URLs.CheckURL(ctx, "url", g.URL); err != nil {
		return nil, err
	}
	n := 0
	if err := commit.ForEachRow(ctx, svc.store, "sms_gateway", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.SMSGateway) { n++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if n >= maxGateways {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d SMS gateways, which is the maximum; delete one first", maxGateways)
	}
	if g.Secret == "" {
		g.Secret = record.NewSigningSecret()
	}
	g.SecretHint = webhook.SecretHint(g.Secret)
	g.Init("sms_gateway", p, record.RequestResourceID(ctx, domain.PrefixGateway), record.Now())
	g.CreatedBy = p.Creator()
	return g, record.Create(ctx, svc.store, g)
}

// SMSGateway returns one gateway. Errors: not_found.
func (svc *Service) SMSGateway(ctx context.Context, p domain.Principal, id string) (*domain.SMSGateway, error) {
	g, _, err := record.Get[domain.SMSGateway](ctx, svc.store, p, domain.PrefixGateway, id)
	return g, err
}

// ListSMSGateways returns a page of gateways.
func (svc *Service) ListSMSGateways(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.SMSGateway], error) {
	return record.List[domain.SMSGateway](ctx, svc.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixGateway, q, nil)
}

// UpdateSMSGateway changes a gateway. An empty secret is replaced by a random one.
func (svc *Service) UpdateSMSGateway(ctx context.Context, p domain.Principal, id string, change func(*domain.SMSGateway) error) (*domain.SMSGateway, error) {
	return record.Update(ctx, svc.store, p, domain.PrefixGateway, id, func(g *domain.SMSGateway) error {
		url := g.URL
		if err := change(g); err != nil {
			return err
		}
		if g.Secret == "" {
			g.Secret = record.NewSigningSecret()
		}
		g.SecretHint = webhook.SecretHint(g.Secret)
		if g.URL == url {
			return nil
		}
		return svc.cfg.URLs.CheckURL(ctx, "url", g.URL)
	})
}

// DeleteSMSGateway deletes a gateway. Its messages without a delivery report fail with the reason unknown.
func (svc *Service) DeleteSMSGateway(ctx context.Context, p domain.Principal, id string) error {
	return record.Delete[domain.SMSGateway](ctx, svc.store, p, domain.PrefixGateway, id)
}

// SMSGatewayEvents applies events of a gateway in order. A repeated event changes nothing. An invalid event gets an
// error and does not stop the following events.
func (svc *Service) SMSGatewayEvents(ctx context.Context, p domain.Principal, id string, all []GatewayEvent) ([]GatewayResult, error) {
	g, err := svc.SMSGateway(ctx, p, id)
	if err != nil {
		return nil, err
	}
	out := make([]GatewayResult, 0, len(all))
	for i := range all {
		result, err := svc.applyGatewayEvent(ctx, p, g, &all[i])
		if err != nil {
			e, ok := errors.AsType[*domain.Error](err)
			if !ok || e.Code == domain.CodeInternal || e.Code == domain.CodeUnavailable {
				return nil, err
			}
			result = GatewayResult{Code: e.Code, Message: e.Message, Param: e.Param}
		}
		result.Index = i
		out = append(out, result)
	}
	return out, nil
}

func (svc *Service) applyGatewayEvent(ctx context.Context, p domain.Principal, g *domain.SMSGateway, e *GatewayEvent) (GatewayResult, error) {
	if e.Type != GatewayReceived {
		m, err := svc.Message(ctx, p, e.MessageID)
		if domain.CodeOf(err) == domain.CodeNotFound || err == nil && m.RouteID != g.ID {
			err = &domain.Error{Code: domain.CodeNotFound, Param: "message_id", Message: "there is no such message"}
		}
		if err != nil {
			return GatewayResult{}, err
		}
		return GatewayResult{MessageID: m.ID}, svc.ApplyReport(ctx, m.Key(), &sms.Report{MessageID: m.ID, Status: domain.MessageStatus(e.Type), Code: e.ErrorCode, Text: e.ErrorMessage})
	}
	number, err := svc.cfg.Numbers.LiveNumber(ctx, p.WorkspaceID, p.Environment, e.To)
	if err != nil {
		return GatewayResult{}, err
	}
	if number == nil {
		return GatewayResult{}, domain.FieldError("to", domain.CodeValidation, "to is not a number of the workspace")
	}
	m := &domain.Message{
		Meta: domain.Meta{WorkspaceID: p.WorkspaceID, Environment: p.Environment}, From: e.From, To: e.To, Body: e.Body, Media: e.Media, RouteID: g.ID,
	}
	seen := newSeenMessage(p.WorkspaceID, g.ID, e.ID)
	known, err := svc.ReceiveMessage(ctx, m, seen)
	if known {
		return GatewayResult{MessageID: seen.MessageID, Duplicate: true}, nil
	}
	return GatewayResult{MessageID: m.ID}, err
}
