package domain

import "time"

// OpenSpan is a span of opening hours of one day, in the provider's time zone.
type OpenSpan struct {
	Start string `json:"start"` // HH:MM
	End   string `json:"end"`   // HH:MM, up to 24:00
}

// Provider is a person or resource that can be booked for one appointment at a time.
type Provider struct {
	Meta
	Name          string                `json:"name"`
	Timezone      string                `json:"timezone"`
	Hours         map[string][]OpenSpan `json:"hours"` // by lowercase weekday
	ExcludedDates []string              `json:"excluded_dates"`
	SlotMinutes   int                   `json:"slot_minutes"`
	Reminders     []Reminder            `json:"reminders,omitempty"`      // for appointments without reminders of their own
	ReminderHours *ReminderHours        `json:"reminder_hours,omitempty"` // hours in which reminders are sent. Default: 08:00 to 21:00.
}

// Key returns the key of the provider in the store.
func (x *Provider) Key() Key { return Key{"provider", x.WorkspaceID, x.ID} }

// Indexes returns the index of all providers in the environment.
func (x *Provider) Indexes() []string { return []string{envIndex(x.Environment)} }

// Sort returns the ID, which sorts by creation time.
func (x *Provider) Sort() string { return x.ID }

// ProviderName reserves the name of a provider, so that it is unique within its environment.
type ProviderName struct {
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	Name        string      `json:"name"` // in lower case
	ProviderID  string      `json:"provider_id"`
}

// Key returns the key of the reserved name in the store. It contains the environment and the name.
func (n *ProviderName) Key() Key {
	return Key{"provider_name", n.WorkspaceID, string(n.Environment) + "/" + n.Name}
}

// Indexes returns nil: the reserved name is read by key only.
func (n *ProviderName) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the reserved name has no index.
func (n *ProviderName) Sort() string { return "" }

// AppointmentStatus is the state of an appointment.
type AppointmentStatus string

// States of an appointment.
const (
	AppointmentBooked    AppointmentStatus = "booked"    // the time is reserved
	AppointmentConfirmed AppointmentStatus = "confirmed" // the patient has confirmed
	AppointmentCancelled AppointmentStatus = "cancelled" // the time is free again
	AppointmentCompleted AppointmentStatus = "completed" // the appointment took place
	AppointmentNoShow    AppointmentStatus = "no_show"   // the patient did not come
)

// Values returns the states of an appointment.
func (AppointmentStatus) Values() []string {
	return values(
		AppointmentBooked, AppointmentConfirmed, AppointmentCancelled, AppointmentCompleted, AppointmentNoShow,
	)
}

// Open reports whether the appointment may still be changed.
func (s AppointmentStatus) Open() bool { return s == AppointmentBooked || s == AppointmentConfirmed }

// Patient is the person for whom an appointment is booked.
type Patient struct {
	Name  string `json:"name"`
	Phone string `json:"phone"` // E.164
}

// Appointment reserves a time of a provider for a patient.
type Appointment struct {
	Meta
	AppointmentID   string                `json:"appointment_id"` // same as ID
	Patient         Patient               `json:"patient"`
	Provider        string                `json:"provider"` // name of the provider at the time of booking
	ProviderID      string                `json:"provider_id"`
	Datetime        time.Time             `json:"datetime"`
	EndsAt          time.Time             `json:"ends_at"`
	Timezone        string                `json:"timezone"`
	LocalDatetime   string                `json:"local_datetime"` // Datetime in Timezone, with UTC offset
	DurationMinutes int                   `json:"duration_minutes"`
	Type            string                `json:"type"`
	Status          AppointmentStatus     `json:"status"`
	CallID          string                `json:"call_id,omitempty"`
	Notes           string                `json:"notes,omitempty"`
	CancelReason    string                `json:"cancel_reason,omitempty"`
	ConfirmedAt     *time.Time            `json:"confirmed_at"`
	CancelledAt     *time.Time            `json:"cancelled_at"`
	Moves           int                   `json:"moves"`    // number of times the appointment was rescheduled
	Sequence        int                   `json:"sequence"` // number of changes
	Reminders       []AppointmentReminder `json:"reminders,omitempty"`
}

// Key returns the key of the appointment in the store.
func (a *Appointment) Key() Key { return Key{"appointment", a.WorkspaceID, a.ID} }

// Indexes returns the indexes by environment, status, provider and phone number, and the index by call if there is one.
func (a *Appointment) Indexes() []string {
	e := string(a.Environment)
	ix := []string{
		envIndex(a.Environment), "status=" + e + "/" + string(a.Status), "provider=" + a.ProviderID, "phone=" + e + "/" + a.Patient.Phone,
	}
	if a.CallID != "" {
		ix = append(ix, "call="+a.CallID)
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (a *Appointment) Sort() string { return a.ID }

// Booked is a span of a provider's time that an appointment occupies.
type Booked struct {
	Start         time.Time `json:"start"`
	End           time.Time `json:"end"`
	AppointmentID string    `json:"appointment_id"`
}

// BookingDay lists the booked periods of one provider on one UTC day. Every commit that changes an appointment also
// changes this record and requires that its version is unchanged, so that no time is booked twice.
type BookingDay struct {
	WorkspaceID string   `json:"workspace_id"`
	ProviderID  string   `json:"provider_id"`
	Day         string   `json:"day"` // YYYY-MM-DD
	Booked      []Booked `json:"booked"`
}

// Key returns the key of the booking day in the store. It contains the provider and the day, in chronological order.
func (d *BookingDay) Key() Key { return Key{"booking", d.WorkspaceID, d.ProviderID + "/" + d.Day} }

// Indexes returns no indexes: booking days are listed by key prefix.
func (d *BookingDay) Indexes() []string { return nil }

// Sort returns the day as YYYY-MM-DD.
func (d *BookingDay) Sort() string { return d.Day }
