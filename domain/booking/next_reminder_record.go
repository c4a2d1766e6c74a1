package booking

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// ReminderDue returns the record by which the service finds the next reminder of an appointment. If pending is false, no
// reminder is scheduled and the record must not be stored. An overdue reminder is due now.
func ReminderDue(a *domain.Appointment, now time.Time) (row *domain.ReminderDue, pending bool) {
	at, pending := a.NextReminder()
	if at.Before(now) {
		at = now.UTC()
	}
	return &domain.ReminderDue{WorkspaceID: a.WorkspaceID, AppointmentID: a.ID, At: at}, pending
}
