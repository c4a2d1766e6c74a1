package domain

import (
	"crypto/sha256"
	"time"
)

// The ways in which a patient is reminded.
const (
	RemindSMS  = "sms"
	RemindCall = "call"
)

// Reminder is a word to the patient ahead of an appointment.
type Reminder struct {
	Channel       string `json:"channel"`            // sms | call
	MinutesBefore int    `json:"minutes_before"`     // the appointment
	Body          string `json:"body,omitempty"`     // sms: the text, {{name}} filled in; "": one of ours
	AgentID       string `json:"agent_id,omitempty"` // call: who calls
	From          string `json:"from,omitempty"`     // the number shown; "": the workspace's
}

// ReminderHours are those of a day, in the appointment's zone, within which
// patients are reminded.
type ReminderHours struct {
	Start string `json:"start"` // HH:MM
	End   string `json:"end"`   // HH:MM, up to 24:00
}

// ReminderStatus is what has become of a reminder.
type ReminderStatus string

// The states of a reminder. All but the first are final, until the appointment
// is moved.
const (
	ReminderScheduled ReminderStatus = "scheduled"
	ReminderSent      ReminderStatus = "sent"      // its message is queued, or its call placed
	ReminderSkipped   ReminderStatus = "skipped"   // there was no time left for it
	ReminderFailed    ReminderStatus = "failed"    // it must not or cannot be sent
	ReminderCancelled ReminderStatus = "cancelled" // the appointment is
)

// Values are the states of a reminder.
func (ReminderStatus) Values() []string {
	return values(ReminderScheduled, ReminderSent, ReminderSkipped, ReminderFailed, ReminderCancelled)
}

// AppointmentReminder is a reminder of an appointment.
type AppointmentReminder struct {
	Channel       string         `json:"channel"`
	MinutesBefore int            `json:"minutes_before"`
	Body          string         `json:"body,omitempty"`
	AgentID       string         `json:"agent_id,omitempty"`
	From          string         `json:"from,omitempty"`
	Status        ReminderStatus `json:"status"`
	DueAt         time.Time      `json:"due_at"`
	SentAt        *time.Time     `json:"sent_at"`
	MessageID     string         `json:"message_id,omitempty"`
	CallID        string         `json:"call_id,omitempty"`
	Reason        Code           `json:"reason,omitempty"` // skipped, failed: why
}

// Definition is the reminder as it was ordered.
func (r *AppointmentReminder) Definition() Reminder {
	return Reminder{Channel: r.Channel, MinutesBefore: r.MinutesBefore, Body: r.Body, AgentID: r.AgentID, From: r.From}
}

// NextReminder is when the next scheduled reminder is due; false: none is.
func (a *Appointment) NextReminder() (at time.Time, ok bool) {
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == ReminderScheduled && (!ok || r.DueAt.Before(at)) {
			at, ok = r.DueAt, true
		}
	}
	return at, ok
}

// ReminderDue says when to look at an appointment because of its reminders. It
// is written with the appointment, and is there while one is scheduled.
type ReminderDue struct {
	WorkspaceID   string    `json:"workspace_id"`
	AppointmentID string    `json:"appointment_id"`
	At            time.Time `json:"at"`
}

// Key names the row.
func (d *ReminderDue) Key() Key { return Key{"reminder", d.WorkspaceID, d.AppointmentID} }

// Indexes: all of them.
func (d *ReminderDue) Indexes() []string { return []string{"all"} }

// Sort is by when it is due, in the shape of an id.
func (d *ReminderDue) Sort() string {
	sum := sha256.Sum256([]byte(d.AppointmentID))
	return ID(PrefixAppointment, d.At, [10]byte(sum[:10]))
}
