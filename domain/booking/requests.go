package booking

import (
	"github.com/callboard/callboard/domain"
)

// NewAppointment orders an appointment. Times without an offset are those of
// Timezone, or of the provider's zone.
type NewAppointment struct {
	Patient   domain.Patient
	Provider  string // id or name
	Datetime  string // RFC 3339, or without an offset
	Timezone  string // "": the provider's
	Minutes   int    // 0: the provider's slot
	Type      string
	CallID    string
	Notes     string
	Confirmed bool // booked and confirmed at once
	Metadata  map[string]string
	Reminders *[]domain.Reminder // nil: the provider's
}

// Reschedule moves an appointment.
type Reschedule struct {
	Datetime string
	Timezone string // "": as it was, or the provider's
	Provider string // id or name; "": as it was
	Minutes  int    // 0: as it was
}
