package sms

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/service/record"
)

// ApplyReport applies a carrier's delivery report to a message, and commits the message with its events.
func (svc *Service) ApplyReport(ctx context.Context, key domain.Key, r *sms.Report) error {
	for range record.MaxTries {
		m, version, err := svc.MessageByKey(ctx, key)
		if err != nil || m == nil {
			return commit.StoreError(err)
		}
		now := record.Now()
		sent, changed := sms.ApplyReport(m, r, now)
		if !changed {
			if m.Direction == domain.Outbound && m.Todo == "" { // a repeated report: the response to the first one was lost
				svc.cfg.Spending.SettleSMS(m, m.SentAt != nil, true)
			}
			return nil
		}
		m.UpdatedAt = now
		c := commit.Change{Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m}}
		if sent {
			sentMessage := *m
			sentMessage.Status, sentMessage.ErrorCode = domain.MessageSent, ""
			c.Events, c.Adds = append(c.Events, record.NewSMSEvent(&sentMessage, event.SMSSent)), svc.usageOf(m, now)
		}
		eventType := event.SMSDelivered
		if m.Status != domain.MessageDelivered {
			eventType = event.SMSFailed
		}
		c.Events = append(c.Events, record.NewSMSEvent(m, eventType))
		if _, err = svc.store.Apply(ctx, c); errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err == nil {
			svc.cfg.Outbox.Committed(m.WorkspaceID)
			if sent {
				svc.cfg.Spending.SettleSMS(m, true, false)
			}
		}
		return commit.StoreError(err)
	}
	return domain.Errorf(domain.CodeUnavailable, "other requests keep changing this message; try again").With("retry_after", 1)
}
