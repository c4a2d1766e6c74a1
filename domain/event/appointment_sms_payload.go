package event

import (
	"encoding/json"
	"time"

	"github.com/callboard/callboard/domain"
)

// AppointmentData is the payload of the appointment events: the appointment and the previous values of changed
// fields.
type AppointmentData struct {
	AppointmentID   string                     `json:"appointment_id"`
	CallID          string                     `json:"call_id,omitempty"`
	Patient         domain.Patient             `json:"patient"`
	Provider        string                     `json:"provider"`
	ProviderID      string                     `json:"provider_id"`
	Datetime        time.Time                  `json:"datetime"`
	EndsAt          time.Time                  `json:"ends_at"`
	Timezone        string                     `json:"timezone"`
	LocalDatetime   string                     `json:"local_datetime"`
	DurationMinutes int                        `json:"duration_minutes"`
	Type            string                     `json:"type"`
	Status          domain.AppointmentStatus   `json:"status"`
	Notes           string                     `json:"notes,omitempty"`
	CancelReason    string                     `json:"cancel_reason,omitempty"`
	Metadata        map[string]string          `json:"metadata,omitempty"`
	Previous        map[string]json.RawMessage `json:"previous,omitempty"`
	Channel         string                     `json:"channel,omitempty"` // reminder: sms or call
	SentAt          *time.Time                 `json:"sent_at,omitempty"`
	MessageID       string                     `json:"message_id,omitempty"`       // reminder: the message
	ReminderCallID  string                     `json:"reminder_call_id,omitempty"` // reminder: the call; call_id is the call in which the appointment was booked
}

// NewAppointmentData returns the AppointmentData of an appointment.
func NewAppointmentData(a *domain.Appointment, previous map[string]json.RawMessage) AppointmentData {
	return AppointmentData{
		AppointmentID: a.ID, CallID: a.CallID, Patient: a.Patient, Provider: a.Provider, ProviderID: a.ProviderID,
		Datetime: a.Datetime, EndsAt: a.EndsAt, Timezone: a.Timezone, LocalDatetime: a.LocalDatetime, DurationMinutes: a.DurationMinutes,
		Type: a.Type, Status: a.Status, Notes: a.Notes, CancelReason: a.CancelReason, Metadata: a.Metadata, Previous: previous,
	}
}

// SMSData is the payload of sms.sent, sms.delivered and sms.failed.
type SMSData struct {
	MessageID string               `json:"message_id"`
	From      string               `json:"from"`
	To        string               `json:"to"`
	Status    domain.MessageStatus `json:"status"`
	Segments  int                  `json:"segments"`
	ErrorCode string               `json:"error_code,omitempty"`
}

// NewSMSData returns the SMSData of a message.
func NewSMSData(m *domain.Message) SMSData {
	return SMSData{MessageID: m.ID, From: m.From, To: m.To, Status: m.Status, Segments: m.Segments, ErrorCode: m.ErrorCode}
}

// SMSReceivedData is the payload of sms.received.
type SMSReceivedData struct {
	MessageID string   `json:"message_id"`
	From      string   `json:"from"`
	To        string   `json:"to"`
	Body      string   `json:"body"`
	Media     []string `json:"media"`
	OptOut    bool     `json:"opt_out"`
	ReplyTo   string   `json:"reply_to,omitempty"`
}

// NewSMSReceivedData returns the SMSReceivedData of a message.
func NewSMSReceivedData(m *domain.Message) SMSReceivedData {
	media := m.Media
	if media == nil {
		media = []string{}
	}
	return SMSReceivedData{MessageID: m.ID, From: m.From, To: m.To, Body: m.Body, Media: media, OptOut: m.OptOut, ReplyTo: m.ReplyTo}
}
