package validation

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/sms"
)

// Limits of the fields of appointments.
const (
	MaxNotes  = 2000
	MaxReason = 500
	MaxType   = 100

	MaxReminders       = 5               // of an appointment
	minAhead, maxAhead = 5, 60 * 24 * 60 // minutes between a reminder and its appointment
)

// Provider adds the problems with an appointment provider. It does not check the provider's hours.
func Provider(p *domain.Problems, x *domain.Provider) {
	Metadata(p, x.Metadata)
	Text(p, "name", x.Name, true, MaxName)
}

// Appointment adds the problems with an appointment. It does not check the time of the appointment.
func Appointment(p *domain.Problems, a *domain.Appointment, country string) {
	Metadata(p, a.Metadata)
	Text(p, "patient.name", a.Patient.Name, true, MaxName)
	a.Patient.Phone = Phone(p, "patient.phone", a.Patient.Phone, country)
	Text(p, "type", a.Type, false, MaxType)
	Prose(p, "notes", a.Notes, MaxNotes)
	a.CallID = ID(p, "call_id", domain.PrefixCall, a.CallID)
}

// Reminders adds the problems with appointment reminders. It does not check the variables in their texts.
func Reminders(p *domain.Problems, all []domain.Reminder) {
	for i := range atMost(p, "reminders", all, MaxReminders) {
		r, field := &all[i], indexedParam("reminders", i)
		checkOneOf(p, field+".channel", r.Channel, domain.RemindSMS, domain.RemindCall)
		checkBetween(p, field+".minutes_before", r.MinutesBefore, minAhead, maxAhead)
		Prose(p, field+".body", r.Body, sms.MaxBody)
		r.AgentID = ID(p, field+".agent_id", domain.PrefixAgent, r.AgentID)
		if r.From != "" {
			r.From = Phone(p, field+".from", r.From, "")
		}
		switch call := r.Channel == domain.RemindCall; {
		case call && r.AgentID == "":
			p.Add(field+".agent_id", domain.CodeValidation, "is required: an agent makes the call")
		case call && r.Body != "":
			p.Add(field+".body", domain.CodeValidation, "is for the channel sms; in a call the agent speaks")
		case !call && r.AgentID != "":
			p.Add(field+".agent_id", domain.CodeValidation, "is for the channel call")
		}
	}
}
