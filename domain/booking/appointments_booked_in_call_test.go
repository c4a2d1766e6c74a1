package booking_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
)

func TestCallReportsItsCurrentAppointment(t *testing.T) {
	t.Parallel()
	nine := time.Date(2030, 1, 15, 9, 0, 0, 0, time.FixedZone("", -5*3600))
	do := func(action, id string, hours int) booking.AppointmentAction {
		return booking.AppointmentAction{Action: action, ID: id, Local: nine.Add(time.Duration(hours) * time.Hour)}
	}
	told := func(id, date, clock string) domain.CallOutcome {
		return domain.CallOutcome{AppointmentBooked: true, AppointmentID: id, AppointmentDate: date, AppointmentTime: clock}
	}
	for name, c := range map[string]struct {
		acts []booking.AppointmentAction
		want domain.CallOutcome
	}{
		"nothing was done":                {nil, domain.CallOutcome{}},
		"booked":                          {[]booking.AppointmentAction{do("book", "a", 0)}, told("a", "2030-01-15", "09:00")},
		"an older one was confirmed":      {[]booking.AppointmentAction{do("confirm", "a", 0)}, domain.CallOutcome{}},
		"an older one was moved":          {[]booking.AppointmentAction{do("reschedule", "a", 0)}, domain.CallOutcome{}},
		"an older one was cancelled":      {[]booking.AppointmentAction{do("cancel", "a", 0)}, domain.CallOutcome{}},
		"only times were looked for":      {[]booking.AppointmentAction{{Action: "book"}}, domain.CallOutcome{}},
		"booked and moved":                {[]booking.AppointmentAction{do("book", "a", 0), do("reschedule", "a", 15)}, told("a", "2030-01-16", "00:00")},
		"booked and confirmed":            {[]booking.AppointmentAction{do("book", "a", 0), do("confirm", "a", 0)}, told("a", "2030-01-15", "09:00")},
		"booked and cancelled":            {[]booking.AppointmentAction{do("book", "a", 0), do("cancel", "a", 0)}, domain.CallOutcome{}},
		"booked, an older one cancelled":  {[]booking.AppointmentAction{do("book", "a", 0), do("cancel", "b", 0)}, told("a", "2030-01-15", "09:00")},
		"two, the last of them counts":    {[]booking.AppointmentAction{do("book", "a", 0), do("book", "b", 1)}, told("b", "2030-01-15", "10:00")},
		"two, of which the last was left": {[]booking.AppointmentAction{do("book", "a", 0), do("book", "b", 1), do("cancel", "b", 1)}, told("a", "2030-01-15", "09:00")},
	} {
		var made booking.CallAppointments
		for _, a := range c.acts {
			made = made.Apply(a)
		}
		var got domain.CallOutcome
		made.SetOutcome(&got)
		assert.Equal(t, c.want, got, name)
	}
}
