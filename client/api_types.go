// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"encoding/json"
	"time"
)

// Actor is an answer of the service, or a part of one.
type Actor struct {
	// Names it; never changes and is never given again.
	ID   string `json:"id"`
	Type string `json:"type"`
}

// AgentActionData is an answer of the service, or a part of one.
type AgentActionData struct {
	// The tool or built-in action.
	Action string `json:"action"`
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The arguments, an object.
	Arguments json.RawMessage `json:"arguments"`
	// The call.
	CallID string `json:"call_id"`
	// How long the action took, in milliseconds.
	LatencyMs int64 `json:"latency_ms"`
	// The result, an object.
	Result json.RawMessage `json:"result"`
}

// AgentActionTriggeredEvent is an answer of the service, or a part of one.
type AgentActionTriggeredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AgentActionData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of agent.action.triggered.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentErrorData is an answer of the service, or a part of one.
type AgentErrorData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The call.
	CallID string `json:"call_id"`
	// The kind of the error, for programs.
	Code string `json:"code"`
	// The error in words.
	Message string `json:"message"`
	// Whether the conversation goes on.
	Recovered bool `json:"recovered"`
	// The part that failed: speech, hearing, model or tool.
	Stage string `json:"stage"`
}

// AgentErrorEvent is an answer of the service, or a part of one.
type AgentErrorEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AgentErrorData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of agent.error.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentEscalationData is an answer of the service, or a part of one.
type AgentEscalationData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The call.
	CallID string `json:"call_id"`
	// To whom the call is handed.
	Destination string `json:"destination"`
	// Why the call is handed to a person.
	Reason string `json:"reason"`
	// The conversation in short, for the person.
	Summary string `json:"summary"`
}

// AgentEscalationEvent is an answer of the service, or a part of one.
type AgentEscalationEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AgentEscalationData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of agent.escalation.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentIntentData is an answer of the service, or a part of one.
type AgentIntentData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The call.
	CallID string `json:"call_id"`
	// How sure the recognition is, 0 to 1.
	Confidence float64 `json:"confidence"`
	// What the caller named: date, time, number, name, yes_no.
	Entities map[string]string `json:"entities"`
	// What the caller wants.
	Intent string `json:"intent"`
}

// AgentIntentDetectedEvent is an answer of the service, or a part of one.
type AgentIntentDetectedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AgentIntentData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of agent.intent.detected.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentUpdatedEvent is an answer of the service, or a part of one.
type AgentUpdatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data ResourceChangedData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of agent.updated.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AlertData is an answer of the service, or a part of one.
type AlertData struct {
	// The alert.
	AlertID string `json:"alert_id"`
	// The bound of the rule.
	Bound float64 `json:"bound"`
	// Calls that an answer rate is measured over.
	Calls int64 `json:"calls"`
	// The kind of the alert rule. One of answer_rate, trunk_down, spend, endpoint_disabled.
	Kind string `json:"kind"`
	// The finding in words.
	Message string `json:"message"`
	// The workspace that the alert is about; empty: all workspaces together.
	OfWorkspaceID string `json:"of_workspace_id"`
	// The alert rule.
	RuleID string `json:"rule_id"`
	// The name of the alert rule.
	RuleName string `json:"rule_name"`
	// Since when the finding holds.
	Since time.Time `json:"since"`
	// The trunk, endpoint or workspace that the alert is about, or all.
	SubjectID string `json:"subject_id"`
	// The name of the subject.
	SubjectName string `json:"subject_name"`
	// The measured value.
	Value float64 `json:"value"`
}

// AlertFiringEvent is an answer of the service, or a part of one.
type AlertFiringEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AlertData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of alert.firing.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AlertResolvedEvent is an answer of the service, or a part of one.
type AlertResolvedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AlertData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of alert.resolved.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AnalysisData is an answer of the service, or a part of one.
type AnalysisData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The analysis of the call.
	Analysis CallAnalysis `json:"analysis"`
	// The call.
	CallID string `json:"call_id"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
}

// AnalysisField is sent to the service.
type AnalysisField struct {
	// What it is.
	Description *string `json:"description,omitempty"`
	// For people.
	Name string `json:"name"`
	// Whether it has to be found.
	Required *bool `json:"required,omitempty"`
	// string, number, integer or boolean.
	Type string `json:"type"`
	// The ones that it may have.
	Values []string `json:"values,omitzero"`
}

// AppointmentCancelledEvent is an answer of the service, or a part of one.
type AppointmentCancelledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AppointmentData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of appointment.cancelled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentConfirmedEvent is an answer of the service, or a part of one.
type AppointmentConfirmedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AppointmentData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of appointment.confirmed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentCreatedEvent is an answer of the service, or a part of one.
type AppointmentCreatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AppointmentData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of appointment.created.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentData is an answer of the service, or a part of one.
type AppointmentData struct {
	// The appointment.
	AppointmentID string `json:"appointment_id"`
	// The call.
	CallID string `json:"call_id,omitzero"`
	// Why the appointment was cancelled.
	CancelReason string `json:"cancel_reason,omitzero"`
	// Of a reminder: sms or call.
	Channel string `json:"channel,omitzero"`
	// When the appointment begins.
	Datetime time.Time `json:"datetime"`
	// The length of the appointment.
	DurationMinutes int64 `json:"duration_minutes"`
	// When the appointment ends.
	EndsAt time.Time `json:"ends_at"`
	// The begin as clocks in the zone show it.
	LocalDatetime string `json:"local_datetime"`
	// The text message of the reminder.
	MessageID string `json:"message_id,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Notes for people.
	Notes string `json:"notes,omitzero"`
	// For whom the appointment is.
	Patient Patient `json:"patient"`
	// The former values of the members that changed.
	Previous map[string]any `json:"previous,omitzero"`
	// The name of the provider.
	Provider string `json:"provider"`
	// The provider.
	ProviderID string `json:"provider_id"`
	// The call of the reminder.
	ReminderCallID string `json:"reminder_call_id,omitzero"`
	// When the reminder was sent.
	SentAt *time.Time `json:"sent_at,omitempty"`
	// The state of the appointment. One of booked, confirmed, cancelled, completed, no_show.
	Status string `json:"status"`
	// The zone of the provider.
	Timezone string `json:"timezone"`
	// The kind of appointment.
	Type string `json:"type"`
}

// AppointmentReminderSentEvent is an answer of the service, or a part of one.
type AppointmentReminderSentEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AppointmentData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of appointment.reminder.sent.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentRescheduledEvent is an answer of the service, or a part of one.
type AppointmentRescheduledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AppointmentData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of appointment.rescheduled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentUpdatedEvent is an answer of the service, or a part of one.
type AppointmentUpdatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AppointmentData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of appointment.updated.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// BulkError is an answer of the service, or a part of one.
type BulkError struct {
	// What was wrong with it.
	Code string `json:"code"`
	// The item's place, from 0.
	Index int64 `json:"index"`
	// The same in words.
	Message string `json:"message"`
	// The field to blame.
	Param string `json:"param"`
}

// Call is an answer of the service, or a part of one.
type Call struct {
	// Which agent speaks.
	AgentID string `json:"agent_id,omitzero"`
	// Which version of the agent was pinned.
	AgentVersion int64 `json:"agent_version,omitzero"`
	// What a language model found in what was said, where the agent wants that: some time after the end, told by call.analysis.ready.
	Analysis *CallAnalysis `json:"analysis,omitempty"`
	// When it was answered; null: never.
	AnsweredAt *time.Time `json:"answered_at"`
	// Who answered, where that is known. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// Which attempt at its contact this is, from 1.
	Attempt int64 `json:"attempt"`
	// Of an inbound call: what its trunk told of the caller.
	Caller *Caller `json:"caller,omitempty"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// For which contact it is, where it is for one.
	ContactID string `json:"contact_id,omitzero"`
	// What was known beforehand, as it was sent.
	Context map[string]any `json:"context,omitzero"`
	// By the costs of its trunk.
	Cost *Money `json:"cost,omitempty"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// The outcome in a word, once it is over. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Disposition string `json:"disposition,omitzero"`
	// From the answer to the end.
	DurationSeconds int64 `json:"duration_seconds"`
	// When it ended; null: it lives.
	EndedAt *time.Time `json:"ended_at"`
	// Who ended it: agent, remote, api or service. One of agent, remote, api, service.
	EndedBy string `json:"ended_by,omitzero"`
	// Why it ended: one of a closed list. spend_cap_reached: the daily_spend_cap left no money for the next minute. agent_unavailable: the agent could not speak, hear or think.
	EndedReason string `json:"ended_reason,omitzero"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// The number that called, or anonymous.
	From string `json:"from"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What the caller wanted, where the pathway found out.
	Intent string `json:"intent,omitzero"`
	// How long the far end waited for the agent's answers; with those of each turn.
	Latency *Latency `json:"latency,omitempty"`
	// Each INVITE of it, in order: other targets that were tried, and transfers.
	Legs []Leg `json:"legs"`
	// Why audio was refused, or why none was heard or sent, as one sentence.
	MediaIssue string `json:"media_issue,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// What came of it; null until it is over.
	Outcome *CallOutcome `json:"outcome"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id,omitzero"`
	// Whether recording or transcript are still to come.
	Processing bool `json:"processing"`
	// How the sound was.
	Quality *Quality `json:"quality,omitempty"`
	// Whether it is recorded.
	Record bool `json:"record"`
	// Whether the recording can be downloaded.
	RecordingAvailable bool `json:"recording_available"`
	// When retention deleted the recording.
	RecordingDeletedAt *time.Time `json:"recording_deleted_at,omitempty"`
	// How long the recording is.
	RecordingSeconds float64 `json:"recording_seconds,omitzero"`
	// Where the recording is, for who has a credential.
	RecordingURL string `json:"recording_url,omitzero"`
	// When the far end began to ring; null: never.
	RingingAt *time.Time `json:"ringing_at"`
	// The longest that the called waited for the next words of the agent, in milliseconds.
	SlowestTurnMs int64 `json:"slowest_turn_ms,omitzero"`
	// When it began.
	StartedAt *time.Time `json:"started_at"`
	// Where it stands. completed, busy, no_answer, failed and cancelled are final. One of queued, initiated, ringing, in_progress, transferring, completed, busy, no_answer, failed, cancelled.
	Status string `json:"status"`
	// The number or extension that was called.
	To string `json:"to"`
	// Whether the transcript can be read.
	TranscriptAvailable bool `json:"transcript_available"`
	// When retention deleted the transcript.
	TranscriptDeletedAt *time.Time `json:"transcript_deleted_at,omitempty"`
	// Where the transcript is.
	TranscriptURL string `json:"transcript_url,omitzero"`
	// Each attempt to hand the caller on, in order.
	Transfers []Transfer `json:"transfers,omitzero"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What the pathway has collected.
	Variables map[string]string `json:"variables"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// CallAnalysis is an answer of the service, or a part of one.
type CallAnalysis struct {
	// When it was made.
	AnalyzedAt time.Time `json:"analyzed_at"`
	// Why there is no analysis.
	Error string `json:"error,omitzero"`
	// What was found of the fields that its agent wants, by name and of their types.
	Fields map[string]any `json:"fields"`
	// Whether it was a success by the success_criteria of its agent; null where it has none.
	Success *bool `json:"success"`
	// Why.
	SuccessReason string `json:"success_reason,omitzero"`
	// What the call was about and what came of it.
	Summary string `json:"summary,omitzero"`
}

// CallAnalysisReadyEvent is an answer of the service, or a part of one.
type CallAnalysisReadyEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data AnalysisData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.analysis.ready.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallAnsweredEvent is an answer of the service, or a part of one.
type CallAnsweredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CallData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.answered.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallCompliance is sent to the service.
type CallCompliance struct {
	// When it may ring.
	CallingHours *NewHours `json:"calling_hours,omitempty"`
}

// CallData is an answer of the service, or a part of one.
type CallData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// Who answered, where the agent or the call classifies the answerer. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// The call.
	CallID string `json:"call_id"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// The caller's number.
	From string `json:"from"`
	// The called number.
	To string `json:"to"`
}

// CallEndedData is an answer of the service, or a part of one.
type CallEndedData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// Who answered, where the agent or the call classifies the answerer. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// The call.
	CallID string `json:"call_id"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// The outcome of the call. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Disposition string `json:"disposition"`
	// Seconds from answer to end.
	Duration int64 `json:"duration"`
	// The same as duration.
	DurationSeconds int64 `json:"duration_seconds"`
	// Why the call ended.
	EndedReason string `json:"ended_reason"`
	// The caller's number.
	From string `json:"from"`
	// What the caller wanted; empty where it is not known.
	Intent string `json:"intent"`
	// Why audio was refused, or why none was heard or sent. Absent where audio was heard.
	MediaIssue string `json:"media_issue,omitzero"`
	// The outcome with what was agreed in the call.
	Outcome CallOutcome `json:"outcome"`
	// Whether a recording exists or is being written.
	RecordingAvailable bool `json:"recording_available"`
	// The address of the recording; empty without one.
	RecordingURL string `json:"recording_url"`
	// The called number.
	To string `json:"to"`
	// Whether a transcript exists.
	TranscriptAvailable bool `json:"transcript_available"`
	// The address of the transcript; empty without one.
	TranscriptURL string `json:"transcript_url"`
}

// CallEndedEvent is an answer of the service, or a part of one.
type CallEndedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CallEndedData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.ended.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallOutcome is an answer of the service, or a part of one.
type CallOutcome struct {
	// In this call, and not cancelled in it again.
	AppointmentBooked bool `json:"appointment_booked"`
	// Its date in the provider's zone, YYYY-MM-DD.
	AppointmentDate string `json:"appointment_date,omitzero"`
	// Of that appointment.
	AppointmentID string `json:"appointment_id,omitzero"`
	// Its time in the provider's zone, HH:MM.
	AppointmentTime string `json:"appointment_time,omitzero"`
	// What the caller wanted.
	Intent string `json:"intent,omitzero"`
	// As the pathway put it.
	Notes string `json:"notes,omitzero"`
	// The outcome in a word. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Result string `json:"result"`
}

// CallRecordingReadyEvent is an answer of the service, or a part of one.
type CallRecordingReadyEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data RecordingData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.recording.ready.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallRingingEvent is an answer of the service, or a part of one.
type CallRingingEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CallData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.ringing.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallStartedEvent is an answer of the service, or a part of one.
type CallStartedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CallData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.started.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallTranscriptionReadyEvent is an answer of the service, or a part of one.
type CallTranscriptionReadyEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data TranscriptData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.transcription.ready.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallTransferredEvent is an answer of the service, or a part of one.
type CallTransferredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data TransferredData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of call.transferred.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Caller is an answer of the service, or a part of one.
type Caller struct {
	// The number that the trunk vouches for; only of trunks whose headers are believed.
	Asserted string `json:"asserted,omitzero"`
	// Who was called before, the last first.
	Diversions []Diverted `json:"diversions,omitzero"`
	// The entries of History-Info, oldest first.
	History []string `json:"history,omitzero"`
	// The signature of the number, as the trunk passed it on (RFC 8224).
	Identity string `json:"identity,omitzero"`
	// As it was told beside the number.
	Name string `json:"name,omitzero"`
	// The trunk's judgement of the signature.
	Verstat string `json:"verstat,omitzero"`
	// The caller does not want the number shown.
	Withheld bool `json:"withheld,omitzero"`
}

// CampaignCallCompletedEvent is an answer of the service, or a part of one.
type CampaignCallCompletedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CampaignCallData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.call.completed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignCallData is an answer of the service, or a part of one.
type CampaignCallData struct {
	// Who answered, where the agent or the call classifies the answerer. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// Attempts for this contact so far.
	Attempts int64 `json:"attempts"`
	// The call.
	CallID string `json:"call_id"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id"`
	// The progress of the campaign with this attempt.
	CampaignProgress CampaignProgressSummary `json:"campaign_progress"`
	// The contact that was called.
	Contact ContactData `json:"contact"`
	// Whether no further attempt follows.
	Final bool `json:"final"`
	// The outcome of the attempt. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome"`
	// Why the attempt ended.
	Reason string `json:"reason"`
}

// CampaignCancelledEvent is an answer of the service, or a part of one.
type CampaignCancelledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CampaignData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.cancelled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignCompletedEvent is an answer of the service, or a part of one.
type CampaignCompletedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CampaignStatusObject `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.completed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignCreatedEvent is an answer of the service, or a part of one.
type CampaignCreatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CampaignData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.created.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignData is an answer of the service, or a part of one.
type CampaignData struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id"`
	// For people.
	Name string `json:"name"`
	// Why the state changed, where there is a reason.
	Reason string `json:"reason,omitzero"`
	// The state of the campaign. One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
}

// CampaignPausedEvent is an answer of the service, or a part of one.
type CampaignPausedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CampaignData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.paused.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignProgressEvent is an answer of the service, or a part of one.
type CampaignProgressEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data ProgressData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.progress.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignProgressSummary is an answer of the service, or a part of one.
type CampaignProgressSummary struct {
	// Contacts in a final state.
	Completed int64 `json:"completed"`
	// The share of contacts in a final state, 0 to 100.
	PercentComplete float64 `json:"percent_complete"`
	// Contacts that wait.
	Remaining int64 `json:"remaining"`
}

// CampaignResumedEvent is an answer of the service, or a part of one.
type CampaignResumedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CampaignData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.resumed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignStartedEvent is an answer of the service, or a part of one.
type CampaignStartedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data CampaignData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of campaign.started.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignStatusObject is an answer of the service, or a part of one.
type CampaignStatusObject struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id"`
	// exhausted: every contact has a final state. window_ended: the end of the schedule came first. One of exhausted, window_ended.
	CompletionReason string `json:"completion_reason,omitzero"`
	// Contacts that were not reached before the end of the schedule.
	Expired int64 `json:"expired"`
	// Contacts in a final state, by outcome.
	Outcomes map[string]int64 `json:"outcomes"`
	// Why the service paused the campaign. A campaign that the API paused has none. One of trunk_failures, script_unavailable, restored.
	PauseReason string `json:"pause_reason,omitzero"`
	// How many contacts were called and how many wait.
	Progress CampaignStatusProgress `json:"progress"`
	// Contacts that were not called, by rule.
	Skipped Skipped `json:"skipped"`
	// The state of the campaign. One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
	// When the campaign started and when it is expected to end.
	Timing CampaignStatusTiming `json:"timing"`
	// Why no call is placed now; null where calls are placed.
	Waiting *Waiting `json:"waiting"`
	// Of the answer to a start. destination_not_allowed: contacts whose number the workspace may not call any more; they will be skipped.
	Warnings []Detail `json:"warnings,omitzero"`
}

// CampaignStatusProgress is an answer of the service, or a part of one.
type CampaignStatusProgress struct {
	// Contacts with at least one attempt.
	Attempted int64 `json:"attempted"`
	// Contacts with an open attempt.
	InProgress int64 `json:"in_progress"`
	// Contacts that wait.
	Remaining int64 `json:"remaining"`
	// Contacts in all.
	Total int64 `json:"total"`
}

// CampaignStatusTiming is an answer of the service, or a part of one.
type CampaignStatusTiming struct {
	// When the last contact is expected to have a final state.
	EstimatedCompletion *time.Time `json:"estimated_completion"`
	// When the campaign started.
	StartedAt *time.Time `json:"started_at"`
}

// ContactData is an answer of the service, or a part of one.
type ContactData struct {
	// For people.
	Name string `json:"name"`
	// The number of the contact, E.164.
	Phone string `json:"phone"`
}

// ContactError is an answer of the service, or a part of one.
type ContactError struct {
	// The rule: invalid_row, invalid_phone, invalid_timezone, duplicate, dnc, destination_not_allowed or missing_variable.
	Code string `json:"code"`
	// The row: 1 for the first line of a file or the first item of a list.
	Line int64 `json:"line"`
	// The rule in words.
	Message string `json:"message"`
	// The number as it was sent.
	Phone string `json:"phone,omitzero"`
}

// ContactOptedOutEvent is an answer of the service, or a part of one.
type ContactOptedOutEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data OptedOutData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of contact.opted_out.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Creator is an answer of the service, or a part of one.
type Creator struct {
	// The key, the user or the client; empty for system.
	ID string `json:"id"`
	// Of a user: the API key whose sign-in link opened the dashboard session. Missing where no key did.
	SignInKeyID string `json:"sign_in_key_id,omitzero"`
	// The kind of credential: an API key or a JWT of it, an operator key, a dashboard session of a user, an OAuth client, or the service itself. One of api_key, operator, user, oauth_client, system.
	Type string `json:"type"`
}

// DNCNumber is sent to the service.
type DNCNumber struct {
	// ISO 3166: how a number without country code is read. Left out: the workspace's default_country.
	Country *string `json:"country,omitempty"`
	// A number that is not to be called.
	Phone string `json:"phone"`
}

// Deleted is an answer of the service, or a part of one.
type Deleted struct {
	// Always true.
	Deleted bool `json:"deleted"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// What kind of resource this is.
	Object string `json:"object"`
}

// DestinationRules is an answer of the service, or a part of one.
type DestinationRules struct {
	// Beginnings of numbers that are never called.
	BlockedPrefixes []string `json:"blocked_prefixes"`
	// ISO 3166 codes; * is every country.
	Countries []string `json:"countries"`
	// Of outbound calls per day in UTC; null: none.
	DailySpendCap *Money `json:"daily_spend_cap"`
	// Of an outbound or transferred call; 0: none of its own.
	MaxCallMinutes int64 `json:"max_call_minutes"`
}

// DestinationRulesUpdate is sent to the service.
type DestinationRulesUpdate struct {
	// Beginnings of numbers that are never called.
	BlockedPrefixes Optional[[]string] `json:"blocked_prefixes,omitzero"`
	// ISO 3166 codes; * is every country. []: default_country as it is now; another default_country later allows no others.
	Countries Optional[[]string] `json:"countries,omitzero"`
	// Of outbound calls and text messages per day in UTC, by the costs of the trunks, or by the plan's price of an attempt where a trunk names none. A text message counts by sms_price_per_segment: one sent over the API from when it is queued, an agent's reply from when it is about to be handed to a carrier. A call reserves its first minute when it is placed, then each next minute ahead; without money it ends with spend_cap_reached. Once the cap is reached, no call, transfer or text message goes out.
	DailySpendCap Optional[MoneyUpdate] `json:"daily_spend_cap,omitzero"`
	// Of an outbound or transferred call. 0: none of its own.
	MaxCallMinutes Optional[int64] `json:"max_call_minutes,omitzero"`
}

// Detail is an answer of the service, or a part of one.
type Detail struct {
	// The kind of the problem, for programs.
	Code string `json:"code"`
	// The problem in words.
	Message string `json:"message"`
	// The member that the problem is about.
	Param string `json:"param"`
}

// Diverted is an answer of the service, or a part of one.
type Diverted struct {
	// The number that was called before.
	From string `json:"from"`
	// Why the call went on.
	Reason string `json:"reason,omitzero"`
}

// Event is an answer of the service, or a part of one.
type Event struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data json.RawMessage `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// What happened, such as call.ended. One of call.started, call.ringing, call.answered, call.transferred, call.ended, call.recording.ready, call.transcription.ready, call.analysis.ready, sms.received, sms.sent, sms.delivered, sms.failed, agent.intent.detected, agent.action.triggered, agent.escalation, agent.error, agent.updated, appointment.created, appointment.updated, appointment.cancelled, appointment.confirmed, appointment.rescheduled, appointment.reminder.sent, campaign.created, campaign.started, campaign.paused, campaign.resumed, campaign.cancelled, campaign.progress, campaign.completed, campaign.call.completed, contact.opted_out, webhook.test, webhook.disabled, workspace.updated, system.degraded, alert.firing, alert.resolved.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// FrequencyCaps is an answer of the service, or a part of one.
type FrequencyCaps struct {
	// Attempts to reach one number on one of its calendar days; 0: no cap.
	PerNumberPerDay int64 `json:"per_number_per_day"`
}

// FrequencyCapsUpdate is sent to the service.
type FrequencyCapsUpdate struct {
	// Maximum attempts to reach one number per calendar day in its time zone, over all campaigns and single calls. Attempts are counted from the moment a cap is set. 0: no cap.
	PerNumberPerDay Optional[int64] `json:"per_number_per_day,omitzero"`
}

// Latency is an answer of the service, or a part of one.
type Latency struct {
	// Half of the answers were there by then, in milliseconds from the last word of the far end to the first sound of the agent.
	P50Ms int64 `json:"p50_ms"`
	// Of twenty answers nineteen were there by then.
	P95Ms int64 `json:"p95_ms"`
	// Turn by turn; the first 200.
	Turns []TurnLatency `json:"turns"`
}

// Leg is an answer of the service, or a part of one.
type Leg struct {
	// The final SIP answer; 0: none came.
	Code int64 `json:"code"`
	// What the sound was written with.
	Codec string `json:"codec,omitzero"`
	// When it ended; null: it lives.
	EndedAt *time.Time `json:"ended_at"`
	// From the INVITE to the first ringing or final answer.
	PDDMs int64 `json:"pdd_ms"`
	// The cause of its end as the network has it (Q.850).
	Q850 int64 `json:"q850,omitzero"`
	// The phrase of the answer, or why there was none.
	Reason string `json:"reason"`
	// transfer: to whom the caller was handed; empty: the far end itself.
	Role string `json:"role,omitzero"`
	// The Call-ID of its messages.
	SIPCallID string `json:"sip_call_id"`
	// When its INVITE was sent or came.
	StartedAt time.Time `json:"started_at"`
	// host:port;transport.
	Target string `json:"target"`
	// Over which trunk.
	TrunkID string `json:"trunk_id"`
}

// Limits is an answer of the service, or a part of one.
type Limits struct {
	// Outbound calls that may begin in a minute.
	CallsPerMinute int64 `json:"calls_per_minute"`
	// Inbound calls at once.
	ConcurrentInbound int64 `json:"concurrent_inbound"`
	// Outbound calls at once.
	ConcurrentOutbound int64 `json:"concurrent_outbound"`
	// Requests to the API.
	RequestsPerMinute int64 `json:"requests_per_minute"`
}

// LimitsUpdate is sent to the service.
type LimitsUpdate struct {
	// Outbound calls that may begin in a minute.
	CallsPerMinute Optional[int64] `json:"calls_per_minute,omitzero"`
	// Inbound calls at once.
	ConcurrentInbound Optional[int64] `json:"concurrent_inbound,omitzero"`
	// Outbound calls at once.
	ConcurrentOutbound Optional[int64] `json:"concurrent_outbound,omitzero"`
	// Requests to the API.
	RequestsPerMinute Optional[int64] `json:"requests_per_minute,omitzero"`
}

// ListEvent is an answer of the service, or a part of one.
type ListEvent struct {
	// The rows of this page.
	Data []Event `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListPhoneNumber is an answer of the service, or a part of one.
type ListPhoneNumber struct {
	// The rows of this page.
	Data []PhoneNumber `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListTrunk is an answer of the service, or a part of one.
type ListTrunk struct {
	// The rows of this page.
	Data []Trunk `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// MatchUpdate is sent to the service.
type MatchUpdate struct {
	// Request-URI, From, To, Contact, P-Charge-Info, or an extension header: X- and a name.
	Header *string `json:"header,omitempty"`
	// The parameter of the URI or the header, such as tgrp (RFC 4904) or otg. Required for Request-URI, From, To and Contact. Left out: the whole value counts.
	Parameter Optional[string] `json:"parameter,omitzero"`
	// Compared without regard to case.
	Value *string `json:"value,omitempty"`
}

// Money is an answer of the service, or a part of one.
type Money struct {
	// Decimal text.
	Amount string `json:"amount"`
	// ISO 4217.
	Currency string `json:"currency"`
}

// MoneyUpdate is sent to the service.
type MoneyUpdate struct {
	// Decimal text.
	Amount *string `json:"amount,omitempty"`
	// ISO 4217. One of USD.
	Currency Optional[string] `json:"currency,omitzero"`
}

// NewAgentLimits is sent to the service.
type NewAgentLimits struct {
	// The longest conversation.
	MaxMinutes *int64 `json:"max_minutes,omitempty"`
	// So much silence ends it.
	SilenceSeconds *int64 `json:"silence_seconds,omitempty"`
}

// NewAnalysis is sent to the service.
type NewAnalysis struct {
	// 50 at most.
	Fields []NewAnalysisField `json:"fields,omitzero"`
	// When a call was a success, in words.
	SuccessCriteria *string `json:"success_criteria,omitempty"`
	// Whether a summary is wanted.
	Summary *bool `json:"summary,omitempty"`
}

// NewAnalysisField is sent to the service.
type NewAnalysisField struct {
	// What it is.
	Description *string `json:"description,omitempty"`
	// For people.
	Name string `json:"name"`
	// Whether it has to be found.
	Required *bool `json:"required,omitempty"`
	// What kind of value it is. One of string, number, integer, boolean.
	Type *string `json:"type,omitempty"`
	// The ones that a string may have; 100 at most.
	Values []string `json:"values,omitzero"`
}

// NewCallAMD is sent to the service.
type NewCallAMD struct {
	// off; async: while the agent speaks already; wait: before it speaks, for 6 seconds at most. One of off, async, wait.
	Mode string `json:"mode"`
}

// NewCallRequest is sent to the service.
type NewCallRequest struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// How this call finds out who has answered; as its agent unless said.
	AMD *NewCallAMD `json:"amd,omitempty"`
	// Rules of this call.
	Compliance *CallCompliance `json:"compliance,omitempty"`
	// Variables of the pathway.
	Context map[string]any `json:"context,omitzero"`
	// The caller ID: a number of the workspace, or one in caller_ids of a trunk that takes this call. Without it, a number of the trunk that carries the call.
	From *string `json:"from,omitempty"`
	// Unless said the agent's limits.max_minutes, else 1800.
	MaxDurationSeconds *int64 `json:"max_duration_seconds,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// What this call has otherwise than its agent. What is left out stays; an object replaces the agent's as a whole. Variables are given by context.
	Overrides *NewOverrides `json:"overrides,omitempty"`
	// agent_id or pathway_id is required.
	PathwayID *string `json:"pathway_id,omitempty"`
	// false: nothing is recorded.
	Record *bool `json:"record,omitempty"`
	// How long it may ring, from the first ringing.
	RingTimeoutSeconds *int64 `json:"ring_timeout_seconds,omitempty"`
	// A telephone number, or the extension or SIP address of a phone of the workspace.
	To string `json:"to"`
	// What this call does about a machine that has answered; as its agent unless said.
	Voicemail *NewVoicemail `json:"voicemail,omitempty"`
}

// NewContact is sent to the service.
type NewContact struct {
	// Variables of the pathway's text.
	Context map[string]any `json:"context,omitzero"`
	Country *string        `json:"country,omitempty"`
	// E.164, or national in the campaign's default_country.
	Phone string `json:"phone"`
	// Overrides the zone of the number.
	Timezone *string `json:"timezone,omitempty"`
}

// NewHours is sent to the service.
type NewHours struct {
	// HH:MM, up to 24:00
	End string `json:"end"`
	// HH:MM
	Start string `json:"start"`
	// A zone's name, or local: the contact's.
	Timezone *string `json:"timezone,omitempty"`
}

// NewLLM is sent to the service.
type NewLLM struct {
	// An engine of the installation; empty: its own choice.
	Engine *string `json:"engine,omitempty"`
	// Of one answer; 0: as the engine has it.
	MaxTokens *int64 `json:"max_tokens,omitempty"`
	// Its model.
	Model *string `json:"model,omitempty"`
	// It is asked as soon as the caller is silent, and again where he says more.
	Speculative *bool `json:"speculative,omitempty"`
	// How freely it chooses words.
	Temperature *float64 `json:"temperature,omitempty"`
}

// NewMessage is sent to the service.
type NewMessage struct {
	// At most 1600 characters; {{name}} and {{name | fallback}} are filled in from context.
	Body string `json:"body"`
	// Values for the names in body.
	Context map[string]any `json:"context,omitzero"`
	// A number of the workspace, or one in caller_ids of a trunk that carries this message. Without it, a number of the trunk or gateway that carries it.
	From *string `json:"from,omitempty"`
	// Addresses of pictures and the like, https only; 10 at most.
	Media []string `json:"media,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Best in E.164.
	To string `json:"to"`
}

// NewOverrides is sent to the service.
type NewOverrides struct {
	// What is wanted to be known of the call.
	Analysis *NewAnalysis `json:"analysis,omitempty"`
	// What an agent without a pathway says first; {{name}} stands for a variable. 422 where the call walks a pathway.
	FirstMessage *string `json:"first_message,omitempty"`
	// In which it speaks and, unless stt says otherwise, hears.
	Language *string `json:"language,omitempty"`
	// What ends the conversation.
	Limits *NewAgentLimits `json:"limits,omitempty"`
	// The language model.
	Llm *NewLLM `json:"llm,omitempty"`
	// How it hears.
	Stt *NewSTT `json:"stt,omitempty"`
	// What a language model is told of its part.
	SystemPrompt *string `json:"system_prompt,omitempty"`
	// Its zone, for times in texts.
	Timezone *string `json:"timezone,omitempty"`
	// When it takes the word.
	TurnTaking *NewTurnTaking `json:"turn_taking,omitempty"`
	// How it sounds.
	Voice *NewVoice `json:"voice,omitempty"`
}

// NewProxy is sent to the service.
type NewProxy struct {
	// A name or an address.
	Host string `json:"host"`
	// 0 or left out: 5060, over TLS 5061; of a name by its SRV records first.
	Port *int64 `json:"port,omitempty"`
	// Lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Left out: udp, or what the NAPTR and SRV records of a name without a port say. One of udp, tcp, tls.
	Transport *string `json:"transport,omitempty"`
	// Share among targets of one priority.
	Weight *int64 `json:"weight,omitempty"`
}

// NewRate is sent to the service.
type NewRate struct {
	// Dollars a minute, at most 1000.00; counted by the second.
	Cost string `json:"cost"`
	// + is everywhere. The longest that matches counts.
	Prefix string `json:"prefix"`
}

// NewSTT is sent to the service.
type NewSTT struct {
	// An engine of the installation; empty: its own choice.
	Engine *string `json:"engine,omitempty"`
	// Words that are likely to be said; 100 at most.
	Keywords []string `json:"keywords,omitzero"`
	// Where it is not the agent's.
	Language *string `json:"language,omitempty"`
	// Its model.
	Model *string `json:"model,omitempty"`
}

// NewTurnTaking is sent to the service.
type NewTurnTaking struct {
	// So much silence ends the caller's turn; 0: as the engine has it.
	EndOfTurnMs *int64 `json:"end_of_turn_ms,omitempty"`
	// Speech may cut what it says.
	Interruptible *bool `json:"interruptible,omitempty"`
	// So many words count as an interruption; 0: as the engine has it.
	InterruptionWords *int64 `json:"interruption_words,omitempty"`
}

// NewVoice is sent to the service.
type NewVoice struct {
	// espeak-ng; wav: prompt files, and espeak-ng where there is none; or an engine of the installation. Empty: its own choice.
	Engine *string `json:"engine,omitempty"`
	// The engine's name of the voice.
	Name *string `json:"name,omitempty"`
	// How words are said that it would say wrongly; 200 at most. Transcripts keep the word.
	Pronunciations []Pronunciation `json:"pronunciations,omitzero"`
	// How fast it speaks: 1 is normal.
	Rate *float64 `json:"rate,omitempty"`
}

// NewVoicemail is sent to the service.
type NewVoicemail struct {
	// Where neither the call nor its agent says how machines are noticed, they are with mode async. One of hangup, leave_message, continue.
	Action string `json:"action"`
	// leave_message: what is left behind the beep, the agent's amd.message unless said; {{name}} stands for a variable.
	Message *string `json:"message,omitempty"`
}

// OptedOutData is an answer of the service, or a part of one.
type OptedOutData struct {
	// The call.
	CallID string `json:"call_id,omitzero"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// speech, dtmf, sms or pathway.
	Channel string `json:"channel"`
	// For which contact it is, where it is for one.
	ContactID string `json:"contact_id,omitzero"`
	// The do-not-call list that has the number now.
	DNCListID string `json:"dnc_list_id"`
	// The word or key that opted out.
	Keyword string `json:"keyword,omitzero"`
	// The text message that opted out.
	MessageID string `json:"message_id,omitzero"`
	// The number that wants no more calls or messages.
	Phone string `json:"phone"`
}

// Patient is an answer of the service, or a part of one.
type Patient struct {
	// For people.
	Name string `json:"name"`
	// E.164.
	Phone string `json:"phone"`
}

// PhoneNumber is an answer of the service, or a part of one.
type PhoneNumber struct {
	// Who answers.
	AgentID string `json:"agent_id"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// E.164, or * for whatever else its trunk brings.
	Number string `json:"number"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whether messages that name no from may come from it.
	SMSEnabled bool `json:"sms_enabled"`
	// live, or pending: it waits for an operator to approve it, and no call and no message reaches it or comes from it until then. One of live, pending.
	Status string `json:"status"`
	// The only trunk over which it may be called; empty: any of the workspace.
	TrunkID string `json:"trunk_id"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// Pricing is an answer of the service, or a part of one.
type Pricing struct {
	// Attempts per month that cost nothing.
	IncludedAttempts int64 `json:"included_attempts"`
	// Of each further one.
	PricePerAttempt Money `json:"price_per_attempt"`
}

// PricingUpdate is sent to the service.
type PricingUpdate struct {
	// Per month.
	IncludedAttempts Optional[int64] `json:"included_attempts,omitzero"`
	// Of each further one.
	PricePerAttempt Optional[MoneyUpdate] `json:"price_per_attempt,omitzero"`
}

// ProgressData is an answer of the service, or a part of one.
type ProgressData struct {
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id"`
	// campaign.progress. One of call.started, call.ringing, call.answered, call.transferred, call.ended, call.recording.ready, call.transcription.ready, call.analysis.ready, sms.received, sms.sent, sms.delivered, sms.failed, agent.intent.detected, agent.action.triggered, agent.escalation, agent.error, agent.updated, appointment.created, appointment.updated, appointment.cancelled, appointment.confirmed, appointment.rescheduled, appointment.reminder.sent, campaign.created, campaign.started, campaign.paused, campaign.resumed, campaign.cancelled, campaign.progress, campaign.completed, campaign.call.completed, contact.opted_out, webhook.test, webhook.disabled, workspace.updated, system.degraded, alert.firing, alert.resolved.
	Event string `json:"event"`
	// Contacts in a final state, by outcome.
	Outcomes map[string]int64 `json:"outcomes"`
	// The share of contacts in a final state, 0 to 100.
	ProgressPercent float64 `json:"progress_percent"`
}

// Pronunciation is sent to the service.
type Pronunciation struct {
	// What is said in its place.
	Say string `json:"say"`
	// The word or words, in any case.
	Word string `json:"word"`
}

// Proxy is an answer of the service, or a part of one.
type Proxy struct {
	// A name or an address.
	Host string `json:"host"`
	// 0: by DNS.
	Port int64 `json:"port"`
	// Lower first.
	Priority int64 `json:"priority"`
	// udp, tcp or tls; empty: by DNS.
	Transport string `json:"transport"`
	// Share among targets of one priority.
	Weight int64 `json:"weight"`
}

// ProxyUpdate is sent to the service.
type ProxyUpdate struct {
	// A name or an address.
	Host *string `json:"host,omitempty"`
	// 0 or left out: 5060, over TLS 5061; of a name by its SRV records first.
	Port Optional[int64] `json:"port,omitzero"`
	// Lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Left out: udp, or what the NAPTR and SRV records of a name without a port say. One of udp, tcp, tls.
	Transport Optional[string] `json:"transport,omitzero"`
	// Share among targets of one priority.
	Weight Optional[int64] `json:"weight,omitzero"`
}

// Quality is an answer of the service, or a part of one.
type Quality struct {
	// What the sound was written with.
	Codec string `json:"codec,omitzero"`
	// How unevenly packets came.
	JitterMs float64 `json:"jitter_ms"`
	// Packets of the far end that did not come.
	LossPercent float64 `json:"loss_percent"`
	// The expected judgement of a listener, 1 to 4.5.
	MOS float64 `json:"mos"`
	// Packets that were heard.
	PacketsReceived int64 `json:"packets_received"`
	// Packets of others, forged ones and replays.
	PacketsRefused int64 `json:"packets_refused"`
	// Packets that were sent.
	PacketsSent int64 `json:"packets_sent"`
	// To the far end and back, by its reports.
	RoundTripMs float64 `json:"round_trip_ms"`
	// How it went, one part after the other, forty at most; of one call, not in lists.
	Stretches []QualityStretch `json:"stretches,omitzero"`
}

// QualityStretch is an answer of the service, or a part of one.
type QualityStretch struct {
	// Milliseconds since the sound of the call began.
	AtMs int64 `json:"at_ms"`
	// How long it is, in milliseconds.
	ForMs int64 `json:"for_ms"`
	// How unevenly packets came, at worst.
	JitterMs float64 `json:"jitter_ms"`
	// Packets that never came, counted where it is noticed; nothing is said of it where nothing came (mos 0).
	LossPercent float64 `json:"loss_percent"`
	// The expected judgement of a listener, 1 to 4.5; 0: nothing came.
	MOS float64 `json:"mos"`
	// To the far end and back, at worst, by its reports.
	RoundTripMs float64 `json:"round_trip_ms"`
}

// Rate is an answer of the service, or a part of one.
type Rate struct {
	// Dollars a minute.
	Cost string `json:"cost"`
	// The beginning of the number; + is everywhere.
	Prefix string `json:"prefix"`
}

// RecordingData is an answer of the service, or a part of one.
type RecordingData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The call.
	CallID string `json:"call_id"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// The length of the recording.
	DurationSeconds float64 `json:"duration_seconds"`
	// The address of the recording.
	RecordingURL string `json:"recording_url"`
}

// Redaction is an answer of the service, or a part of one.
type Redaction struct {
	// Regular expressions (RE2): what they find is [redacted] before it is stored.
	Patterns []string `json:"patterns"`
}

// RedactionUpdate is sent to the service.
type RedactionUpdate struct {
	// Regular expressions (RE2) of at most 500 bytes each. Matches in utterances, in sequences of pressed keys and in received text messages are stored as [redacted]. []: no redaction. Applies to calls answered from now on.
	Patterns Optional[[]string] `json:"patterns,omitzero"`
}

// ResourceChangedData is an answer of the service, or a part of one.
type ResourceChangedData struct {
	// The names of the members that changed.
	Changed []string `json:"changed"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
}

// ResourceRef is an answer of the service, or a part of one.
type ResourceRef struct {
	// Its id.
	ID string `json:"id"`
	// Its type, as in object of the resource itself.
	Object string `json:"object"`
}

// Retention is an answer of the service, or a part of one.
type Retention struct {
	// Days after its end after which an appointment is deleted; 0: it is kept.
	AppointmentsDays int64 `json:"appointments_days"`
	// Days after which entries of the audit log are deleted, 30 at least; 0: they are kept.
	AuditDays int64 `json:"audit_days"`
	// Days after its end after which a call is deleted with its recording, its transcript and its SIP messages; 0: it is kept.
	CallsDays int64 `json:"calls_days"`
	// Days after which decisions of campaigns are deleted; 0: they are kept.
	DecisionsDays int64 `json:"decisions_days"`
	// Days after which an event and the log of its deliveries are deleted, 7 at least, but not before it was sent; 0: they are kept.
	EventsDays int64 `json:"events_days"`
	// Days after which the bills of attempts are deleted, 35 at least; 0: they are kept. Counts per day and month stay.
	LedgerDays int64 `json:"ledger_days"`
	// Days after which a text message is deleted; 0: it is kept.
	MessagesDays int64 `json:"messages_days"`
	// Days after which a call's recording is deleted; 0: it is kept.
	RecordingsDays int64 `json:"recordings_days"`
	// Days after which a call's SIP messages are deleted; 0: they are kept.
	TracesDays int64 `json:"traces_days"`
	// Days after which a call's transcript is deleted; 0: it is kept.
	TranscriptsDays int64 `json:"transcripts_days"`
	// Days after which reports of uploads of contacts are deleted; 0: they are kept.
	UploadsDays int64 `json:"uploads_days"`
}

// RetentionUpdate is sent to the service.
type RetentionUpdate struct {
	// Days after their end after which appointments are deleted; 0: they are kept.
	AppointmentsDays Optional[int64] `json:"appointments_days,omitzero"`
	// Days after which entries of the audit log are deleted, at least 30; 0: they are kept.
	AuditDays Optional[int64] `json:"audit_days,omitzero"`
	// Days after their end after which calls are deleted with recordings, transcripts and SIP messages; 0: they are kept.
	CallsDays Optional[int64] `json:"calls_days,omitzero"`
	// Days after which decisions of campaigns are deleted; 0: they are kept.
	DecisionsDays Optional[int64] `json:"decisions_days,omitzero"`
	// Days after which events and the logs of their deliveries are deleted, at least 7; 0: they are kept.
	EventsDays Optional[int64] `json:"events_days,omitzero"`
	// Days after which the bills of attempts are deleted, at least 35; 0: they are kept. Counts per day and month stay.
	LedgerDays Optional[int64] `json:"ledger_days,omitzero"`
	// Days after which text messages are deleted; 0: they are kept.
	MessagesDays Optional[int64] `json:"messages_days,omitzero"`
	// Days after which recordings are deleted; 0: they are kept.
	RecordingsDays Optional[int64] `json:"recordings_days,omitzero"`
	// Days after which the SIP messages of calls are deleted; 0: they are kept.
	TracesDays Optional[int64] `json:"traces_days,omitzero"`
	// Days after which transcripts are deleted; 0: they are kept.
	TranscriptsDays Optional[int64] `json:"transcripts_days,omitzero"`
	// Days after which reports of uploads of contacts are deleted; 0: they are kept.
	UploadsDays Optional[int64] `json:"uploads_days,omitzero"`
}

// SIPStep is an answer of the service, or a part of one.
type SIPStep struct {
	// When the answer came.
	At time.Time `json:"at"`
	// The SIP status code; 0 where no answer came.
	Code int64 `json:"code"`
	// REFER, NOTIFY or INVITE.
	Method string `json:"method"`
	// The reason phrase of the answer.
	Phrase string `json:"phrase,omitzero"`
}

// SMSData is an answer of the service, or a part of one.
type SMSData struct {
	// Why the message failed.
	ErrorCode string `json:"error_code,omitzero"`
	// The number that the message is from.
	From string `json:"from"`
	// The message.
	MessageID string `json:"message_id"`
	// How many parts the message has on the air.
	Segments int64 `json:"segments"`
	// The state of the message. One of queued, sent, delivered, undelivered, failed, received.
	Status string `json:"status"`
	// The number that the message is for.
	To string `json:"to"`
}

// SMSDeliveredEvent is an answer of the service, or a part of one.
type SMSDeliveredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data SMSData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of sms.delivered.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// SMSFailedEvent is an answer of the service, or a part of one.
type SMSFailedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data SMSData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of sms.failed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// SMSReceivedData is an answer of the service, or a part of one.
type SMSReceivedData struct {
	// The text of the message.
	Body string `json:"body"`
	// The number that the message is from.
	From string `json:"from"`
	// Addresses of pictures and files in the message.
	Media []string `json:"media"`
	// The message.
	MessageID string `json:"message_id"`
	// Whether the message opted out of further messages.
	OptOut bool `json:"opt_out"`
	// The message that this one answers.
	ReplyTo string `json:"reply_to,omitzero"`
	// The number that the message is for.
	To string `json:"to"`
}

// SMSReceivedEvent is an answer of the service, or a part of one.
type SMSReceivedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data SMSReceivedData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of sms.received.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// SMSSentEvent is an answer of the service, or a part of one.
type SMSSentEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data SMSData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of sms.sent.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Skipped is an answer of the service, or a part of one.
type Skipped struct {
	// Contacts on a do-not-call list.
	DNC int64 `json:"dnc"`
	// Contacts that were called as often as the frequency cap allows.
	Frequency int64 `json:"frequency"`
	// Contacts whose calling hours did not open.
	Hours int64 `json:"hours"`
	// Contacts whose number cannot be called.
	Invalid int64 `json:"invalid"`
}

// SystemDegradedData is an answer of the service, or a part of one.
type SystemDegradedData struct {
	// The bound that the trunk's alarms set.
	Bound float64 `json:"bound"`
	// Calls that the value is measured over.
	Calls int64 `json:"calls"`
	// asr, acd, short_call_share, trunk_rejected or identity.
	Measure string `json:"measure"`
	// The finding in words.
	Message string `json:"message"`
	// true: the value is within its bound again.
	Recovered bool `json:"recovered"`
	// Over which trunk.
	TrunkID string `json:"trunk_id"`
	// The name of the trunk.
	TrunkName string `json:"trunk_name"`
	// The measured value.
	Value float64 `json:"value"`
	// The length of the measured window.
	WindowSeconds int64 `json:"window_seconds"`
}

// SystemDegradedEvent is an answer of the service, or a part of one.
type SystemDegradedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data SystemDegradedData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of system.degraded.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// TargetHealth is an answer of the service, or a part of one.
type TargetHealth struct {
	// How often it failed since it last did not.
	ConsecutiveFailures int64 `json:"consecutive_failures"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// Until then it is tried last.
	OutUntil *time.Time `json:"out_until"`
	// What it answered to OPTIONS.
	PingCode int64 `json:"ping_code,omitzero"`
	// How long that took.
	PingMs int64 `json:"ping_ms,omitzero"`
	// Whether it answered.
	PingOk *bool `json:"ping_ok"`
	// When it was asked by OPTIONS.
	PingedAt *time.Time `json:"pinged_at"`
	// As the trunk names it.
	Proxy string `json:"proxy"`
	// up, out (tried last) or resting (not tried).
	Status string `json:"status"`
	// host:port;transport.
	Target string `json:"target"`
}

// TranscriptData is an answer of the service, or a part of one.
type TranscriptData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The call.
	CallID string `json:"call_id"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// How many utterances the transcript has.
	Segments int64 `json:"segments"`
	// The address of the transcript.
	TranscriptURL string `json:"transcript_url"`
}

// Transfer is an answer of the service, or a part of one.
type Transfer struct {
	// When somebody answered.
	AnsweredAt *time.Time `json:"answered_at,omitempty"`
	// Who began it: api, agent or remote. One of agent, remote, api, service.
	By string `json:"by"`
	// When it was over.
	EndedAt *time.Time `json:"ended_at,omitempty"`
	// Which legs of the call it dialled, from 1.
	Legs []int64 `json:"legs,omitzero"`
	// blind, attended or bridge. One of blind, attended, bridge.
	Mode string `json:"mode"`
	// The agent's name of the destination.
	Name string `json:"name,omitzero"`
	// Why it failed.
	Reason string `json:"reason,omitzero"`
	// What SIP answered, in order, 16 at most.
	SIP []SIPStep `json:"sip,omitzero"`
	// When it began.
	StartedAt time.Time `json:"started_at"`
	// in_progress, connected, completed, returned or failed. The last three are final. One of in_progress, connected, completed, returned, failed.
	Status string `json:"status"`
	// What was told to whoever answered.
	Summary string `json:"summary,omitzero"`
	// A number, an extension or a SIP address.
	To string `json:"to"`
}

// TransferredData is an answer of the service, or a part of one.
type TransferredData struct {
	// Which agent speaks.
	AgentID string `json:"agent_id"`
	// The call.
	CallID string `json:"call_id"`
	// Of which campaign it is, where it is of one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// blind, attended or bridge. One of blind, attended, bridge.
	Mode string `json:"mode"`
	// Why the transfer failed.
	Reason string `json:"reason,omitzero"`
	// The SIP answers to the transfer so far, 16 at most.
	SIP []SIPStep `json:"sip,omitzero"`
	// The state of the transfer. One of in_progress, connected, completed, returned, failed.
	Status string `json:"status"`
	// The number, extension or SIP URI that the call goes to.
	To string `json:"to"`
}

// Trunk is an answer of the service, or a part of one.
type Trunk struct {
	// Bounds beyond which system.degraded is sent.
	Alarms TrunkAlarms `json:"alarms"`
	// What answers its digest challenges; without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Headers that tell who calls: sent to it, and believed of it.
	CallerIDHeaders []string `json:"caller_id_headers"`
	// Numbers that may be shown over it.
	CallerIDs []string `json:"caller_ids"`
	// How many calls may begin in a second; others wait for their turn.
	CallsPerSecond float64 `json:"calls_per_second"`
	// In the order of preference.
	Codecs []string `json:"codecs"`
	// What a minute costs, by prefix.
	Costs []Rate `json:"costs"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// The way of key presses.
	Dtmf string `json:"dtmf"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// The host of From; empty: our own.
	FromDomain string `json:"from_domain,omitzero"`
	// How it does now.
	Health *TrunkHealth `json:"health,omitempty"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// From where its calls may come.
	Inbound TrunkInbound `json:"inbound"`
	// Calls at once; 0: no limit of its own.
	MaxChannels int64 `json:"max_channels"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks []string `json:"media_networks"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Where audio goes to and comes from: auto, on or off.
	Nat string `json:"nat"`
	// Put before the number called.
	NumberAdd string `json:"number_add,omitzero"`
	// ISO 3166: how numbers without a country code are read and written.
	NumberCountry string `json:"number_country,omitzero"`
	// e164, digits or national.
	NumberFormat string `json:"number_format"`
	// Whether an operator has set number_strip and number_add. Only then number_add may be the prefix of a carrier or a private exchange.
	NumberRewriteApproved bool `json:"number_rewrite_approved,omitzero"`
	// Taken off the beginning of the number called.
	NumberStrip string `json:"number_strip,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whether its targets are asked every 30 seconds if they live.
	OptionsPing bool `json:"options_ping"`
	// What is sent to the proxies goes by way of it.
	OutboundProxy *Proxy `json:"outbound_proxy,omitempty"`
	// Beginnings of the numbers that it takes; empty: all.
	Prefixes []string `json:"prefixes"`
	// Among trunks of one prefix length: lower first.
	Priority int64 `json:"priority"`
	// Its targets.
	Proxies []Proxy `json:"proxies"`
	// What became of its calls.
	Quality *TrunkQuality `json:"quality,omitempty"`
	// Names, addresses and networks to which its 3xx may send a call on, for the same number; empty: it is not followed.
	RedirectHosts []string `json:"redirect_hosts"`
	// Whether it is registered at.
	Register bool `json:"register"`
	// The built-in carrier.
	Simulator bool `json:"simulator,omitzero"`
	// Where the carrier is to send calls.
	SIPURI string `json:"sip_uri,omitzero"`
	// How it carries text messages by SIP MESSAGE: off, plain, or imdn for CPIM with delivery reports.
	SMS string `json:"sms"`
	// Whether the sound is encrypted: off, optional or required.
	Srtp string `json:"srtp"`
	// Whether keys are told without TLS.
	SrtpKeysInClear bool `json:"srtp_keys_in_clear"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// test_environment: the trunk was created with a test key and is never used. spend_cap_without_costs: daily_spend_cap does not hold for all calls over it.
	Warnings []Detail `json:"warnings,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// TrunkAlarms is an answer of the service, or a part of one.
type TrunkAlarms struct {
	// Short ones of answered calls, 0 to 1; 0: no alarm.
	MaxShortCallShare float64 `json:"max_short_call_share"`
	// Mean length of answered calls; 0: no alarm.
	MinAcdSeconds float64 `json:"min_acd_seconds"`
	// Answered of attempted calls, 0 to 1; 0: no alarm.
	MinAsr float64 `json:"min_asr"`
	// There is no judgement over fewer calls.
	MinCalls int64 `json:"min_calls"`
	// Up to here a call is short.
	ShortCallSeconds int64 `json:"short_call_seconds"`
}

// TrunkAlarmsUpdate is sent to the service.
type TrunkAlarmsUpdate struct {
	// Short ones of answered calls, 0 to 1. 0: no alarm.
	MaxShortCallShare Optional[float64] `json:"max_short_call_share,omitzero"`
	// Mean length of answered calls. 0: no alarm.
	MinAcdSeconds Optional[float64] `json:"min_acd_seconds,omitzero"`
	// Answered of attempted calls, 0 to 1. 0: no alarm.
	MinAsr Optional[float64] `json:"min_asr,omitzero"`
	// There is no judgement over fewer calls.
	MinCalls Optional[int64] `json:"min_calls,omitzero"`
	// Up to here a call is short.
	ShortCallSeconds Optional[int64] `json:"short_call_seconds,omitzero"`
}

// TrunkAuth is an answer of the service, or a part of one.
type TrunkAuth struct {
	// Never shown.
	Password string `json:"password,omitzero"`
	// The only realm that is answered; empty: any.
	Realm string `json:"realm,omitzero"`
	// The name at the carrier.
	Username string `json:"username"`
}

// TrunkAuthUpdate is sent to the service.
type TrunkAuthUpdate struct {
	// Never shown again.
	Password Optional[string] `json:"password,omitzero"`
	// The only realm that is answered; empty: any.
	Realm Optional[string] `json:"realm,omitzero"`
	// The name at the carrier.
	Username *string `json:"username,omitempty"`
}

// TrunkHealth is an answer of the service, or a part of one.
type TrunkHealth struct {
	// It asked for a pause until then.
	BackoffUntil *time.Time `json:"backoff_until"`
	// Calls over it now.
	Channels int64 `json:"channels"`
	// What went wrong last.
	LastError string `json:"last_error,omitzero"`
	// Where its registration stands; only of a trunk that registers.
	Registration *TrunkRegistration `json:"registration,omitempty"`
	// up, degraded (a target is out, or it rests) or down (all are out).
	Status string `json:"status"`
	// Each of its targets, those that DNS yields included.
	Targets []TargetHealth `json:"targets"`
	// Calls that wait for their turn.
	Waiting int64 `json:"waiting"`
}

// TrunkInbound is an answer of the service, or a part of one.
type TrunkInbound struct {
	// From where its calls may come; empty: its proxies' addresses.
	AllowedIPs []string `json:"allowed_ips"`
	// What its calls have to prove; without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Calls beyond get 503; 0: no limit of its own.
	CallsPerSecond float64 `json:"calls_per_second"`
	// The header by which its calls are told from others of the same address; absent: every call from the address.
	Match *TrunkMatch `json:"match,omitempty"`
}

// TrunkInboundUpdate is sent to the service.
type TrunkInboundUpdate struct {
	// Addresses and networks. Empty: the addresses of the proxies.
	AllowedIPs Optional[[]string] `json:"allowed_ips,omitzero"`
	// Calls have to prove it by digest.
	Auth Optional[TrunkAuthUpdate] `json:"auth,omitzero"`
	// Calls beyond get 503 with Retry-After. 0: no limit of its own.
	CallsPerSecond Optional[float64] `json:"calls_per_second,omitzero"`
	// The header by which the carrier tells the calls of this trunk from others that come from the same address. Calls without it are none of the trunk's. Left out: every call from the address.
	Match Optional[MatchUpdate] `json:"match,omitzero"`
}

// TrunkMatch is an answer of the service, or a part of one.
type TrunkMatch struct {
	// Request-URI, From, To, Contact, P-Charge-Info, or an extension header (X-…).
	Header string `json:"header"`
	// The parameter of the URI or the header, such as tgrp (RFC 4904); absent: the whole value counts.
	Parameter string `json:"parameter,omitzero"`
	// Compared without regard to case.
	Value string `json:"value"`
}

// TrunkQuality is an answer of the service, or a part of one.
type TrunkQuality struct {
	// Mean length of answered calls.
	AcdSeconds float64 `json:"acd_seconds"`
	// What is beyond its bound now.
	Alarms []string `json:"alarms"`
	// Calls that were answered.
	Answered int64 `json:"answered"`
	// Answered of attempted calls, 0 to 1.
	Asr float64 `json:"asr"`
	// Calls that came to an answer or a refusal.
	Attempts int64 `json:"attempts"`
	// Calls that came in and were taken, since the start of the service.
	InboundCalls int64 `json:"inbound_calls"`
	// Calls that came in and were refused, by reason.
	InboundRefusals map[string]int64 `json:"inbound_refusals"`
	// Calls that it refused, by reason.
	Refusals map[string]int64 `json:"refusals"`
	// Short ones of answered calls, 0 to 1.
	ShortCallShare float64 `json:"short_call_share"`
	// Answered calls that were short.
	ShortCalls int64 `json:"short_calls"`
	// How far back this looks.
	WindowSeconds int64 `json:"window_seconds"`
}

// TrunkRegistration is an answer of the service, or a part of one.
type TrunkRegistration struct {
	// The last answer.
	Code int64 `json:"code,omitzero"`
	// When it ends.
	ExpiresAt *time.Time `json:"expires_at"`
	// The phrase of the last answer.
	Reason string `json:"reason,omitzero"`
	// When it is tried again.
	RetryAt *time.Time `json:"retry_at"`
	// trying, registered, failed or removed.
	Status string `json:"status"`
}

// TrunkUpdate is sent to the service.
type TrunkUpdate struct {
	// Beyond these bounds, over the last hour, system.degraded is sent.
	Alarms Optional[TrunkAlarmsUpdate] `json:"alarms,omitzero"`
	// Answers the trunk's digest challenges.
	Auth Optional[TrunkAuthUpdate] `json:"auth,omitzero"`
	// Sent to the trunk, and believed of it.
	CallerIDHeaders Optional[[]string] `json:"caller_id_headers,omitzero"`
	// Numbers that may be shown over it.
	CallerIDs Optional[[]string] `json:"caller_ids,omitzero"`
	// 50 unless said. Calls wait for their turn.
	CallsPerSecond Optional[float64] `json:"calls_per_second,omitzero"`
	// In the order of preference.
	Codecs Optional[[]string] `json:"codecs,omitzero"`
	// Among trunks of one priority: cheaper first. They also count for daily_spend_cap. Takes an operator key.
	Costs Optional[[]NewRate] `json:"costs,omitzero"`
	// The way of key presses; auto: as events where both ends take them, else as tones. One of auto, rfc4733, info, inband.
	Dtmf Optional[string] `json:"dtmf,omitzero"`
	// The host of From; empty: our own.
	FromDomain Optional[string] `json:"from_domain,omitzero"`
	// From where its calls may come.
	Inbound Optional[TrunkInboundUpdate] `json:"inbound,omitzero"`
	// 0: no limit of its own.
	MaxChannels Optional[int64] `json:"max_channels,omitzero"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks Optional[[]string] `json:"media_networks,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Where audio goes: auto to the address in the SDP, and where that may not be reached, to the source of the trunk's RTP; on always to that source; off always to the address in the SDP. Default: auto. One of auto, on, off.
	Nat Optional[string] `json:"nat,omitzero"`
	// Then put before it. Takes an operator key. What is dialled must read as the same number.
	NumberAdd Optional[string] `json:"number_add,omitzero"`
	// ISO 3166. Of national, and of numbers that come in without a country code. With national, one other than default_country of the workspace takes an operator key.
	NumberCountry Optional[string] `json:"number_country,omitzero"`
	// +12025550100, 12025550100, or as it is dialled within number_country. One of e164, digits, national.
	NumberFormat Optional[string] `json:"number_format,omitzero"`
	// Taken off the beginning of the number called, once it is written. Takes an operator key.
	NumberStrip Optional[string] `json:"number_strip,omitzero"`
	// Asks the targets every 30 seconds by OPTIONS. One that does not answer comes last, unless its calls succeed.
	OptionsPing Optional[bool] `json:"options_ping,omitzero"`
	// What goes to the proxies is sent by way of it.
	OutboundProxy Optional[ProxyUpdate] `json:"outbound_proxy,omitzero"`
	// Numbers that it takes; empty: all. The trunk with the longest one is taken.
	Prefixes Optional[[]string] `json:"prefixes,omitzero"`
	// Among trunks of one prefix length: lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Its targets, 20 at most.
	Proxies []NewProxy `json:"proxies,omitzero"`
	// Names, addresses and networks to which a 3xx of the trunk may send a call on, for the same number. Empty: 3xx is not followed.
	RedirectHosts Optional[[]string] `json:"redirect_hosts,omitzero"`
	// Registers at the first proxy with the credentials of auth.
	Register Optional[bool] `json:"register,omitzero"`
	// How it carries text messages by SIP MESSAGE: not at all, as plain text, or wrapped in CPIM with a request for delivery reports. One of off, plain, imdn.
	SMS Optional[string] `json:"sms,omitzero"`
	// Keys go in the SDP: without transport tls, optional counts as off. One of off, optional, required.
	Srtp Optional[string] `json:"srtp,omitzero"`
	// Tells keys of SRTP without TLS too, where whoever sees the signalling can listen.
	SrtpKeysInClear Optional[bool] `json:"srtp_keys_in_clear,omitzero"`
}

// TurnLatency is an answer of the service, or a part of one.
type TurnLatency struct {
	// When the far end had said its last word, on the time of the recording.
	AtMs int64 `json:"at_ms"`
	// From there until it was known that nothing follows.
	EouMs int64 `json:"eou_ms"`
	// How it took its turn: speech or dtmf.
	Input string `json:"input"`
	// Until the first word of a language model, where one answered.
	LlmFirstTokenMs int64 `json:"llm_first_token_ms,omitzero"`
	// `hit` or `miss` where the model was asked before it was known that the caller had said all.
	Speculative string `json:"speculative,omitzero"`
	// Until the text of what was said.
	SttMs int64 `json:"stt_ms"`
	// From the last word to the first sound of the answer.
	TotalMs int64 `json:"total_ms"`
	// From the text of the answer to its first sound.
	TtsFirstAudioMs int64 `json:"tts_first_audio_ms"`
}

// Waiting is an answer of the service, or a part of one.
type Waiting struct {
	// What the campaign waits for: calling_hours, schedule, line, pacing, trunk, spend_cap, engine, retry, frequency_cap, no_contacts, store, dialling_stopped, draining or quarantine (the store was restored from a backup and not released). While daily_spend_cap leaves no money for a call it is spend_cap, and until is when the campaign tries again.
	Reason string `json:"reason"`
	// Until when, where that is known.
	Until *time.Time `json:"until"`
}

// WebhookDisabledData is an answer of the service, or a part of one.
type WebhookDisabledData struct {
	// When the endpoint was disabled.
	At time.Time `json:"at"`
	// Why the endpoint was disabled.
	Reason string `json:"reason"`
	// The address of the endpoint.
	URL string `json:"url"`
	// The endpoint.
	WebhookID string `json:"webhook_id"`
}

// WebhookDisabledEvent is an answer of the service, or a part of one.
type WebhookDisabledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data WebhookDisabledData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of webhook.disabled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// WebhookTestData is an answer of the service, or a part of one.
type WebhookTestData struct {
	// A text for people.
	Message string `json:"message"`
	// The endpoint.
	WebhookID string `json:"webhook_id"`
}

// WebhookTestEvent is an answer of the service, or a part of one.
type WebhookTestEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data WebhookTestData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of webhook.test.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Workspace is an answer of the service, or a part of one.
type Workspace struct {
	// Origins whose pages may come with the tokens of users.
	AllowedOrigins []string `json:"allowed_origins"`
	// Whom it may call, and for how much.
	Calling DestinationRules `json:"calling"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// ISO 3166: how numbers without a country code are read.
	DefaultCountry string `json:"default_country"`
	// The list of numbers that are never called.
	DefaultDNCListID string `json:"default_dnc_list_id"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// How often somebody may be rung.
	FrequencyCaps FrequencyCaps `json:"frequency_caps"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Its ceilings.
	Limits Limits `json:"limits"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// starter, professional or enterprise. One of starter, professional, enterprise.
	Plan string `json:"plan"`
	// What an account on enterprise pays for an attempt; null: nothing.
	Pricing *Pricing `json:"pricing,omitempty"`
	// What is not kept of what is said and written to it.
	Redaction Redaction `json:"redaction"`
	// How long its data are kept.
	Retention Retention `json:"retention"`
	// What a segment of a text message costs, on any plan; missing: nothing.
	SMSPricePerSegment *Money `json:"sms_price_per_segment,omitempty"`
	// The number of the price that holds now; each change of it counts on.
	Tariff int64 `json:"tariff"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// spend_cap_without_costs: daily_spend_cap does not hold for calls over trunks without costs.
	Warnings []Detail `json:"warnings,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// WorkspaceUpdate is sent to the service.
type WorkspaceUpdate struct {
	// Origins whose pages may come with the tokens of users, e.g. https://app.example.com; [] is none.
	AllowedOrigins Optional[[]string] `json:"allowed_origins,omitzero"`
	// Operators only.
	Calling Optional[DestinationRulesUpdate] `json:"calling,omitzero"`
	// ISO 3166: how numbers without a country code are read. Default: US.
	DefaultCountry Optional[string] `json:"default_country,omitzero"`
	// How often somebody may be rung.
	FrequencyCaps Optional[FrequencyCapsUpdate] `json:"frequency_caps,omitzero"`
	// On enterprise only. Operators only.
	Limits Optional[LimitsUpdate] `json:"limits,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Default: starter. Operators only. One of starter, professional, enterprise.
	Plan Optional[string] `json:"plan,omitzero"`
	// What an account on enterprise has agreed to pay. Operators only.
	Pricing Optional[PricingUpdate] `json:"pricing,omitzero"`
	// What is not kept of what is said and written to it.
	Redaction Optional[RedactionUpdate] `json:"redaction,omitzero"`
	// How long its data are kept.
	Retention Optional[RetentionUpdate] `json:"retention,omitzero"`
	// Of each segment of a live text message that a carrier took, on any plan, at most 1000.00. Operators only.
	SMSPricePerSegment Optional[MoneyUpdate] `json:"sms_price_per_segment,omitzero"`
}

// WorkspaceUpdatedEvent is an answer of the service, or a part of one.
type WorkspaceUpdatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// What happened; its shape goes by the type.
	Data ResourceChangedData `json:"data"`
	// Names the event.
	ID string `json:"id"`
	// Counts the events of a subject from 1.
	Sequence int64 `json:"sequence"`
	// What it is about: a call, a campaign.
	Subject string `json:"subject"`
	// The unit that it is of.
	SvcID string `json:"svc_id"`
	// The name of the event. One of workspace.updated.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}
