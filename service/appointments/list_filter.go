package appointments

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// Query filters appointments. Empty fields match all appointments.
type Query struct {
	record.PageQuery
	Status   domain.AppointmentStatus // "": any
	Provider string                   // id or name; "": any
	Phone    string                   // the patient's number (E.164)
	CallID   string
	From, To time.Time // time of the appointment, [From, To); zero: no bound
}
