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

// ApplyReport applies a delivery report of a carrier to a message, with its events.
func (svc *Service) ApplyReport(ctx context.Context, key domain.Key, r *sms.Report) error {
	for range record.MaxTries {
		m, version, err := svc.MessageByKey(ctx, key)
		if err != nil || m == nil {
			return commit.StoreError(err)
		}
		now := record.Now()
		sent, told := sms.ApplyReport(m, r, now)
		if !told {
			if m.Direction == domain.Outbound && m.Todo == "" { // repeated because the answer to the first was lost
				svc.cfg.Spending.SettleSMS(m, m.SentAt != nil, true)
			}
			return nil
		}
		m.UpdatedAt = now
		c := commit.Change{Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m}}
		if sent {
			as := *m
			as.Status, as.ErrorCode = domain.MessageSent, ""
			c.Events, c.Adds = append(c.Events, record.NewSMSEvent(&as, event.SMSSent)), svc.usageOf(m, now)
		}
		about := event.SMSDelivered
		if m.Status != domain.MessageDelivered {
			about = event.SMSFailed
		}
		c.Events = append(c.Events, record.NewSMSEvent(m, about))
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
	return domain.Errorf(domain.CodeUnavailable, "others keep changing this message; try again").With("retry_after", 1)
}
