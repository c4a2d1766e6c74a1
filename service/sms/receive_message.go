package sms

import (
	"context"
	"errors"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/service/record"
)

// TestInboundMessage receives a message from the test carrier.
func (svc *Service) TestInboundMessage(ctx context.Context, p domain.Principal, o InboundMessage) (*domain.Message, error) {
	if p.Environment != domain.Test {
		return nil, domain.Errorf(domain.CodeInvalidState, "the test carrier sends messages only for keys of the test environment")
	}
	if created, err := record.CreatedBySameRequest[domain.Message](ctx, svc.store, p, domain.PrefixMessage); created != nil || err != nil {
		return created, err
	}
	m := &domain.Message{
		Meta: domain.Meta{ID: record.RequestResourceID(ctx, domain.PrefixMessage), WorkspaceID: p.WorkspaceID, Environment: p.Environment},
		From: o.From, To: o.To, Body: o.Body, Media: o.Media,
	}
	_, err := svc.ReceiveMessage(ctx, m, nil)
	return m, err
}

// ReceiveMessage stores an inbound message with its event, opt-out and pending reply. If seen is not nil, a repeated
// message is recognized by it. known reports that the message was received before.
func (svc *Service) ReceiveMessage(ctx context.Context, m *domain.Message, seen *domain.InboundMessageKey) (known bool, err error) {
	unlock, err := svc.senders.Lock(ctx, m.WorkspaceID+m.From)
	if err != nil {
		return false, err
	}
	defer unlock()
	fresh := *m
	for range record.MaxTries { // conflicts: a reply or an opt-out changes the conversation at the same time
		*m = fresh
		if known, err = svc.tryReceive(ctx, m, seen); !errors.Is(err, domain.ErrConflict) {
			return known, commit.StoreError(err)
		}
	}
	return false, commit.StoreError(err)
}

// tryReceive commits an inbound message once. It returns domain.ErrConflict if another commit changed the same rows.
func (svc *Service) tryReceive(ctx context.Context, m *domain.Message, seen *domain.InboundMessageKey) (known bool, err error) {
	c := commit.Change{Workspace: m.WorkspaceID}
	if seen != nil {
		if _, err = svc.store.Get(ctx, seen); err == nil {
			return true, nil
		} else if !errors.Is(err, domain.ErrNotFound) {
			return false, err
		}
		c.Guards = append(c.Guards, commit.Absent(seen.Key()))
		c.Puts = append(c.Puts, seen)
	}
	if err = svc.addInboundMessage(ctx, &c, m); err != nil {
		return false, err
	}
	if seen != nil {
		seen.MessageID = m.ID
	}
	if _, err = svc.store.Apply(ctx, c); err != nil {
		return false, err
	}
	svc.cfg.Outbox.Committed(m.WorkspaceID)
	svc.messages.Wake(m.WorkspaceID)
	svc.replies.Wake(m.WorkspaceID)
	return false, nil
}

// addInboundMessage adds an inbound message to a commit, with its event and the notice that confirms an opt-out. An
// opt-out takes effect at once, even if the commit fails.
func (svc *Service) addInboundMessage(ctx context.Context, c *commit.Change, m *domain.Message) error {
	redactor, err := svc.cfg.Redactor(m.WorkspaceID)
	if err != nil { // the workspace is starting or stopping: its redaction rules are unknown
		return domain.Errorf(domain.CodeUnavailable, "the workspace is not ready to receive messages; try again").With("retry_after", 1)
	}
	p := domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}
	m.Direction, m.Status = domain.Inbound, domain.MessageReceived
	svc.setMessageMeta(m, p)
	number, err := dnc.PackNumber(m.From)
	if m.OptOut = err == nil && sms.IsOptOut(m.Body); m.OptOut {
		if err = svc.addOptOut(ctx, c, m, number); err != nil {
			return err
		}
	}
	m.Body = redactor.RedactText(m.Body) // opt-out keywords are checked before redaction
	if err = svc.addConversation(ctx, c, p, m); err != nil {
		return err
	}
	c.Puts = append(c.Puts, m)
	c.Events = append(c.Events, outbox.NewEvent(&m.Meta, event.SMSReceived, m.ID, domain.UnitID(m.WorkspaceID), event.NewSMSReceivedData(m)))
	return nil
}

// ReceiveFromTrunk stores an inbound message of a trunk. key is the trunk's id for the message; a repeated message
// is stored once.
func (svc *Service) ReceiveFromTrunk(ctx context.Context, m *domain.Message, trunkID, key string) error {
	_, err := svc.ReceiveMessage(ctx, m, newSeenMessage(m.WorkspaceID, trunkID, key))
	return err
}
