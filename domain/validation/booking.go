package validation

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/knowledge"
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

// Message adds the problems with a text message. It does not check the phone numbers.
func Message(p *domain.Problems, o *domain.NewMessage) {
	Metadata(p, o.Metadata)
	switch n := utf8.RuneCountInString(o.Body); {
	case strings.TrimSpace(o.Body) == "":
		p.Add("body", domain.CodeValidation, "is required")
	case n > sms.MaxBody:
		p.Add("body", domain.CodeValidation, "has %d characters; %d at most", n, sms.MaxBody)
	case !utf8.ValidString(o.Body) || strings.ContainsRune(o.Body, 0):
		p.Add("body", domain.CodeValidation, "must be text")
	}
	for i, u := range atMost(p, "media", o.Media, sms.MaxMedia) {
		HTTPS(p, indexedParam("media", i), u)
	}
}

// Source adds the problems with a source of a knowledge base. prefix is the path of the source in the request, for
// example "sources[0].".
func Source(p *domain.Problems, prefix string, s *domain.NewKnowledgeSource) {
	Text(p, prefix+"name", s.Name, s.Type == domain.SourceFile, MaxName)
	switch s.Type {
	case domain.SourceURL:
		if s.Text != "" {
			p.Add(prefix+"text", domain.CodeValidation, "must not be sent with a url")
		}
		HTTPS(p, prefix+"url", s.URL)
		return
	case domain.SourceText, domain.SourceFile:
	default:
		p.Add(prefix+"type", domain.CodeValidation, "must be text, url or file")
		return
	}
	field := prefix + "text"
	if s.Type == domain.SourceFile {
		field = prefix + "content"
	}
	if s.URL != "" {
		p.Add(prefix+"url", domain.CodeValidation, "is for sources of the type url")
	}
	switch {
	case strings.TrimSpace(s.Text) == "":
		p.Add(field, domain.CodeValidation, "is required")
	case s.Type == domain.SourceFile && s.ContentType == "application/pdf":
		checkPDF(p, field, s.Text)
	case len(s.Text) > knowledge.MaxSourceBytes:
		p.Add(field, domain.CodeValidation, "has more than %d bytes", knowledge.MaxSourceBytes)
	case !utf8.ValidString(s.Text) || strings.ContainsRune(s.Text, 0):
		p.Add(field, domain.CodeValidation, "must be text in UTF-8")
	}
	switch {
	case s.ContentType == "":
		p.Add(prefix+"content_type", domain.CodeValidation, "must be text/plain, text/markdown, text/html or application/pdf, or follow from a name that ends in .txt, .md, .html or .pdf")
	case s.ContentType == "application/pdf" && s.Type == domain.SourceText:
		p.Add(prefix+"content_type", domain.CodeValidation, "must not be application/pdf for a text; send it as a file")
	}
}

// checkPDF checks the size and the signature of a PDF file without decoding the file.
func checkPDF(p *domain.Problems, field, file string) {
	if len(file) > knowledge.MaxPDFBytes {
		p.Add(field, domain.CodeValidation, "has more than %d bytes", knowledge.MaxPDFBytes)
	} else if !strings.Contains(file[:min(len(file), 1024)], "%PDF-") {
		p.Add(field, domain.CodeValidation, "must be a PDF file, in base64")
	}
}

// KnowledgeBase adds the problems with a knowledge base.
func KnowledgeBase(p *domain.Problems, k *domain.KnowledgeBase) {
	Metadata(p, k.Metadata)
	Text(p, "name", k.Name, true, MaxName)
}

// Sources adds the problems with the initial sources of a knowledge base.
func Sources(p *domain.Problems, all []domain.NewKnowledgeSource) {
	for i := range atMost(p, "sources", all, knowledge.MaxSources) {
		Source(p, "sources["+strconv.Itoa(i)+"].", &all[i])
	}
}
