package domain

import "time"

// OpenSpan is a stretch of a day, as clocks in the provider's zone show it.
type OpenSpan struct {
	Start string `json:"start"` // HH:MM
	End   string `json:"end"`   // HH:MM, up to 24:00
}

// Provider is somebody, or something, that can be booked: one appointment at a
// time.
type Provider struct {
	Meta
	Name          string                `json:"name"`
	Timezone      string                `json:"timezone"`
	Hours         map[string][]OpenSpan `json:"hours"` // by lowercase weekday
	ExcludedDates []string              `json:"excluded_dates"`
	SlotMinutes   int                   `json:"slot_minutes"`
	Reminders     []Reminder            `json:"reminders,omitempty"`      // of appointments that say nothing else
	ReminderHours *ReminderHours        `json:"reminder_hours,omitempty"` // 08:00 to 21:00 unless said
}

// Key names the row.
func (x *Provider) Key() Key { return Key{"provider", x.WorkspaceID, x.ID} }

// Indexes: by environment.
func (x *Provider) Indexes() []string { return []string{envIndex(x.Environment)} }

// Sort is by age.
func (x *Provider) Sort() string { return x.ID }

// ProviderName makes a provider's name unique within its environment.
type ProviderName struct {
	WorkspaceID string      `json:"workspace_id"`
	Environment Environment `json:"environment"`
	Name        string      `json:"name"` // folded
	ProviderID  string      `json:"provider_id"`
}

// Key names the row.
func (n *ProviderName) Key() Key {
	return Key{"provider_name", n.WorkspaceID, string(n.Environment) + "/" + n.Name}
}

// Indexes: none.
func (n *ProviderName) Indexes() []string { return nil }

// Sort is of no use.
func (n *ProviderName) Sort() string { return "" }

// AppointmentStatus is where an appointment stands.
type AppointmentStatus string

// The states of an appointment.
const (
	AppointmentBooked    AppointmentStatus = "booked"    // the time is taken
	AppointmentConfirmed AppointmentStatus = "confirmed" // and the patient has said so
	AppointmentCancelled AppointmentStatus = "cancelled" // the time is free again
	AppointmentCompleted AppointmentStatus = "completed" // it took place
	AppointmentNoShow    AppointmentStatus = "no_show"   // nobody came
)

// Values are the states of an appointment.
func (AppointmentStatus) Values() []string {
	return values(
		AppointmentBooked, AppointmentConfirmed, AppointmentCancelled, AppointmentCompleted, AppointmentNoShow,
	)
}

// Open says whether the appointment may still be changed.
func (s AppointmentStatus) Open() bool { return s == AppointmentBooked || s == AppointmentConfirmed }

// Patient is for whom an appointment is.
type Patient struct {
	Name  string `json:"name"`
	Phone string `json:"phone"` // E.164
}

// Appointment is a time of a provider that was given to somebody.
type Appointment struct {
	Meta
	AppointmentID   string                `json:"appointment_id"` // as ID
	Patient         Patient               `json:"patient"`
	Provider        string                `json:"provider"` // its name when it was booked
	ProviderID      string                `json:"provider_id"`
	Datetime        time.Time             `json:"datetime"`
	EndsAt          time.Time             `json:"ends_at"`
	Timezone        string                `json:"timezone"`
	LocalDatetime   string                `json:"local_datetime"` // Datetime in Timezone, with its offset
	DurationMinutes int                   `json:"duration_minutes"`
	Type            string                `json:"type"`
	Status          AppointmentStatus     `json:"status"`
	CallID          string                `json:"call_id,omitempty"`
	Notes           string                `json:"notes,omitempty"`
	CancelReason    string                `json:"cancel_reason,omitempty"`
	ConfirmedAt     *time.Time            `json:"confirmed_at"`
	CancelledAt     *time.Time            `json:"cancelled_at"`
	Moves           int                   `json:"moves"`    // how often it was rescheduled
	Sequence        int                   `json:"sequence"` // how often it was changed
	Reminders       []AppointmentReminder `json:"reminders,omitempty"`
}

// Key names the row.
func (a *Appointment) Key() Key { return Key{"appointment", a.WorkspaceID, a.ID} }

// Indexes: by environment, status, provider, patient and call.
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

// Sort is by age.
func (a *Appointment) Sort() string { return a.ID }

// Booked is a stretch of a provider's time that an appointment has.
type Booked struct {
	Start         time.Time `json:"start"`
	End           time.Time `json:"end"`
	AppointmentID string    `json:"appointment_id"`
}

// BookingDay is what is taken of one day, in UTC, of a provider's time. It
// changes in the commit that changes an appointment, under its guard: so no
// time is given twice.
type BookingDay struct {
	WorkspaceID string   `json:"workspace_id"`
	ProviderID  string   `json:"provider_id"`
	Day         string   `json:"day"` // YYYY-MM-DD
	Booked      []Booked `json:"booked"`
}

// Key names the row: in the order of days.
func (d *BookingDay) Key() Key { return Key{"booking", d.WorkspaceID, d.ProviderID + "/" + d.Day} }

// Indexes: none; days are listed by the key's beginning.
func (d *BookingDay) Indexes() []string { return nil }

// Sort is by day.
func (d *BookingDay) Sort() string { return d.Day }
