package sms

import (
	"context"
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/service/record"
)

// batchSize is the maximum number of messages of one commit.
const batchSize = 100

// processDue delivers the due messages of a workspace, and carries out due processing steps of all its messages.
func (svc *Service) processDue(ctx context.Context, workspaceID string) error {
	return errors.Join(svc.deliverDue(ctx, workspaceID), svc.advanceMessages(ctx, workspaceID))
}

// advanceMessages carries out the next processing step of each due message of a workspace, in batches with one commit
// each. A failed step does not stop the steps of other messages. Its error is returned at the end.
func (svc *Service) advanceMessages(ctx context.Context, workspaceID string) error {
	var failed error
	stuck := make(map[string]bool)
	for cursor := ""; ; {
		due, next, err := svc.dueMessages(ctx, workspaceID, cursor)
		if err != nil {
			return err
		}
		c := commit.Change{Workspace: workspaceID}
		for _, key := range due {
			if stuck[key.ID] {
				continue
			}
			before := c
			if err = svc.advanceMessage(ctx, &c, key); err == nil {
				continue
			}
			c = before
			if svc.store.Healthy() != nil || ctx.Err() != nil {
				return err
			}
			failed, stuck[key.ID] = fmt.Errorf("message %s: %w", key.ID, err), true
		}
		if len(c.Puts) == 0 {
			if cursor = next; cursor == "" {
				return failed
			}
			continue
		}
		_, err = svc.store.Apply(ctx, c)
		if err != nil && !errors.Is(err, domain.ErrConflict) {
			return err
		}
		if err == nil {
			svc.cfg.Outbox.Committed(workspaceID)
			svc.replies.Wake(workspaceID) // simulated phones of the test carrier may have replied
		}
	}
}

func (svc *Service) dueMessages(ctx context.Context, workspaceID, cursor string) (out []domain.Key, next string, err error) {
	q := commit.Query{Kind: "message", Workspace: workspaceID, Index: "todo", Oldest: true, Limit: batchSize, Cursor: cursor}
	next, err = svc.store.List(ctx, q, func() domain.Record { return &domain.Message{} }, func(r domain.Record) error {
		out = append(out, r.Key())
		return nil
	})
	return out, next, err
}

var errUnknownStep = errors.New("unknown pending step")

// advanceMessage adds the changes of a message's next processing step to a commit. After an error the caller discards
// those changes.
func (svc *Service) advanceMessage(ctx context.Context, c *commit.Change, key domain.Key) error {
	m := &domain.Message{Meta: domain.Meta{ID: key.ID, WorkspaceID: key.Workspace}}
	version, err := svc.store.Get(ctx, m)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	eventType, now := event.Type(""), record.Now()
	fate := sms.TestDeliveryFor(m.To)
	switch m.Todo {
	case domain.TodoSend:
		eventType, err = svc.sendByTestCarrier(ctx, m, fate)
	case domain.TodoReport:
		m.Status, m.DeliveredAt, m.Todo = fate.Report, &now, ""
		eventType = event.SMSDelivered
		if fate.Report == domain.MessageUndelivered {
			m.DeliveredAt, m.FailedAt, m.ErrorCode, m.ErrorMessage = nil, &now, fate.Code, fate.Message
			eventType = event.SMSFailed
		}
		if fate.Reply != "" && !m.Notice {
			m.Todo = domain.TodoReply
		}
	case domain.TodoReply:
		err = svc.addTestReply(ctx, c, m, fate.Reply)
	case domain.TodoOptOut:
		err = svc.storeOptOut(ctx, m)
		c.Deletes = append(c.Deletes, pendingOptOut(m).Key())
	case "", domain.TodoDeliver, domain.TodoAwaitResponse, domain.TodoAnswer: // already done, or a step of a delivery
		return nil
	default:
		return fmt.Errorf("%w: %q", errUnknownStep, m.Todo)
	}
	if err != nil {
		return err
	}
	m.UpdatedAt = now
	c.Guards = append(c.Guards, commit.Guard{Key: m.Key(), Version: version})
	c.Puts = append(c.Puts, m)
	if eventType != "" {
		c.Events = append(c.Events, record.NewSMSEvent(m, eventType))
	}
	return nil
}

// sendByTestCarrier passes a message to the test carrier. If the recipient has opted out since the message was
// queued, only the opt-out notice is sent.
func (svc *Service) sendByTestCarrier(ctx context.Context, m *domain.Message, fate sms.TestDelivery) (event.Type, error) {
	now := record.Now()
	m.Todo = ""
	if !m.Notice {
		err := svc.CheckRecipient(ctx, domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}, m.To)
		var refused *domain.Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && (refused.Code == domain.CodeOptedOut || refused.Code == domain.CodeDNCBlocked):
			m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, string(refused.Code), refused.Message
			return event.SMSFailed, nil
		default:
			return "", err
		}
	}
	if !fate.Sent {
		m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, fate.Code, fate.Message
		return event.SMSFailed, nil
	}
	m.Status, m.SentAt = domain.MessageSent, &now
	if fate.Report != "" {
		m.Todo = domain.TodoReport
	}
	return event.SMSSent, nil
}

// addTestReply adds the reply of a simulated phone of the test carrier to a commit.
func (svc *Service) addTestReply(ctx context.Context, c *commit.Change, m *domain.Message, text string) error {
	err := svc.addInboundMessage(ctx, c, &domain.Message{
		Meta: domain.Meta{WorkspaceID: m.WorkspaceID, Environment: m.Environment}, From: m.To, To: m.From, Body: text, ReplyTo: m.ID,
	})
	if err != nil {
		return err
	}
	m.Todo = ""
	return nil
}
