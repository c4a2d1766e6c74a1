package booking_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
)

func TestACallTellsTheAppointmentThatItMadeAndThatStands(t *testing.T) {
	t.Parallel()
	nine := time.Date(2030, 1, 15, 9, 0, 0, 0, time.FixedZone("", -5*3600))
	do := func(action, id string, hours int) booking.Act {
		return booking.Act{Action: action, ID: id, Local: nine.Add(time.Duration(hours) * time.Hour)}
	}
	told := func(id, date, clock string) domain.CallOutcome {
		return domain.CallOutcome{AppointmentBooked: true, AppointmentID: id, AppointmentDate: date, AppointmentTime: clock}
	}
	for name, c := range map[string]struct {
		acts []booking.Act
		want domain.CallOutcome
	}{
		"nothing was done":                {nil, domain.CallOutcome{}},
		"booked":                          {[]booking.Act{do("book", "a", 0)}, told("a", "2030-01-15", "09:00")},
		"an older one was confirmed":      {[]booking.Act{do("confirm", "a", 0)}, domain.CallOutcome{}},
		"an older one was moved":          {[]booking.Act{do("reschedule", "a", 0)}, domain.CallOutcome{}},
		"an older one was cancelled":      {[]booking.Act{do("cancel", "a", 0)}, domain.CallOutcome{}},
		"only times were looked for":      {[]booking.Act{{Action: "book"}}, domain.CallOutcome{}},
		"booked and moved":                {[]booking.Act{do("book", "a", 0), do("reschedule", "a", 15)}, told("a", "2030-01-16", "00:00")},
		"booked and confirmed":            {[]booking.Act{do("book", "a", 0), do("confirm", "a", 0)}, told("a", "2030-01-15", "09:00")},
		"booked and cancelled":            {[]booking.Act{do("book", "a", 0), do("cancel", "a", 0)}, domain.CallOutcome{}},
		"booked, an older one cancelled":  {[]booking.Act{do("book", "a", 0), do("cancel", "b", 0)}, told("a", "2030-01-15", "09:00")},
		"two, the last of them counts":    {[]booking.Act{do("book", "a", 0), do("book", "b", 1)}, told("b", "2030-01-15", "10:00")},
		"two, of which the last was left": {[]booking.Act{do("book", "a", 0), do("book", "b", 1), do("cancel", "b", 1)}, told("a", "2030-01-15", "09:00")},
	} {
		var made booking.Made
		for _, a := range c.acts {
			made = made.After(a)
		}
		var got domain.CallOutcome
		made.Tell(&got)
		assert.Equal(t, c.want, got, name)
	}
}
