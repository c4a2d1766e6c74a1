package booking

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// AppointmentAction is the result of an action on an appointment during a call.
type AppointmentAction struct {
	Action string    `json:"action"` // book, confirm, cancel or reschedule
	ID     string    `json:"appointment_id"`
	Local  time.Time `json:"local_datetime"` // RFC 3339 in the provider's zone
}

// CallAppointments lists the appointments that a call booked and did not cancel, oldest first.
type CallAppointments []AppointmentAction

// Apply returns the list after another action of the call. Actions on appointments that the call has not booked change
// nothing.
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

// SetOutcome records the last appointment in the outcome of the call.
func (m CallAppointments) SetOutcome(o *domain.CallOutcome) {
	if len(m) == 0 {
		return
	}
	last := m[len(m)-1]
	o.AppointmentBooked, o.AppointmentID = true, last.ID
	o.AppointmentDate, o.AppointmentTime = last.Local.Format(time.DateOnly), last.Local.Format("15:04")
}
