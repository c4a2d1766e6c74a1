// Package event defines the events of Callboard: types with aliases, the envelope, attributes and payloads.
package event

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Type is the type of an event, for example call.ended.
type Type string

// The event types (API.md, Events and webhooks).
const (
	CallStarted            Type = "call.started"
	CallRinging            Type = "call.ringing"
	CallAnswered           Type = "call.answered"
	CallAnsweredBy         Type = "call.answered_by" // answering machine detection has decided, or has changed its decision
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
	CallStarted, CallRinging, CallAnswered, CallAnsweredBy, CallTransferred, CallEnded, CallRecordingReady,
	CallTranscriptReady, CallAnalysisReady, SMSReceived, SMSSent, SMSDelivered, SMSFailed,
	AgentIntentDetected, AgentActionTriggered, AgentEscalation, AgentError, AgentUpdated,
	AppointmentCreated, AppointmentUpdated, AppointmentCancelled, AppointmentConfirmed,
	AppointmentRescheduled, AppointmentReminder, CampaignCreated, CampaignStarted, CampaignPaused,
	CampaignResumed, CampaignCancelled, CampaignProgress, CampaignCompleted, CampaignCallCompleted,
	ContactOptedOut, WebhookTest, WebhookDisabled, WorkspaceUpdated, SystemDegraded,
	AlertFiring, AlertResolved,
}

// aliases maps the alternative names that webhook subscriptions may use to event types.
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

// Types returns all event types.
func Types() []Type { return append([]Type(nil), allTypes...) }

// ParseType returns the event type for a name or an alias. ok is false for unknown names.
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

// MatchSubscription reports whether a webhook subscription includes an event type. as is the name under which the
// event is sent: the alias if the endpoint subscribed only to the alias.
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

// IsValidPattern reports whether an entry of a webhook's events list is a type, an alias, a category wildcard or "*".
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

// Draft is an event before its commit. The commit assigns offset and sequence.
type Draft struct {
	ID          string
	Type        Type
	CreatedAt   time.Time
	WorkspaceID string
	Environment domain.Environment
	SvcID       string
	Subject     string      // ID of the call, campaign, appointment …
	Data        any         // encoded as JSON
	Attributes  *Attributes // nil: the payload contains all attributes
}

// Event is an event that is stored and has a position in the event log.
type Event struct {
	ID          string          `json:"id"`
	Type        Type            `json:"type"`
	CreatedAt   time.Time       `json:"created_at"`
	WorkspaceID string          `json:"workspace_id"`
	SvcID       string          `json:"svc_id"`
	Subject     string          `json:"subject"`
	Sequence    uint64          `json:"sequence"` // for each subject, from 1
	Data        json.RawMessage `json:"data"`
	// The following fields are internal and not part of the JSON.
	Environment domain.Environment `json:"-"`
	Attributes  *Attributes        `json:"-"` // nil: the payload contains all attributes
	Offset      uint64             `json:"-"` // position in the commit order of the workspace, from 1 without gaps
}

// TraceParent returns the traceparent header (W3C Trace Context) of the API request that caused the event, or "".
func (e *Event) TraceParent() string {
	if e.Attributes == nil {
		return ""
	}
	return e.Attributes.TraceParent
}
