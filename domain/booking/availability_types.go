package booking

import (
	"time"
)

// AvailabilityQuery selects free times of a provider.
type AvailabilityQuery struct {
	Provider string // ID or name
	From, To string // RFC 3339, a local time or a day. Default: now, and one week later.
	Timezone string // time zone of the response. Default: the provider's zone.
	Minutes  int    // Default (0): the slot length of the provider.
	Limit    int    // 1 to 500
}

// Slot is a free time that can be booked.
type Slot struct {
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	LocalStart string    `json:"local_start"` // with UTC offset
}

// Availability lists the free times of a provider, oldest first.
type Availability struct {
	Object          string    `json:"object"`
	ProviderID      string    `json:"provider_id"`
	Provider        string    `json:"provider"`
	Timezone        string    `json:"timezone"`
	DurationMinutes int       `json:"duration_minutes"`
	SlotMinutes     int       `json:"slot_minutes"`
	From            time.Time `json:"from"`
	To              time.Time `json:"to"`
	Slots           []Slot    `json:"slots"`
	HasMore         bool      `json:"has_more"` // more free times exist before To
}
