package booking

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// Defaults of reminders.
const (
	remindFrom  = "08:00"
	remindTo    = "21:00"
	remindLeast = 30 * time.Minute // that has to be left when one that waited for its hours, or was slept through, goes out
	remindGrace = 5 * time.Minute  // behind the time to look at it: from then on it was slept through
)

// CodeTooLate says that there was no time left for a reminder.
const CodeTooLate domain.Code = "too_late"

// DefaultBody is what a reminder says unless it has a text of its own.
const DefaultBody = "Reminder: {{patient_name}}, you have an appointment with {{provider}} on {{date}} at {{time}}."

// RemindHours are hours with their defaults, 08:00 to 21:00; h may be nil.
func RemindHours(h *domain.ReminderHours) domain.ReminderHours {
	if h == nil {
		return domain.ReminderHours{Start: remindFrom, End: remindTo}
	}
	return domain.ReminderHours{Start: cmp.Or(h.Start, remindFrom), End: cmp.Or(h.End, remindTo)}
}

// ValidateReminderHours notes what is wrong with hours.
func ValidateReminderHours(h *domain.ReminderHours, p *domain.Problems) {
	if h == nil {
		return
	}
	full := RemindHours(h)
	from, okFrom := minutes(full.Start)
	to, okTo := minutes(full.End)
	switch {
	case !okFrom || !okTo:
		p.Add("reminder_hours", domain.CodeValidation, "must be times HH:MM, the end up to 24:00")
	case to <= from:
		p.Add("reminder_hours", domain.CodeValidation, "must end after they start")
	}
}

// window are the hours of the day, in a zone, to which a moment belongs.
func window(at time.Time, h domain.ReminderHours, zone *time.Location) (open, shut time.Time) {
	from, _ := minutes(h.Start) // checked when it was saved
	to, _ := minutes(h.End)
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, from, 0, 0, zone), time.Date(y, m, d, 0, to, 0, 0, zone)
}

// MayRemind says whether a moment lies within hours, and if not when they open
// next.
func MayRemind(now time.Time, h domain.ReminderHours, zone *time.Location) (next time.Time, ok bool) {
	open, shut := window(now, h, zone)
	switch {
	case now.Before(open):
		return open, false
	case now.Before(shut):
		return now, true
	}
	open, _ = window(now.In(zone).AddDate(0, 0, 1), h, zone)
	return open, false
}

// RemindAt is when a patient is reminded of an appointment: so long before it,
// or, where that is outside the hours, when they open next. Where that would be
// less than half an hour before it, it is the last minute of the hours before.
func RemindAt(at time.Time, before time.Duration, h domain.ReminderHours, zone *time.Location) time.Time {
	due := at.Add(-before)
	next, ok := MayRemind(due, h, zone)
	if ok || !next.After(at.Add(-remindLeast)) {
		return next.UTC()
	}
	_, shut := window(due, h, zone)
	if !due.After(shut) {
		_, shut = window(due.In(zone).AddDate(0, 0, -1), h, zone)
	}
	return shut.Add(-time.Minute).UTC()
}

// Remind schedules reminders of an appointment, the first due one first. Those
// whose time is over are skipped.
func Remind(a *domain.Appointment, orders []domain.Reminder, h domain.ReminderHours, zone *time.Location, now time.Time) {
	a.Reminders = make([]domain.AppointmentReminder, 0, len(orders))
	for _, o := range orders {
		r := domain.AppointmentReminder{
			Channel: o.Channel, MinutesBefore: o.MinutesBefore, Body: o.Body, AgentID: o.AgentID, From: o.From, Status: domain.ReminderScheduled,
			DueAt: RemindAt(a.Datetime, time.Duration(o.MinutesBefore)*time.Minute, h, zone),
		}
		if r.DueAt.Before(now) {
			r.Status, r.Reason = domain.ReminderSkipped, CodeTooLate
		}
		a.Reminders = append(a.Reminders, r)
	}
	slices.SortStableFunc(a.Reminders, func(x, y domain.AppointmentReminder) int { return x.DueAt.Compare(y.DueAt) })
}

// Orders are the reminders of an appointment as they were ordered.
func Orders(a *domain.Appointment) []domain.Reminder {
	out := make([]domain.Reminder, len(a.Reminders))
	for i := range a.Reminders {
		out[i] = a.Reminders[i].Order()
	}
	return out
}

// Unremind cancels what is still scheduled.
func Unremind(a *domain.Appointment) {
	a.Reminders = slices.Clone(a.Reminders)
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == domain.ReminderScheduled {
			r.Status = domain.ReminderCancelled
		}
	}
}

// Due skips what is too late and what a nearer one that is due as well stands
// for, lets wait what is due outside the hours, and says which reminders go out
// now, in their order. look is when they were to be looked at, earlier than now
// where the service slept. changed: the appointment is to be kept.
func Due(a *domain.Appointment, h domain.ReminderHours, zone *time.Location, look, now time.Time) (send []int, changed bool) {
	a.Reminders = slices.Clone(a.Reminders)
	next, open := MayRemind(now, h, zone)
	least := nearest(a, now)
	soon := now.After(a.Datetime.Add(-remindLeast))
	for i := range a.Reminders {
		r := &a.Reminders[i]
		switch {
		case r.Status != domain.ReminderScheduled || r.DueAt.After(now):
		case !a.Status.Open():
			r.Status, changed = domain.ReminderCancelled, true
		case !now.Before(a.Datetime) || r.MinutesBefore > least || soon && now.After(look.Add(remindGrace)) || !open && next.After(a.Datetime.Add(-remindLeast)):
			r.Status, r.Reason, changed = domain.ReminderSkipped, CodeTooLate, true
		case !open:
			r.DueAt, changed = next.UTC(), true
		default:
			send = append(send, i)
		}
	}
	return send, changed
}

// nearest is how many minutes before an appointment the last of those reminders
// is that are due.
func nearest(a *domain.Appointment, now time.Time) int {
	least := math.MaxInt
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == domain.ReminderScheduled && !r.DueAt.After(now) {
			least = min(least, r.MinutesBefore)
		}
	}
	return least
}

// Words are what a reminder may say of an appointment, by name.
func Words(a *domain.Appointment) map[string]string {
	at := a.Datetime
	if zone, err := time.LoadLocation(a.Timezone); err == nil {
		at = at.In(zone)
	}
	return map[string]string{
		"patient_name": a.Patient.Name, "provider": a.Provider, "date": at.Format("Monday, 2 January 2006"), "time": at.Format("15:04"),
		"type": a.Type, "appointment_id": a.ID, "datetime": a.LocalDatetime,
	}
}
