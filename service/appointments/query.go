package appointments

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// Query filters appointments.
type Query struct {
	record.PageQuery
	Status   domain.AppointmentStatus // "": any
	Provider string                   // id or name; "": any
	Phone    string                   // of the patient, E.164
	CallID   string
	From, To time.Time // of the appointment, [From, To); zero: open
}
