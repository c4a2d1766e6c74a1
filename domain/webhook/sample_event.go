package webhook

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// IDs and phone numbers in sample events. The phone numbers are reserved for fiction.
const (
	sampleCall        = "call_00000000000000000000000000"
	sampleAgent       = "agent_00000000000000000000000000"
	sampleCampaign    = "campaign_00000000000000000000000000"
	sampleContact     = "contact_00000000000000000000000000"
	sampleMessage     = "msg_00000000000000000000000000"
	sampleAppointment = "appt_00000000000000000000000000"
	sampleTrunk       = "trunk_00000000000000000000000000"
	sampleAlert       = "alert_00000000000000000000000000"
	sampleFrom        = "+12025550100"
	sampleTo          = "+12025550123"
	sampleName        = "Alex Example"
)

// SampleEvent returns the event for a test of an endpoint. It is webhook.test, or an example of another type that has
// all fields and test: true.
func SampleEvent(t event.Type, w *domain.Webhook, id string, at time.Time) event.Event {
	at = at.UTC()
	e := event.Event{
		ID: id, Type: t, CreatedAt: at, WorkspaceID: w.WorkspaceID, Environment: w.Environment,
		SvcID: domain.UnitID(w.WorkspaceID), Subject: w.ID, Sequence: 1,
	}
	if t == event.WebhookTest || t == "" {
		e.Type = event.WebhookTest
		e.Data, _ = domain.EncodeJSON(SamplePayload(event.WebhookTest, w, at)) // a plain struct can always be encoded
		return e
	}
	raw, _ := domain.EncodeJSON(SamplePayload(t, w, at)) // plain structs can always be encoded
	fields := make(map[string]json.RawMessage)
	_ = json.Unmarshal(raw, &fields) // all payloads are objects
	fields["test"] = json.RawMessage("true")
	e.Data, _ = domain.EncodeJSON(fields)
	e.Subject = cmp.Or(SampleSubject(t, w), e.Subject)
	return e
}

// SampleSubject returns the ID of the resource that a sample event is about, or "" if it is about the webhook itself.
func SampleSubject(t event.Type, w *domain.Webhook) string {
	switch category, _, _ := strings.Cut(string(t), "."); {
	case t == event.AgentUpdated:
		return sampleAgent
	case t == event.WorkspaceUpdated:
		return w.WorkspaceID
	case t == event.SystemDegraded:
		return sampleTrunk
	case category == "alert":
		return sampleAlert
	case category == "call", category == "agent", category == "contact":
		return sampleCall
	case category == "sms":
		return sampleMessage
	case category == "appointment":
		return sampleAppointment
	case category == "campaign":
		return sampleCampaign
	}
	return ""
}

// SamplePayload returns an example payload of an event type in which all fields are set.
func SamplePayload(t event.Type, w *domain.Webhook, at time.Time) any {
	switch t {
	case event.CallStarted, event.CallRinging, event.CallAnswered, event.CallAnsweredBy, event.CallEnded, event.CallTransferred, event.CallRecordingReady,
		event.CallTranscriptReady, event.CallAnalysisReady:
		return callExample(t, at)
	case event.SMSReceived:
		return event.SMSReceivedData{MessageID: sampleMessage, From: sampleTo, To: sampleFrom, Body: "Yes", Media: []string{}, ReplyTo: sampleMessage}
	case event.SMSSent, event.SMSDelivered, event.SMSFailed:
		return smsExample(t)
	case event.AgentIntentDetected, event.AgentActionTriggered, event.AgentEscalation, event.AgentError:
		return agentExample(t)
	case event.AppointmentCreated, event.AppointmentUpdated, event.AppointmentCancelled, event.AppointmentConfirmed,
		event.AppointmentRescheduled, event.AppointmentReminder:
		return appointmentExample(t, at)
	case event.CampaignCreated, event.CampaignStarted, event.CampaignPaused, event.CampaignResumed, event.CampaignCancelled, event.CampaignCompleted,
		event.CampaignProgress, event.CampaignCallCompleted:
		return campaignExample(t, at)
	case event.ContactOptedOut:
		return event.OptedOutData{
			Phone: sampleTo, Channel: "speech", Keyword: "stop", CallID: sampleCall, MessageID: sampleMessage, CampaignID: sampleCampaign,
			ContactID: sampleContact, ListID: "dnc_00000000000000000000000000",
		}
	case event.WebhookDisabled:
		return event.WebhookDisabledData{WebhookID: w.ID, URL: w.URL, Reason: ReasonGone, At: at}
	case event.AgentUpdated:
		return event.ResourceChangedData{ID: sampleAgent, Changed: []string{"name"}}
	case event.WorkspaceUpdated:
		return event.ResourceChangedData{ID: w.WorkspaceID, Changed: []string{"name"}}
	case event.AlertFiring, event.AlertResolved:
		return event.AlertData{
			AlertID: sampleAlert, RuleID: "alertrule_00000000000000000000000000", RuleName: "Example", Kind: domain.AlertTrunkDown, OfWorkspaceID: w.WorkspaceID,
			SubjectID: sampleTrunk, SubjectName: "Example", Since: at, Message: "trunk Example is down",
		}
	case event.WebhookTest:
		return event.WebhookTestData{WebhookID: w.ID, Message: "This is a test event."}
	case event.SystemDegraded:
	}
	return event.SystemDegradedData{
		TrunkID: sampleTrunk, TrunkName: "Example", Measure: "asr", Value: 0.31, Bound: 0.4, Calls: 100, WindowSeconds: 3600,
		Message: "asr of trunk Example is 0.31 over its last 100 calls; its bound is 0.4",
	}
}

func callExample(t event.Type, at time.Time) any {
	const url = "https://callboard.example/v1/calls/" + sampleCall
	ref := event.CallRef{CallID: sampleCall, Direction: domain.Outbound, AgentID: sampleAgent, CampaignID: sampleCampaign}
	if t == event.CallEnded {
		return event.CallEndedData{
			CallID: sampleCall, Direction: domain.Outbound, From: sampleFrom, To: sampleTo, AgentID: sampleAgent, CampaignID: sampleCampaign,
			Duration: 42, DurationSeconds: 42, Disposition: "completed", EndedReason: domain.ReasonCompleted, Intent: "book_appointment",
			AnsweredBy: "human",
			Outcome: domain.CallOutcome{
				Result: domain.OutcomeCompleted, AppointmentBooked: true, AppointmentID: sampleAppointment, AppointmentDate: "2030-01-15",
				AppointmentTime: "09:30", Intent: "book_appointment", Notes: "Rings twice.",
			},
			TranscriptURL: url + "/transcript", RecordingURL: url + "/recording", TranscriptAvailable: true, RecordingAvailable: true,
		}
	}
	if t == event.CallTransferred {
		return event.TransferredData{
			CallRef: ref, To: sampleTo, Mode: domain.TransferBlind, Status: domain.TransferFailed, Reason: "busy",
			SIP: []domain.SIPStep{
				{At: at.Add(-2 * time.Second), Method: "REFER", Code: 202, Phrase: "Accepted"},
				{At: at, Method: "NOTIFY", Code: 486, Phrase: "Busy Here"},
			},
		}
	}
	if t == event.CallRecordingReady {
		return event.RecordingData{CallRef: ref, RecordingURL: url + "/recording", DurationSeconds: 42}
	}
	if t == event.CallAnalysisReady {
		success := true
		return event.AnalysisData{CallRef: ref, Analysis: domain.CallAnalysis{
			Summary: "The caller booked an appointment.", Success: &success, Reason: "An appointment was booked.", Fields: map[string]any{"date": "2030-01-15"},
			At: time.Date(2030, 1, 15, 12, 0, 0, 0, time.UTC),
		}}
	}
	if t == event.CallTranscriptReady {
		return event.TranscriptData{CallRef: ref, TranscriptURL: url + "/transcript", Segments: 4}
	}
	return event.CallData{
		CallID: sampleCall, Direction: domain.Outbound, From: sampleFrom, To: sampleTo, AgentID: sampleAgent, CampaignID: sampleCampaign, AnsweredBy: "human",
	}
}

func smsExample(t event.Type) any {
	d := event.SMSData{MessageID: sampleMessage, From: sampleFrom, To: sampleTo, Status: domain.MessageSent, Segments: 1}
	if t == event.SMSDelivered {
		d.Status = domain.MessageDelivered
	}
	if t == event.SMSFailed {
		d.Status, d.ErrorCode = domain.MessageFailed, "unreachable"
	}
	return d
}

func agentExample(t event.Type) any {
	switch t { //nolint:exhaustive // the others are of other categories
	case event.AgentIntentDetected:
		return event.AgentIntentData{
			CallID: sampleCall, AgentID: sampleAgent, Intent: "book_appointment", Confidence: 0.93, Entities: map[string]string{"date": "2030-01-15"},
		}
	case event.AgentActionTriggered:
		return event.AgentActionData{
			CallID: sampleCall, AgentID: sampleAgent, Action: "check_availability", Arguments: json.RawMessage("{}"), Result: json.RawMessage("{}"), LatencyMs: 120,
		}
	case event.AgentEscalation:
		return event.AgentEscalationData{
			CallID: sampleCall, AgentID: sampleAgent, Reason: "requested", Destination: sampleTo, Summary: "The caller asked for a person.",
		}
	}
	return event.AgentErrorData{
		CallID: sampleCall, AgentID: sampleAgent, Stage: "speech", Code: "unavailable", Message: "The speech engine did not answer.", Recovered: true,
	}
}

func appointmentExample(t event.Type, at time.Time) any {
	starts := at.Truncate(time.Hour).AddDate(0, 0, 1)
	before, _ := domain.EncodeJSON(starts.AddDate(0, 0, -1)) // a time can always be encoded
	d := event.AppointmentData{
		AppointmentID: sampleAppointment, CallID: sampleCall, Patient: domain.Patient{Name: sampleName, Phone: sampleTo},
		Provider: "Dr. Example", ProviderID: "prov_00000000000000000000000000", Datetime: starts, EndsAt: starts.Add(30 * time.Minute), Timezone: "UTC",
		LocalDatetime: starts.Format("2006-01-02T15:04:05"), DurationMinutes: 30, Type: "consultation", Status: domain.AppointmentConfirmed, Notes: "Rings twice.",
		Metadata: map[string]string{"room": "4"},
	}
	type fields = map[string]json.RawMessage
	d.Previous = map[event.Type]fields{
		event.AppointmentCancelled:   {"status": json.RawMessage(`"confirmed"`)},
		event.AppointmentUpdated:     {"notes": json.RawMessage(`""`)},
		event.AppointmentRescheduled: {"datetime": before},
		event.AppointmentConfirmed:   {"status": json.RawMessage(`"booked"`)},
	}[t]
	if t == event.AppointmentReminder {
		d.Channel, d.SentAt, d.MessageID = domain.RemindSMS, &at, "msg_00000000000000000000000000"
	}
	if t == event.AppointmentCancelled {
		d.Status, d.CancelReason = domain.AppointmentCancelled, "The patient is ill."
	}
	return d
}

func campaignExample(t event.Type, at time.Time) any {
	if t == event.CampaignProgress {
		return event.ProgressData{Event: t, CampaignID: sampleCampaign, ProgressPercent: 50, Outcomes: map[domain.Outcome]int{domain.OutcomeCompleted: 5}}
	}
	if t == event.CampaignCallCompleted {
		d := event.CampaignCallData{
			CampaignID: sampleCampaign, CallID: sampleCall, Contact: event.ContactData{Phone: sampleTo, Name: sampleName},
			Outcome: domain.OutcomeCompleted, Reason: domain.ReasonCompleted, AnsweredBy: "human", Attempts: 1, Final: true,
		}
		d.Progress.Completed, d.Progress.Remaining, d.Progress.PercentComplete = 5, 5, 50
		return d
	}
	if t == event.CampaignCompleted {
		c := &domain.Campaign{Meta: domain.Meta{ID: sampleCampaign}, Status: domain.CampaignCompleted, CompletionReason: domain.CompletedExhausted, StartedAt: &at}
		return domain.NewStatusObject(c, &domain.Progress{Total: 10, Attempted: 10, Outcomes: map[domain.Outcome]int{domain.OutcomeCompleted: 10}})
	}
	d := event.CampaignData{CampaignID: sampleCampaign, Name: "Example", Status: campaignStatus[t]}
	if t == event.CampaignPaused {
		d.Reason = "requested"
	}
	return d
}

var campaignStatus = map[event.Type]domain.CampaignStatus{
	event.CampaignCreated: domain.CampaignDraft, event.CampaignStarted: domain.CampaignRunning,
	event.CampaignPaused: domain.CampaignPaused, event.CampaignResumed: domain.CampaignRunning,
	event.CampaignCancelled: domain.CampaignCancelled,
}
