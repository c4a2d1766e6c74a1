package booking

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// AppointmentAction is what was done with an appointment, as its result tells it.
type AppointmentAction struct {
	Action string    `json:"action"` // book, confirm, cancel, reschedule
	ID     string    `json:"appointment_id"`
	Local  time.Time `json:"local_datetime"` // RFC 3339 in the provider's zone
}

// CallAppointments are the appointments that a call made and that stand, oldest first.
type CallAppointments []AppointmentAction

// Apply is what stands after one more was done with an appointment. Of one that
// the call did not make, it is as before.
func (m CallAppointments) Apply(a AppointmentAction) CallAppointments {
	at := slices.IndexFunc(m, func(b AppointmentAction) bool { return b.ID == a.ID })
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

// SetOutcome notes the last of them in the outcome of the call.
func (m CallAppointments) SetOutcome(o *domain.CallOutcome) {
	if len(m) == 0 {
		return
	}
	last := m[len(m)-1]
	o.AppointmentBooked, o.AppointmentID = true, last.ID
	o.AppointmentDate, o.AppointmentTime = last.Local.Format(time.DateOnly), last.Local.Format("15:04")
}
