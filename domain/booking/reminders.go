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
	defaultReminderStart = "08:00"
	defaultReminderEnd   = "21:00"
	minReminderLead      = 30 * time.Minute // that has to be left when one that waited for its hours, or was slept through, goes out
	reminderGrace        = 5 * time.Minute  // behind the time to look at it: from then on it was slept through
)

// CodeTooLate says that there was no time left for a reminder.
const CodeTooLate domain.Code = "too_late"

// DefaultBody is what a reminder says unless it has a text of its own.
const DefaultReminderText = "Reminder: {{patient_name}}, you have an appointment with {{provider}} on {{date}} at {{time}}."

// WithDefaultHours are hours with their defaults, 08:00 to 21:00; h may be nil.
func WithDefaultHours(h *domain.ReminderHours) domain.ReminderHours {
	if h == nil {
		return domain.ReminderHours{Start: defaultReminderStart, End: defaultReminderEnd}
	}
	return domain.ReminderHours{Start: cmp.Or(h.Start, defaultReminderStart), End: cmp.Or(h.End, defaultReminderEnd)}
}

// ValidateReminderHours notes what is wrong with hours.
func ValidateReminderHours(h *domain.ReminderHours, p *domain.Problems) {
	if h == nil {
		return
	}
	full := WithDefaultHours(h)
	from, okFrom := parseMinutes(full.Start)
	to, okTo := parseMinutes(full.End)
	switch {
	case !okFrom || !okTo:
		p.Add("reminder_hours", domain.CodeValidation, "must be times HH:MM, the end up to 24:00")
	case to <= from:
		p.Add("reminder_hours", domain.CodeValidation, "must end after they start")
	}
}

// reminderWindow are the hours of the day, in a zone, to which a moment belongs.
func reminderWindow(at time.Time, h domain.ReminderHours, zone *time.Location) (open, shut time.Time) {
	from, _ := parseMinutes(h.Start) // checked when it was saved
	to, _ := parseMinutes(h.End)
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, from, 0, 0, zone), time.Date(y, m, d, 0, to, 0, 0, zone)
}

// NextReminderTime says whether a moment lies within hours, and if not when they open
// next.
func NextReminderTime(now time.Time, h domain.ReminderHours, zone *time.Location) (next time.Time, ok bool) {
	open, shut := reminderWindow(now, h, zone)
	switch {
	case now.Before(open):
		return open, false
	case now.Before(shut):
		return now, true
	}
	open, _ = reminderWindow(now.In(zone).AddDate(0, 0, 1), h, zone)
	return open, false
}

// ReminderTime is when a patient is reminded of an appointment: so long before it,
// or, where that is outside the hours, when they open next. Where that would be
// less than half an hour before it, it is the last minute of the hours before.
func ReminderTime(at time.Time, before time.Duration, h domain.ReminderHours, zone *time.Location) time.Time {
	due := at.Add(-before)
	next, ok := NextReminderTime(due, h, zone)
	if ok || !next.After(at.Add(-minReminderLead)) {
		return next.UTC()
	}
	_, shut := reminderWindow(due, h, zone)
	if !due.After(shut) {
		_, shut = reminderWindow(due.In(zone).AddDate(0, 0, -1), h, zone)
	}
	return shut.Add(-time.Minute).UTC()
}

// ScheduleReminders schedules reminders of an appointment, the first due one first. Those
// whose time is over are skipped.
func ScheduleReminders(a *domain.Appointment, orders []domain.Reminder, h domain.ReminderHours, zone *time.Location, now time.Time) {
	a.Reminders = make([]domain.AppointmentReminder, 0, len(orders))
	for _, o := range orders {
		r := domain.AppointmentReminder{
			Channel: o.Channel, MinutesBefore: o.MinutesBefore, Body: o.Body, AgentID: o.AgentID, From: o.From, Status: domain.ReminderScheduled,
			DueAt: ReminderTime(a.Datetime, time.Duration(o.MinutesBefore)*time.Minute, h, zone),
		}
		if r.DueAt.Before(now) {
			r.Status, r.Reason = domain.ReminderSkipped, CodeTooLate
		}
		a.Reminders = append(a.Reminders, r)
	}
	slices.SortStableFunc(a.Reminders, func(x, y domain.AppointmentReminder) int { return x.DueAt.Compare(y.DueAt) })
}

// ReminderDefinitions are the reminders of an appointment as they were ordered.
func ReminderDefinitions(a *domain.Appointment) []domain.Reminder {
	out := make([]domain.Reminder, len(a.Reminders))
	for i := range a.Reminders {
		out[i] = a.Reminders[i].Definition()
	}
	return out
}

// CancelReminders cancels what is still scheduled.
func CancelReminders(a *domain.Appointment) {
	a.Reminders = slices.Clone(a.Reminders)
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == domain.ReminderScheduled {
			r.Status = domain.ReminderCancelled
		}
	}
}

// DueReminders skips what is too late and what a nearer one that is due as well stands
// for, lets wait what is due outside the hours, and says which reminders go out
// now, in their order. look is when they were to be looked at, earlier than now
// where the service slept. changed: the appointment is to be kept.
func DueReminders(a *domain.Appointment, h domain.ReminderHours, zone *time.Location, look, now time.Time) (send []int, changed bool) {
	a.Reminders = slices.Clone(a.Reminders)
	next, open := NextReminderTime(now, h, zone)
	least := nearestReminder(a, now)
	soon := now.After(a.Datetime.Add(-minReminderLead))
	for i := range a.Reminders {
		r := &a.Reminders[i]
		switch {
		case r.Status != domain.ReminderScheduled || r.DueAt.After(now):
		case !a.Status.Open():
			r.Status, changed = domain.ReminderCancelled, true
		case !now.Before(a.Datetime) || r.MinutesBefore > least || soon && now.After(look.Add(reminderGrace)) || !open && next.After(a.Datetime.Add(-minReminderLead)):
			r.Status, r.Reason, changed = domain.ReminderSkipped, CodeTooLate, true
		case !open:
			r.DueAt, changed = next.UTC(), true
		default:
			send = append(send, i)
		}
	}
	return send, changed
}

// nearestReminder is how many minutes before an appointment the last of those reminders
// is that are due.
func nearestReminder(a *domain.Appointment, now time.Time) int {
	least := math.MaxInt
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == domain.ReminderScheduled && !r.DueAt.After(now) {
			least = min(least, r.MinutesBefore)
		}
	}
	return least
}

// ReminderVariables are what a reminder may say of an appointment, by name.
func ReminderVariables(a *domain.Appointment) map[string]string {
	at := a.Datetime
	if zone, err := time.LoadLocation(a.Timezone); err == nil {
		at = at.In(zone)
	}
	return map[string]string{
		"patient_name": a.Patient.Name, "provider": a.Provider, "date": at.Format("Monday, 2 January 2006"), "time": at.Format("15:04"),
		"type": a.Type, "appointment_id": a.ID, "datetime": a.LocalDatetime,
	}
}
