package booking

import (
	"github.com/callboard/callboard/domain"
)

// NewAppointment is a request to book an appointment. Times without an offset are local times of Timezone.
type NewAppointment struct {
	Patient   domain.Patient
	Provider  string // ID or name
	Datetime  string // RFC 3339, or local time without offset
	Timezone  string // Default: the provider's zone.
	Minutes   int    // Default (0): the slot length of the provider.
	Type      string
	CallID    string
	Notes     string
	Confirmed bool // booked and confirmed at once
	Metadata  map[string]string
	Reminders *[]domain.Reminder // nil: the reminders of the provider
}

// Reschedule is a request to move an appointment.
type Reschedule struct {
	Datetime string
	Timezone string // Default: unchanged, or the zone of the new provider.
	Provider string // ID or name. Default: unchanged.
	Minutes  int    // Default (0): unchanged.
}
