package booking_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
)

func TestRemindersAreSentWithinHoursOfPatientZone(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	hours := booking.WithDefaultHours(nil)
	for name, c := range map[string]struct {
		at     string
		before time.Duration
		hours  domain.ReminderHours
		want   string
	}{
		"a day before":                                  {"2030-03-06T09:30", 24 * time.Hour, hours, "2030-03-05T09:30"},
		"early: when the hours open":                    {"2030-03-06T09:30", 2 * time.Hour, hours, "2030-03-06T08:00"},
		"too near: the evening before":                  {"2030-03-06T08:20", time.Hour, hours, "2030-03-05T20:59"},
		"half an hour before is near enough":            {"2030-03-06T08:30", time.Hour, hours, "2030-03-06T08:00"},
		"at night: the next morning":                    {"2030-03-06T23:00", 24 * time.Hour, hours, "2030-03-06T08:00"},
		"late in the evening, of an appointment at six": {"2030-03-06T06:00", 8 * time.Hour, hours, "2030-03-05T20:59"},
		"until midnight":                                {"2030-03-06T01:00", 2 * time.Hour, domain.ReminderHours{Start: "08:00", End: "24:00"}, "2030-03-05T23:00"},
		"clocks are put forward in between":             {"2030-03-31T09:00", 24 * time.Hour, hours, "2030-03-30T08:00"},
		"and back":                                      {"2030-10-27T09:00", 24 * time.Hour, hours, "2030-10-26T10:00"},
	} {
		at, err := time.ParseInLocation("2006-01-02T15:04", c.at, berlin)
		require.NoError(t, err)
		assert.Equal(t, c.want, booking.ReminderTime(at, c.before, c.hours, berlin).In(berlin).Format("2006-01-02T15:04"), name)
	}
}

func TestReminderSchedule(t *testing.T) {
	t.Parallel()
	noon := time.Date(2030, 3, 6, 12, 0, 0, 0, time.UTC)
	hours := booking.WithDefaultHours(nil)
	orders := []domain.Reminder{{Channel: "sms", MinutesBefore: 60}, {Channel: "sms", MinutesBefore: 24 * 60}}
	booked := func(now time.Time) *domain.Appointment {
		a := &domain.Appointment{Datetime: noon, Status: domain.AppointmentBooked}
		booking.ScheduleReminders(a, orders, hours, time.UTC, now)
		return a
	}
	type state struct {
		Status domain.ReminderStatus
		Due    time.Time
		Reason domain.Code
	}
	of := func(a *domain.Appointment) (out []state) {
		for _, r := range a.Reminders {
			out = append(out, state{r.Status, r.DueAt, r.Reason})
		}
		return out
	}
	first, second := noon.AddDate(0, 0, -1), noon.Add(-time.Hour)
	a := booked(noon.AddDate(0, 0, -3))
	assert.Equal(t, []state{{domain.ReminderScheduled, first, ""}, {domain.ReminderScheduled, second, ""}}, of(a), "the first due one first")
	next, ok := a.NextReminder()
	assert.Equal(t, []any{first, true}, []any{next, ok})
	assert.Equal(t, []state{{domain.ReminderSkipped, first, booking.CodeTooLate}, {domain.ReminderScheduled, second, ""}}, of(booked(noon.Add(-3*time.Hour))), "booked at short notice")

	for name, c := range map[string]struct {
		now     time.Time
		status  domain.AppointmentStatus
		slept   time.Duration
		send    []int
		changed bool
		want    state // of the first
	}{
		"not yet":                        {first.Add(-time.Second), domain.AppointmentBooked, 0, nil, false, state{domain.ReminderScheduled, first, ""}},
		"now":                            {first, domain.AppointmentConfirmed, 0, []int{0}, false, state{domain.ReminderScheduled, first, ""}},
		"the service was down till late": {first.Add(10 * time.Hour), domain.AppointmentBooked, 10 * time.Hour, nil, true, state{domain.ReminderScheduled, noon.Add(-4 * time.Hour), ""}},
		"the appointment has begun":      {noon, domain.AppointmentBooked, 0, nil, true, state{domain.ReminderSkipped, first, booking.CodeTooLate}},
		"both are due: the last one":     {second, domain.AppointmentBooked, 23 * time.Hour, []int{1}, true, state{domain.ReminderSkipped, first, booking.CodeTooLate}},
		"slept, and soon it begins":      {noon.Add(-29 * time.Minute), domain.AppointmentBooked, 31 * time.Minute, nil, true, state{domain.ReminderSkipped, first, booking.CodeTooLate}},
		"no line all the while":          {noon.Add(-29 * time.Minute), domain.AppointmentBooked, 20 * time.Second, []int{1}, true, state{domain.ReminderSkipped, first, booking.CodeTooLate}},
		"it is over":                     {first, domain.AppointmentNoShow, 0, nil, true, state{domain.ReminderCancelled, first, ""}},
	} {
		a := booked(noon.AddDate(0, 0, -3))
		a.Status = c.status
		send, changed := booking.DueReminders(a, hours, time.UTC, c.now.Add(-c.slept), c.now)
		assert.Equal(t, []any{c.send, c.changed, c.want}, []any{send, changed, of(a)[0]}, name)
	}
	booking.CancelReminders(a)
	_, ok = a.NextReminder()
	assert.False(t, ok)
	assert.Equal(t, orders[1], booking.ReminderDefinitions(a)[0], "and can be ordered anew")
}
