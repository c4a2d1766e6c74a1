package booking

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// Default hours and time limits of reminders.
const (
	defaultReminderStart = "08:00"
	defaultReminderEnd   = "21:00"
	minReminderLead      = 30 * time.Minute // minimum time before the appointment for a delayed reminder
	reminderGrace        = 5 * time.Minute  // a reminder that is later than this was missed by the service
)

// CodeTooLate is the reason of a reminder that the service skipped because it was too late to send it.
const CodeTooLate domain.Code = "too_late"

// DefaultReminderText is the text of a reminder whose definition contains no text.
const DefaultReminderText = "Reminder: {{patient_name}}, you have an appointment with {{provider}} on {{date}} at {{time}}."

// WithDefaultHours returns reminder hours in which missing values are replaced by 08:00 and 21:00. h may be nil.
func WithDefaultHours(h *domain.ReminderHours) domain.ReminderHours {
	if h == nil {
		return domain.ReminderHours{Start: defaultReminderStart, End: defaultReminderEnd}
	}
	return domain.ReminderHours{Start: cmp.Or(h.Start, defaultReminderStart), End: cmp.Or(h.End, defaultReminderEnd)}
}

// ValidateReminderHours adds a problem to p if the reminder hours are no valid times or do not end after their start.
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

// reminderWindow returns the start and the end of the reminder hours on the local day that contains at.
func reminderWindow(at time.Time, h domain.ReminderHours, zone *time.Location) (open, closes time.Time) {
	from, _ := parseMinutes(h.Start) // validated when it was saved
	to, _ := parseMinutes(h.End)
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, from, 0, 0, zone), time.Date(y, m, d, 0, to, 0, 0, zone)
}

// NextReminderTime returns now and true if now lies within the reminder hours. Otherwise it returns the next start of the
// reminder hours and false.
func NextReminderTime(now time.Time, h domain.ReminderHours, zone *time.Location) (next time.Time, ok bool) {
	open, closes := reminderWindow(now, h, zone)
	switch {
	case now.Before(open):
		return open, false
	case now.Before(closes):
		return now, true
	}
	open, _ = reminderWindow(now.In(zone).AddDate(0, 0, 1), h, zone)
	return open, false
}

// ReminderTime returns the time of a reminder for an appointment at the time at: before earlier or, if that is outside the
// reminder hours, at their next start. If less than half an hour would then remain, it returns the last minute of the
// previous reminder hours.
func ReminderTime(at time.Time, before time.Duration, h domain.ReminderHours, zone *time.Location) time.Time {
	due := at.Add(-before)
	next, ok := NextReminderTime(due, h, zone)
	if ok || !next.After(at.Add(-minReminderLead)) {
		return next.UTC()
	}
	_, closes := reminderWindow(due, h, zone)
	if !due.After(closes) {
		_, closes = reminderWindow(due.In(zone).AddDate(0, 0, -1), h, zone)
	}
	return closes.Add(-time.Minute).UTC()
}

// ScheduleReminders sets the reminders of an appointment from their definitions, in the order of their times. A reminder
// whose time has passed is marked as skipped.
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

// ReminderDefinitions returns the definitions from which the reminders of an appointment were scheduled.
func ReminderDefinitions(a *domain.Appointment) []domain.Reminder {
	out := make([]domain.Reminder, len(a.Reminders))
	for i := range a.Reminders {
		out[i] = a.Reminders[i].Definition()
	}
	return out
}

// CancelReminders cancels all scheduled reminders.
func CancelReminders(a *domain.Appointment) {
	a.Reminders = slices.Clone(a.Reminders)
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == domain.ReminderScheduled {
			r.Status = domain.ReminderCancelled
		}
	}
}

// DueReminders returns the indexes of the reminders to send now. It skips reminders that are too late or superseded by one
// nearer to the appointment. It delays reminders outside the reminder hours. look is the time at which the service should
// have looked for due reminders: earlier than now if it was down. changed reports whether the appointment must be stored.
func DueReminders(a *domain.Appointment, h domain.ReminderHours, zone *time.Location, look, now time.Time) (send []int, changed bool) {
	a.Reminders = slices.Clone(a.Reminders)
	next, open := NextReminderTime(now, h, zone)
	nearest := nearestReminder(a, now)
	soon := now.After(a.Datetime.Add(-minReminderLead))
	for i := range a.Reminders {
		r := &a.Reminders[i]
		switch {
		case r.Status != domain.ReminderScheduled || r.DueAt.After(now):
		case !a.Status.Open():
			r.Status, changed = domain.ReminderCancelled, true
		case !now.Before(a.Datetime) || r.MinutesBefore > nearest || soon && now.After(look.Add(reminderGrace)) || !open && next.After(a.Datetime.Add(-minReminderLead)):
			r.Status, r.Reason, changed = domain.ReminderSkipped, CodeTooLate, true
		case !open:
			r.DueAt, changed = next.UTC(), true
		default:
			send = append(send, i)
		}
	}
	return send, changed
}

// nearestReminder returns the minutes_before of the due reminder that is closest to the appointment.
func nearestReminder(a *domain.Appointment, now time.Time) int {
	nearest := math.MaxInt
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == domain.ReminderScheduled && !r.DueAt.After(now) {
			nearest = min(nearest, r.MinutesBefore)
		}
	}
	return nearest
}

// ReminderVariables returns the variables for the text of a reminder.
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
