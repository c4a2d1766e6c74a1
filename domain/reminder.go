package domain

import (
	"crypto/sha256"
	"time"
)

// The channels of appointment reminders.
const (
	RemindSMS  = "sms"
	RemindCall = "call"
)

// Reminder defines a reminder that is sent before an appointment to the person who has it.
type Reminder struct {
	Channel       string `json:"channel"`            // sms or call
	MinutesBefore int    `json:"minutes_before"`     // minutes before the appointment
	Body          string `json:"body,omitempty"`     // sms: text with placeholders; empty: the default text
	AgentID       string `json:"agent_id,omitempty"` // call: the agent that calls
	From          string `json:"from,omitempty"`     // sender number or caller ID; empty: a number of the workspace
}

// ReminderHours is the daily period in which reminders are sent, in the time zone of the appointment.
type ReminderHours struct {
	Start string `json:"start"` // HH:MM
	End   string `json:"end"`   // HH:MM, up to 24:00
}

// ReminderStatus is the state of a reminder.
type ReminderStatus string

// The states of a reminder. All except scheduled are final until the appointment is rescheduled.
const (
	ReminderScheduled ReminderStatus = "scheduled"
	ReminderSent      ReminderStatus = "sent"      // the message is queued or the call is placed
	ReminderSkipped   ReminderStatus = "skipped"   // too late to be useful
	ReminderFailed    ReminderStatus = "failed"    // sending was not allowed or failed
	ReminderCancelled ReminderStatus = "cancelled" // the appointment was cancelled
)

// Values returns the states of a reminder.
func (ReminderStatus) Values() []string {
	return values(ReminderScheduled, ReminderSent, ReminderSkipped, ReminderFailed, ReminderCancelled)
}

// AppointmentReminder is the state of one reminder of an appointment.
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
	Reason        Code           `json:"reason,omitempty"` // skipped, failed: the cause
}

// Definition returns the Reminder from which this reminder was created.
func (r *AppointmentReminder) Definition() Reminder {
	return Reminder{Channel: r.Channel, MinutesBefore: r.MinutesBefore, Body: r.Body, AgentID: r.AgentID, From: r.From}
}

// NextReminder returns the time of the next scheduled reminder. ok is false if there is none.
func (a *Appointment) NextReminder() (at time.Time, ok bool) {
	for i := range a.Reminders {
		if r := &a.Reminders[i]; r.Status == ReminderScheduled && (!ok || r.DueAt.Before(at)) {
			at, ok = r.DueAt, true
		}
	}
	return at, ok
}

// ReminderDue holds the time of the next reminder of an appointment. It is written in the same commit as the
// appointment and exists while a reminder is scheduled.
type ReminderDue struct {
	WorkspaceID   string    `json:"workspace_id"`
	AppointmentID string    `json:"appointment_id"`
	At            time.Time `json:"at"`
}

// Key returns the key of the reminder in the store.
func (d *ReminderDue) Key() Key { return Key{"reminder", d.WorkspaceID, d.AppointmentID} }

// Indexes returns the index of all scheduled reminders.
func (d *ReminderDue) Indexes() []string { return []string{"all"} }

// Sort returns a sort key that orders reminders by due time. It has the form of a resource ID.
func (d *ReminderDue) Sort() string {
	sum := sha256.Sum256([]byte(d.AppointmentID))
	return ID(PrefixAppointment, d.At, [10]byte(sum[:10]))
}
