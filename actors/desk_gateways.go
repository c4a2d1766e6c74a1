package actors

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
)

// maxGateways bounds the SMS gateways of a workspace.
const maxGateways = 50

// CreateSMSGateway keeps a new gateway and answers it with its secret.
func (d *Desk) CreateSMSGateway(ctx context.Context, p domain.Principal, g *domain.SMSGateway) (*domain.SMSGateway, error) {
	if made, err := record.CreatedBySameRequest[domain.SMSGateway](ctx, d.store, p, domain.PrefixGateway); made != nil || err != nil {
		return made, err
	}
	if p.Environment == domain.Test {
		return nil, domain.Errorf(domain.CodeInvalidState, "messages of a test key go to the built-in carrier; a gateway is for a live one")
	}
	if err := d.node.CheckURL(ctx, "url", g.URL); err != nil {
		return nil, err
	}
	n := 0
	if err := commit.Each(ctx, d.store, "sms_gateway", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.SMSGateway) { n++ }); err != nil {
		return nil, record.StoreError(err)
	}
	if n >= maxGateways {
		return nil, domain.Errorf(domain.CodeInvalidState, "a workspace has %d SMS gateways at most", maxGateways)
	}
	if g.Secret == "" {
		g.Secret = record.NewSigningSecret()
	}
	g.SecretHint = webhook.Hint(g.Secret)
	record.SetMeta(&g.Meta, "sms_gateway", p, record.NewID(ctx, domain.PrefixGateway), record.Now())
	g.CreatedBy = p.Creator()
	return g, record.Create(ctx, d.store, g)
}

// SMSGateway reads one.
func (d *Desk) SMSGateway(ctx context.Context, p domain.Principal, id string) (*domain.SMSGateway, error) {
	g, _, err := record.Get[domain.SMSGateway](ctx, d.store, p, domain.PrefixGateway, id)
	return g, err
}

// ListSMSGateways reads a page.
func (d *Desk) ListSMSGateways(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.SMSGateway], error) {
	return record.List[domain.SMSGateway](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixGateway, q, nil)
}

// UpdateSMSGateway changes a gateway. A secret that is emptied is made anew.
func (d *Desk) UpdateSMSGateway(ctx context.Context, p domain.Principal, id string, change func(*domain.SMSGateway) error) (*domain.SMSGateway, error) {
	return record.Update(ctx, d.store, p, domain.PrefixGateway, id, func(g *domain.SMSGateway) error {
		url := g.URL
		if err := change(g); err != nil {
			return err
		}
		if g.Secret == "" {
			g.Secret = record.NewSigningSecret()
		}
		g.SecretHint = webhook.Hint(g.Secret)
		if g.URL == url {
			return nil
		}
		return d.node.CheckURL(ctx, "url", g.URL)
	})
}

// DeleteSMSGateway removes a gateway. What it was given and has not answered
// yet fails as unknown.
func (d *Desk) DeleteSMSGateway(ctx context.Context, p domain.Principal, id string) error {
	return record.Delete[domain.SMSGateway](ctx, d.store, p, domain.PrefixGateway, id)
}

// SMSGatewayEvents takes what a gateway tells, one after the other. What it has
// told before changes nothing; what cannot be taken holds nothing else back.
func (d *Desk) SMSGatewayEvents(ctx context.Context, p domain.Principal, id string, all []ask.GatewayEvent) ([]ask.GatewayTaken, error) {
	g, err := d.SMSGateway(ctx, p, id)
	if err != nil {
		return nil, err
	}
	out := make([]ask.GatewayTaken, 0, len(all))
	for i := range all {
		taken, err := d.gatewayEvent(ctx, p, g, &all[i])
		if e := blame(i, err); e != nil {
			if e.Code == domain.CodeInternal || e.Code == domain.CodeUnavailable {
				return nil, err
			}
			taken = ask.GatewayTaken{Code: e.Code, Message: e.Message, Param: e.Param}
		}
		taken.Index = i
		out = append(out, taken)
	}
	return out, nil
}

func (d *Desk) gatewayEvent(ctx context.Context, p domain.Principal, g *domain.SMSGateway, e *ask.GatewayEvent) (ask.GatewayTaken, error) {
	if e.Type != ask.GatewayReceived {
		m, err := d.Message(ctx, p, e.MessageID)
		if domain.CodeOf(err) == domain.CodeNotFound || err == nil && m.RouteID != g.ID {
			err = &domain.Error{Code: domain.CodeNotFound, Param: "message_id", Message: "there is no such message"}
		}
		if err != nil {
			return ask.GatewayTaken{}, err
		}
		return ask.GatewayTaken{MessageID: m.ID}, d.reported(ctx, m.Key(), &sms.Report{MessageID: m.ID, Status: domain.MessageStatus(e.Type), Code: e.ErrorCode, Text: e.ErrorMessage})
	}
	number, err := d.numberNamed(ctx, p.WorkspaceID, p.Environment, e.To)
	if err != nil {
		return ask.GatewayTaken{}, err
	}
	if number == nil {
		return ask.GatewayTaken{}, record.FieldError("to", domain.CodeValidation, "this is no number of the workspace")
	}
	m := &domain.Message{
		Meta: domain.Meta{WorkspaceID: p.WorkspaceID, Environment: p.Environment}, From: e.From, To: e.To, Body: e.Body, Media: e.Media, RouteID: g.ID,
	}
	seen := seenText(p.WorkspaceID, g.ID, e.ID)
	known, err := d.takeIn(ctx, m, seen)
	if known {
		return ask.GatewayTaken{MessageID: seen.MessageID, Duplicate: true}, nil
	}
	return ask.GatewayTaken{MessageID: m.ID}, err
}
