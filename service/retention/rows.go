package retention

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// sweepMessages deletes old SMS messages, SMS conversations and appointments. Ids sort
// by creation, and an appointment is created before it ends.
func (s *Service) sweepMessages(ctx context.Context, workspaceID string, now time.Time) error {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil {
		return nil
	}
	return errors.Join(
		s.deleteRows(ctx, workspaceID, "message", domain.PrefixMessage, now.AddDate(0, 0, -w.Retention.MessageDays), w.Retention.MessageDays,
			func() domain.Record { return &domain.Message{} }, func(r domain.Record, _ time.Time) bool {
				m, ok := r.(*domain.Message)
				return ok && m.Todo == ""
			}),
		s.deleteRows(ctx, workspaceID, "sms_conversation", domain.PrefixTexting, now.AddDate(0, 0, -w.Retention.MessageDays), w.Retention.MessageDays,
			func() domain.Record { return &domain.Texting{} }, func(r domain.Record, _ time.Time) bool {
				t, ok := r.(*domain.Texting)
				return ok && t.Now(now) != domain.TextingOpen
			}),
		s.deleteRows(ctx, workspaceID, "appointment", domain.PrefixAppoint, now.AddDate(0, 0, -w.Retention.AppointmentDays), w.Retention.AppointmentDays,
			func() domain.Record { return &domain.Appointment{} }, func(r domain.Record, before time.Time) bool {
				a, ok := r.(*domain.Appointment)
				return ok && a.EndsAt.Before(before)
			}),
	)
}

// deleteRows deletes the rows of a kind that were created before a time and for which
// old is true; days <= 0 retains all. An appointment's time becomes free.
func (s *Service) deleteRows(
	ctx context.Context, workspaceID, kind string, prefix domain.Prefix, before time.Time, days int,
	fresh func() domain.Record, old func(r domain.Record, before time.Time) bool,
) error {
	if days <= 0 {
		return nil
	}
	first := domain.IDAt(prefix, before)
	for after, n := string(prefix)+"_", record.SweepRows; n == record.SweepRows && ctx.Err() == nil; {
		n = 0
		c := commit.Change{Workspace: workspaceID}
		var deleted []*domain.Appointment
		err := s.store.Under(ctx, domain.Key{Kind: kind, Workspace: workspaceID, ID: string(prefix) + "_"}, after, record.SweepRows, fresh, func(r domain.Record) error {
			if r.Key().ID >= first {
				return errRetained
			}
			n++
			after = r.Key().ID
			if old(r, before) {
				c.Deletes = append(c.Deletes, r.Key())
				c.ForgetSubjects = append(c.ForgetSubjects, r.Key().ID)
				if a, ok := r.(*domain.Appointment); ok {
					deleted = append(deleted, a)
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errRetained) {
			return err
		}
		for _, a := range deleted {
			if err = s.appointments.FreeTime(ctx, &c, a); err != nil {
				return err
			}
		}
		if len(c.Deletes) == 0 {
			continue
		}
		if _, err = s.store.Apply(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// sweepAccounts deletes old entries of the audit log, uploads of contacts and data
// requests.
func (s *Service) sweepAccounts(ctx context.Context, workspaceID string, now time.Time) error {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil {
		return nil
	}
	r := w.Retention
	return errors.Join(
		s.deleteRows(ctx, workspaceID, "data_request", domain.PrefixData, now.AddDate(0, 0, -r.AuditDays), r.AuditDays,
			func() domain.Record { return &domain.DataRequest{} }, func(row domain.Record, _ time.Time) bool {
				r, ok := row.(*domain.DataRequest)
				return ok && (r.Status == domain.DataExpired || r.Type == domain.DataErase && r.Status == domain.DataCompleted)
			}),
		s.deleteRows(ctx, workspaceID, "audit", domain.PrefixAudit, now.AddDate(0, 0, -r.AuditDays), r.AuditDays,
			func() domain.Record { return &domain.AuditEntry{} }, func(domain.Record, time.Time) bool { return true }),
		s.deleteRows(ctx, workspaceID, "upload", domain.PrefixUpload, now.AddDate(0, 0, -r.UploadDays), r.UploadDays,
			func() domain.Record { return &domain.Upload{} }, func(row domain.Record, _ time.Time) bool {
				u, ok := row.(*domain.Upload)
				return ok && u.Status != domain.UploadReceiving
			}),
	)
}
