package booking

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// ReminderDue returns the row that schedules the next reminder of an appointment. pending is false without
// scheduled reminders: then the row must not exist. An overdue reminder is due now.
func ReminderDue(a *domain.Appointment, now time.Time) (row *domain.ReminderDue, pending bool) {
	at, pending := a.NextReminder()
	if at.Before(now) {
		at = now.UTC()
	}
	return &domain.ReminderDue{WorkspaceID: a.WorkspaceID, AppointmentID: a.ID, At: at}, pending
}
