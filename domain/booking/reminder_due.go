package booking

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// ReminderDue returns the row by which the next reminder of an appointment is found.
// pending is false if no reminder remains: then there must be no row. A reminder that
// is overdue is due now.
func ReminderDue(a *domain.Appointment, now time.Time) (row *domain.ReminderDue, pending bool) {
	at, pending := a.NextReminder()
	if at.Before(now) {
		at = now.UTC()
	}
	return &domain.ReminderDue{WorkspaceID: a.WorkspaceID, AppointmentID: a.ID, At: at}, pending
}
