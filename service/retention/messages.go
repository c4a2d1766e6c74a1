package retention

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
)

// sweepMessages deletes expired SMS messages, SMS conversations and appointments. Rows sort by their creation. The
// retention of an appointment counts from its end, which is later.
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
		s.deleteRows(ctx, workspaceID, "sms_conversation", domain.PrefixConversation, now.AddDate(0, 0, -w.Retention.MessageDays), w.Retention.MessageDays,
			func() domain.Record { return &domain.SMSConversation{} }, func(r domain.Record, _ time.Time) bool {
				t, ok := r.(*domain.SMSConversation)
				return ok && t.StatusAt(now) != domain.SMSConversationOpen
			}),
		s.deleteRows(ctx, workspaceID, "appointment", domain.PrefixAppointment, now.AddDate(0, 0, -w.Retention.AppointmentDays), w.Retention.AppointmentDays,
			func() domain.Record { return &domain.Appointment{} }, func(r domain.Record, before time.Time) bool {
				a, ok := r.(*domain.Appointment)
				return ok && a.EndsAt.Before(before)
			}),
	)
}
