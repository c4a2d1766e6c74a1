package booking

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// Act is what was done with an appointment, as its result tells it.
type Act struct {
	Action string    `json:"action"` // book, confirm, cancel, reschedule
	ID     string    `json:"appointment_id"`
	Local  time.Time `json:"local_datetime"` // RFC 3339 in the provider's zone
}

// Made are the appointments that a call made and that stand, oldest first.
type Made []Act

// After is what stands after one more was done with an appointment. Of one that
// the call did not make, it is as before.
func (m Made) After(a Act) Made {
	at := slices.IndexFunc(m, func(b Act) bool { return b.ID == a.ID })
	switch {
	case a.ID == "":
	case a.Action == "book" && at < 0:
		return append(slices.Clone(m), a)
	case a.Action == "cancel" && at >= 0:
		return slices.Delete(slices.Clone(m), at, at+1)
	case a.Action == "reschedule" && at >= 0:
		m = slices.Clone(m)
		m[at].Local = a.Local
	}
	return m
}

// Tell notes the last of them in the outcome of the call.
func (m Made) Tell(o *domain.CallOutcome) {
	if len(m) == 0 {
		return
	}
	last := m[len(m)-1]
	o.AppointmentBooked, o.AppointmentID = true, last.ID
	o.AppointmentDate, o.AppointmentTime = last.Local.Format(time.DateOnly), last.Local.Format("15:04")
}
