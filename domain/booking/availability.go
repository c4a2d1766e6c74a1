package booking

import (
	"time"
)

// AvailabilityQuery asks when a provider is free.
type AvailabilityQuery struct {
	Provider string // id or name
	From, To string // RFC 3339, a local time, or a day; "": from now on, for a week
	Timezone string // in which the answer shows times; "": the provider's
	Minutes  int    // 0: the provider's slot
	Limit    int    // 1 to 500
}

// Slot is a time at which somebody could be booked.
type Slot struct {
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	LocalStart string    `json:"local_start"` // with its offset
}

// Availability is when a provider is free, oldest first.
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
	HasMore         bool      `json:"has_more"` // there are more before To
}
