// Package event holds what Callboard tells the world: the envelope, the names
// with their twins, and the payloads. It knows no store and no endpoint.
package event

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Type is the name of an event.
type Type string

// The names that are emitted (API.md, Events and webhooks).
const (
	CallStarted            Type = "call.started"
	CallRinging            Type = "call.ringing"
	CallAnswered           Type = "call.answered"
	CallTransferred        Type = "call.transferred"
	CallEnded              Type = "call.ended"
	CallRecordingReady     Type = "call.recording.ready"
	CallTranscriptReady    Type = "call.transcription.ready"
	CallAnalysisReady      Type = "call.analysis.ready"
	SMSReceived            Type = "sms.received"
	SMSSent                Type = "sms.sent"
	SMSDelivered           Type = "sms.delivered"
	SMSFailed              Type = "sms.failed"
	AgentIntentDetected    Type = "agent.intent.detected"
	AgentActionTriggered   Type = "agent.action.triggered"
	AgentEscalation        Type = "agent.escalation"
	AgentError             Type = "agent.error"
	AgentUpdated           Type = "agent.updated"
	AppointmentCreated     Type = "appointment.created"
	AppointmentUpdated     Type = "appointment.updated"
	AppointmentCancelled   Type = "appointment.cancelled"
	AppointmentConfirmed   Type = "appointment.confirmed"
	AppointmentRescheduled Type = "appointment.rescheduled"
	AppointmentReminder    Type = "appointment.reminder.sent"
	CampaignCreated        Type = "campaign.created"
	CampaignStarted        Type = "campaign.started"
	CampaignPaused         Type = "campaign.paused"
	CampaignResumed        Type = "campaign.resumed"
	CampaignCancelled      Type = "campaign.cancelled"
	CampaignProgress       Type = "campaign.progress"
	CampaignCompleted      Type = "campaign.completed"
	CampaignCallCompleted  Type = "campaign.call.completed"
	ContactOptedOut        Type = "contact.opted_out"
	WebhookTest            Type = "webhook.test"
	WebhookDisabled        Type = "webhook.disabled"
	WorkspaceUpdated       Type = "workspace.updated"
	SystemDegraded         Type = "system.degraded"
	AlertFiring            Type = "alert.firing"
	AlertResolved          Type = "alert.resolved"
)

var allTypes = []Type{
	CallStarted, CallRinging, CallAnswered, CallTransferred, CallEnded, CallRecordingReady,
	CallTranscriptReady, CallAnalysisReady, SMSReceived, SMSSent, SMSDelivered, SMSFailed,
	AgentIntentDetected, AgentActionTriggered, AgentEscalation, AgentError, AgentUpdated,
	AppointmentCreated, AppointmentUpdated, AppointmentCancelled, AppointmentConfirmed,
	AppointmentRescheduled, AppointmentReminder, CampaignCreated, CampaignStarted, CampaignPaused,
	CampaignResumed, CampaignCancelled, CampaignProgress, CampaignCompleted, CampaignCallCompleted,
	ContactOptedOut, WebhookTest, WebhookDisabled, WorkspaceUpdated, SystemDegraded,
	AlertFiring, AlertResolved,
}

// twins maps the other spelling of a name to the one that is emitted.
var aliases = map[string]Type{
	"call.initiated":          CallStarted,
	"agent.intent_detected":   AgentIntentDetected,
	"agent.action_triggered":  AgentActionTriggered,
	"appointment.booked":      AppointmentCreated,
	"campaign.call_completed": CampaignCallCompleted,
}

// Values returns the event types.
func (Type) Values() []string {
	out := make([]string, len(allTypes))
	for i, t := range allTypes {
		out[i] = string(t)
	}
	return out
}

// Types are all names that are emitted.
func Types() []Type { return append([]Type(nil), allTypes...) }

// ParseType is the emitted name of a name or of its twin; ok is false for an
// unknown one.
func ParseType(name string) (t Type, ok bool) {
	if t, ok = aliases[name]; ok {
		return t, true
	}
	for _, known := range allTypes {
		if string(known) == name {
			return known, true
		}
	}
	return "", false
}

// MatchSubscription reports whether a subscription takes an event, and under which name it
// is sent: the twin where the endpoint named only that.
func MatchSubscription(subscribed []string, t Type) (as string, ok bool) {
	for _, s := range subscribed {
		switch {
		case s == "*" || s == string(t):
			return string(t), true
		case strings.HasSuffix(s, ".*") && strings.HasPrefix(string(t), s[:len(s)-1]):
			return string(t), true
		case aliases[s] == t && t != "":
			as, ok = s, true
		}
	}
	return as, ok
}

// IsValidPattern reports whether an entry of events is a name, a twin, a category
// wildcard or "*".
func IsValidPattern(s string) bool {
	if s == "*" {
		return true
	}
	if prefix, ok := strings.CutSuffix(s, "*"); ok {
		for _, t := range allTypes {
			if strings.HasSuffix(prefix, ".") && strings.Count(prefix, ".") == 1 && strings.HasPrefix(string(t), prefix) {
				return true
			}
		}
		return false
	}
	_, ok := ParseType(s)
	return ok
}

// Draft is an event before its commit, which gives it offset and sequence.
type Draft struct {
	ID          string
	Type        Type
	CreatedAt   time.Time
	WorkspaceID string
	Environment domain.Environment
	SvcID       string
	Subject     string      // id of the call, campaign, appointment …
	Data        any         // JSON
	Attributes  *Attributes // nil: its payload says it all
}

// Event is the committed envelope.
type Event struct {
	ID          string          `json:"id"`
	Type        Type            `json:"type"`
	CreatedAt   time.Time       `json:"created_at"`
	WorkspaceID string          `json:"workspace_id"`
	SvcID       string          `json:"svc_id"`
	Subject     string          `json:"subject"`
	Sequence    uint64          `json:"sequence"` // per subject, from 1
	Data        json.RawMessage `json:"data"`
	// Environment, Offset and About are the store's; the envelope sent out has
	// none of them.
	Environment domain.Environment `json:"-"`
	Attributes  *Attributes        `json:"-"` // nil: its payload says it all
	Offset      uint64             `json:"-"` // commit order within the workspace, dense from 1
}

// TraceParent is the trace context of the API request that caused the event; "":
// there is none.
func (e *Event) TraceParent() string {
	if e.Attributes == nil {
		return ""
	}
	return e.Attributes.TraceParent
}
