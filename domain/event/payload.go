package event

import (
	"encoding/json"
	"time"

	"github.com/callboard/callboard/domain"
)

// CallData is the payload of call.started, call.ringing, call.answered and call.answered_by.
type CallData struct {
	CallID     string           `json:"call_id"`
	Direction  domain.Direction `json:"direction"`
	From       string           `json:"from"`
	To         string           `json:"to"`
	AgentID    string           `json:"agent_id"`
	CampaignID string           `json:"campaign_id,omitempty"`
	AnsweredBy string           `json:"answered_by,omitempty"`
}

// NewCallData returns the CallData of a call.
func NewCallData(c *domain.Call) CallData {
	return CallData{
		CallID: c.ID, Direction: c.Direction, From: c.From, To: c.To,
		AgentID: c.AgentID, CampaignID: c.CampaignID, AnsweredBy: c.AnsweredBy,
	}
}

// CallEndedData is the payload of call.ended for inbound and outbound calls.
type CallEndedData struct {
	CallID              string             `json:"call_id"`
	Direction           domain.Direction   `json:"direction"`
	From                string             `json:"from"`
	To                  string             `json:"to"`
	AgentID             string             `json:"agent_id"`
	CampaignID          string             `json:"campaign_id,omitempty"`
	Duration            int                `json:"duration"`
	DurationSeconds     int                `json:"duration_seconds"`
	Disposition         string             `json:"disposition"`
	AnsweredBy          string             `json:"answered_by,omitempty"`
	EndedReason         domain.Reason      `json:"ended_reason"`
	MediaIssue          string             `json:"media_issue,omitempty"`
	Intent              string             `json:"intent"`
	Outcome             domain.CallOutcome `json:"outcome"`
	TranscriptURL       string             `json:"transcript_url"`
	RecordingURL        string             `json:"recording_url"`
	TranscriptAvailable bool               `json:"transcript_available"`
	RecordingAvailable  bool               `json:"recording_available"`
}

// NewCallEndedData returns the CallEndedData of an ended call.
func NewCallEndedData(c *domain.Call) CallEndedData {
	d := CallEndedData{
		CallID: c.ID, Direction: c.Direction, From: c.From, To: c.To, AgentID: c.AgentID,
		CampaignID: c.CampaignID, Duration: c.DurationSeconds, DurationSeconds: c.DurationSeconds,
		Disposition: c.Disposition, AnsweredBy: c.AnsweredBy, EndedReason: c.EndedReason, MediaIssue: c.MediaIssue, Intent: c.Intent,
		TranscriptURL: c.TranscriptURL, RecordingURL: c.RecordingURL,
		TranscriptAvailable: c.TranscriptAvailable, RecordingAvailable: c.RecordingAvailable,
	}
	if c.Outcome != nil {
		d.Outcome = *c.Outcome
	}
	return d
}

// CallRef identifies the call of an event, with its direction, agent and campaign.
type CallRef struct {
	CallID     string           `json:"call_id"`
	Direction  domain.Direction `json:"direction"`
	AgentID    string           `json:"agent_id"`
	CampaignID string           `json:"campaign_id,omitempty"`
}

// NewCallRef returns the CallRef of a call.
func NewCallRef(c *domain.Call) CallRef {
	return CallRef{CallID: c.ID, Direction: c.Direction, AgentID: c.AgentID, CampaignID: c.CampaignID}
}

// TransferredData is the payload of call.transferred.
type TransferredData struct {
	CallRef
	To     string                `json:"to"`
	Mode   domain.TransferMode   `json:"mode"`
	Status domain.TransferStatus `json:"status"`
	Reason string                `json:"reason,omitempty"`
	SIP    []domain.SIPStep      `json:"sip,omitempty"` // responses of the remote party so far, at most domain.MaxSIPSteps
}

// RecordingData is the payload of call.recording.ready.
type RecordingData struct {
	CallRef
	RecordingURL    string  `json:"recording_url"`
	DurationSeconds float64 `json:"duration_seconds"`
}

// TranscriptData is the payload of call.transcription.ready.
type TranscriptData struct {
	CallRef
	TranscriptURL string `json:"transcript_url"`
	Segments      int    `json:"segments"`
}

// AnalysisData is the payload of call.analysis.ready.
type AnalysisData struct {
	CallRef
	Analysis domain.CallAnalysis `json:"analysis"`
}

// AgentErrorData is the payload of agent.error.
type AgentErrorData struct {
	CallID    string `json:"call_id"`
	AgentID   string `json:"agent_id"`
	Stage     string `json:"stage"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Recovered bool   `json:"recovered"`
}

// AgentIntentData is the payload of agent.intent.detected.
type AgentIntentData struct {
	CallID     string            `json:"call_id"`
	AgentID    string            `json:"agent_id"`
	Intent     string            `json:"intent"`
	Confidence float64           `json:"confidence"` // 0 to 1
	Entities   map[string]string `json:"entities"`   // date, time, number, name and yes_no, as far as they were said
}

// AgentActionData is the payload of agent.action.triggered.
type AgentActionData struct {
	CallID    string          `json:"call_id"`
	AgentID   string          `json:"agent_id"`
	Action    string          `json:"action"`
	Arguments json.RawMessage `json:"arguments"` // an object
	Result    json.RawMessage `json:"result"`    // an object
	LatencyMs int64           `json:"latency_ms"`
}

// AgentEscalationData is the payload of agent.escalation.
type AgentEscalationData struct {
	CallID      string `json:"call_id"`
	AgentID     string `json:"agent_id"`
	Reason      string `json:"reason"` // requested by the caller in the words of the model, or pathway
	Destination string `json:"destination"`
	Summary     string `json:"summary"`
}

// CampaignData is the payload of campaign.created, campaign.started, campaign.paused, campaign.resumed and
// campaign.cancelled.
type CampaignData struct {
	CampaignID string                `json:"campaign_id"`
	Name       string                `json:"name"`
	Status     domain.CampaignStatus `json:"status"`
	Reason     string                `json:"reason,omitempty"`
}

// ProgressData is the payload of campaign.progress.
type ProgressData struct {
	Event           Type                   `json:"event"`
	CampaignID      string                 `json:"campaign_id"`
	ProgressPercent float64                `json:"progress_percent"`
	Outcomes        map[domain.Outcome]int `json:"outcomes"`
}

// CampaignCallData is the payload of campaign.call.completed.
type CampaignCallData struct {
	CampaignID string                         `json:"campaign_id"`
	CallID     string                         `json:"call_id"`
	Contact    ContactData                    `json:"contact"`
	Outcome    domain.Outcome                 `json:"outcome"`
	Reason     domain.Reason                  `json:"reason"`
	AnsweredBy string                         `json:"answered_by,omitempty"` // as in the call: human, voicemail …; empty without answering machine detection
	Attempts   int                            `json:"attempts"`
	Final      bool                           `json:"final"`
	Progress   domain.CampaignProgressSummary `json:"campaign_progress"`
}

// ContactData is the contact in the payload of campaign.call.completed.
type ContactData struct {
	Phone string `json:"phone"`
	Name  string `json:"name"`
}

// ResourceChangedData is the payload of workspace.updated and agent.updated.
type ResourceChangedData struct {
	ID      string   `json:"id"`
	Changed []string `json:"changed"`
}

// SystemDegradedData is the payload of system.degraded. The event reports that a measured value of a trunk has
// crossed its threshold, or, with recovered, that the value is within the threshold again.
type SystemDegradedData struct {
	TrunkID       string  `json:"trunk_id"`
	TrunkName     string  `json:"trunk_name"`
	Measure       string  `json:"measure"` // asr, acd, short_call_share, trunk_rejected, identity
	Value         float64 `json:"value"`
	Bound         float64 `json:"bound"`
	Calls         int     `json:"calls"`
	WindowSeconds int     `json:"window_seconds"`
	Message       string  `json:"message"`
	Recovered     bool    `json:"recovered"`
}

// AlertData is the payload of alert.firing and alert.resolved.
type AlertData struct {
	AlertID       string           `json:"alert_id"`
	RuleID        string           `json:"rule_id"`
	RuleName      string           `json:"rule_name"`
	Kind          domain.AlertKind `json:"kind"`
	OfWorkspaceID string           `json:"of_workspace_id"` // empty: all workspaces together
	SubjectID     string           `json:"subject_id"`      // ID of the trunk, endpoint or workspace, or "all"
	SubjectName   string           `json:"subject_name"`
	Value         float64          `json:"value"`
	Bound         float64          `json:"bound"`
	Calls         int              `json:"calls"` // answer_rate: number of calls
	Since         time.Time        `json:"since"`
	Message       string           `json:"message"`
}

// WebhookTestData is the payload of webhook.test.
type WebhookTestData struct {
	WebhookID string `json:"webhook_id"`
	Message   string `json:"message"`
}

// WebhookDisabledData is the payload of webhook.disabled.
type WebhookDisabledData struct {
	WebhookID string    `json:"webhook_id"`
	URL       string    `json:"url"`
	Reason    string    `json:"reason"`
	At        time.Time `json:"at"`
}

// OptedOutData is the payload of contact.opted_out.
type OptedOutData struct {
	Phone      string `json:"phone"`
	Channel    string `json:"channel"` // speech, dtmf, sms or pathway
	Keyword    string `json:"keyword,omitempty"`
	CallID     string `json:"call_id,omitempty"`
	MessageID  string `json:"message_id,omitempty"`
	CampaignID string `json:"campaign_id,omitempty"`
	ContactID  string `json:"contact_id,omitempty"`
	ListID     string `json:"dnc_list_id"`
}
