// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"encoding/json"
	"time"
)

// Actor is part of a response.
type Actor struct {
	// Unique id. It never changes and is never reused.
	ID   string `json:"id"`
	Type string `json:"type"`
}

// AgentActionData is part of a response.
type AgentActionData struct {
	// The tool or built-in action.
	Action string `json:"action"`
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The arguments, an object.
	Arguments json.RawMessage `json:"arguments"`
	// The id of the call.
	CallID string `json:"call_id"`
	// How long the action took, in milliseconds.
	LatencyMs int64 `json:"latency_ms"`
	// The result, an object.
	Result json.RawMessage `json:"result"`
}

// AgentActionTriggeredEvent is part of a response.
type AgentActionTriggeredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AgentActionData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of agent.action.triggered.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentErrorData is part of a response.
type AgentErrorData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The kind of the error, for programs.
	Code string `json:"code"`
	// The error in words.
	Message string `json:"message"`
	// true if the conversation continues.
	Recovered bool `json:"recovered"`
	// The part that failed: speech, hearing, model or tool.
	Stage string `json:"stage"`
}

// AgentErrorEvent is part of a response.
type AgentErrorEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AgentErrorData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of agent.error.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentEscalationData is part of a response.
type AgentEscalationData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The transfer destination.
	Destination string `json:"destination"`
	// Why the call is transferred to a person.
	Reason string `json:"reason"`
	// Summary of the conversation for the person.
	Summary string `json:"summary"`
}

// AgentEscalationEvent is part of a response.
type AgentEscalationEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AgentEscalationData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of agent.escalation.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentIntentData is part of a response.
type AgentIntentData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The id of the call.
	CallID string `json:"call_id"`
	// Confidence of the recognition, 0 to 1.
	Confidence float64 `json:"confidence"`
	// What the caller named: date, time, number, name, yes_no.
	Entities map[string]string `json:"entities"`
	// The caller's intent.
	Intent string `json:"intent"`
}

// AgentIntentDetectedEvent is part of a response.
type AgentIntentDetectedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AgentIntentData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of agent.intent.detected.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AgentUpdatedEvent is part of a response.
type AgentUpdatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data ResourceChangedData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of agent.updated.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AlertData is part of a response.
type AlertData struct {
	// The alert.
	AlertID string `json:"alert_id"`
	// The threshold of the rule.
	Bound float64 `json:"bound"`
	// Number of calls in the answer rate.
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
	// Since when the condition holds.
	Since time.Time `json:"since"`
	// The trunk, endpoint or workspace that the alert is about, or all.
	SubjectID string `json:"subject_id"`
	// The name of the subject.
	SubjectName string `json:"subject_name"`
	// The measured value.
	Value float64 `json:"value"`
}

// AlertFiringEvent is part of a response.
type AlertFiringEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AlertData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of alert.firing.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AlertResolvedEvent is part of a response.
type AlertResolvedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AlertData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of alert.resolved.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AnalysisData is part of a response.
type AnalysisData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The analysis of the call.
	Analysis CallAnalysis `json:"analysis"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
}

// AnalysisField is part of a request.
type AnalysisField struct {
	// Meaning of the field.
	Description *string `json:"description,omitempty"`
	// Name for people.
	Name string `json:"name"`
	// true if the field must be extracted.
	Required *bool `json:"required,omitempty"`
	// string, number, integer or boolean.
	Type string `json:"type"`
	// Allowed values.
	Values []string `json:"values,omitzero"`
}

// AppointmentCancelledEvent is part of a response.
type AppointmentCancelledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AppointmentData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of appointment.cancelled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentConfirmedEvent is part of a response.
type AppointmentConfirmedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AppointmentData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of appointment.confirmed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentCreatedEvent is part of a response.
type AppointmentCreatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AppointmentData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of appointment.created.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentData is part of a response.
type AppointmentData struct {
	// The appointment.
	AppointmentID string `json:"appointment_id"`
	// The id of the call.
	CallID string `json:"call_id,omitzero"`
	// Why the appointment was cancelled.
	CancelReason string `json:"cancel_reason,omitzero"`
	// For a reminder: sms or call.
	Channel string `json:"channel,omitzero"`
	// Start time.
	Datetime time.Time `json:"datetime"`
	// The length of the appointment.
	DurationMinutes int64 `json:"duration_minutes"`
	// End time.
	EndsAt time.Time `json:"ends_at"`
	// Start time in that zone.
	LocalDatetime string `json:"local_datetime"`
	// The text message of the reminder.
	MessageID string `json:"message_id,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Notes for people.
	Notes string `json:"notes,omitzero"`
	// The patient.
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
	// The time zone of the provider.
	Timezone string `json:"timezone"`
	// The kind of appointment.
	Type string `json:"type"`
}

// AppointmentReminderSentEvent is part of a response.
type AppointmentReminderSentEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AppointmentData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of appointment.reminder.sent.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentRescheduledEvent is part of a response.
type AppointmentRescheduledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AppointmentData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of appointment.rescheduled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentUpdatedEvent is part of a response.
type AppointmentUpdatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AppointmentData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of appointment.updated.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// BulkError is part of a response.
type BulkError struct {
	// Error code.
	Code string `json:"code"`
	// Index of the item, from 0.
	Index int64 `json:"index"`
	// Error message.
	Message string `json:"message"`
	// The field with the error.
	Param string `json:"param"`
}

// Call is part of a response.
type Call struct {
	// The id of the agent.
	AgentID string `json:"agent_id,omitzero"`
	// Version of the agent in this call.
	AgentVersion int64 `json:"agent_version,omitzero"`
	// Analysis of the transcript by a language model, if the agent requests one. It is available some time after the end and is reported by call.analysis.ready.
	Analysis *CallAnalysis `json:"analysis,omitempty"`
	// When the call was answered; null: never.
	AnsweredAt *time.Time `json:"answered_at"`
	// Who answered, if known. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// Number of the attempt at the contact, from 1.
	Attempt int64 `json:"attempt"`
	// Caller information from the trunk of an inbound call.
	Caller *Caller `json:"caller,omitempty"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// The id of the contact, if there is one.
	ContactID string `json:"contact_id,omitzero"`
	// Variables sent with the request.
	Context map[string]any `json:"context,omitzero"`
	// Cost of the call by the costs of its trunk.
	Cost *Money `json:"cost,omitempty"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// Outcome of an ended call. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Disposition string `json:"disposition,omitzero"`
	// Seconds from answer to end.
	DurationSeconds int64 `json:"duration_seconds"`
	// When the call ended; null while it is live.
	EndedAt *time.Time `json:"ended_at"`
	// Which side ended the call: agent, remote, api or service. One of agent, remote, api, service.
	EndedBy string `json:"ended_by,omitzero"`
	// Why the call ended, one of a fixed list. spend_cap_reached: daily_spend_cap left no money for the next minute. agent_unavailable: a speech, recognition or language model engine failed.
	EndedReason string `json:"ended_reason,omitzero"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// The number of the caller, or anonymous.
	From string `json:"from"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The caller's intent, if the pathway recognized one.
	Intent string `json:"intent,omitzero"`
	// Response latency of the agent, in total and by turn.
	Latency *Latency `json:"latency,omitempty"`
	// Legs of the call, one per INVITE, in order: targets that were tried, and transfers.
	Legs []Leg `json:"legs"`
	// A sentence: why the audio was refused, or why no audio was received or sent.
	MediaIssue string `json:"media_issue,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// Result of the call; null until its end.
	Outcome *CallOutcome `json:"outcome"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id,omitzero"`
	// true while the recording or the transcript is not ready.
	Processing bool `json:"processing"`
	// Audio quality.
	Quality *Quality `json:"quality,omitempty"`
	// true if the call is recorded.
	Record bool `json:"record"`
	// true if the recording can be downloaded.
	RecordingAvailable bool `json:"recording_available"`
	// When retention deleted the recording.
	RecordingDeletedAt *time.Time `json:"recording_deleted_at,omitempty"`
	// Duration of the recording.
	RecordingSeconds float64 `json:"recording_seconds,omitzero"`
	// URL of the recording, which needs a credential.
	RecordingURL string `json:"recording_url,omitzero"`
	// When the remote party started to ring; null: never.
	RingingAt *time.Time `json:"ringing_at"`
	// Maximum time that the remote party waited for the agent's response, in milliseconds.
	SlowestTurnMs int64 `json:"slowest_turn_ms,omitzero"`
	// When the call started.
	StartedAt *time.Time `json:"started_at"`
	// Status of the call. completed, busy, no_answer, failed and cancelled are final. One of queued, initiated, ringing, in_progress, transferring, completed, busy, no_answer, failed, cancelled.
	Status string `json:"status"`
	// The number or extension that was called.
	To string `json:"to"`
	// true if the transcript can be read.
	TranscriptAvailable bool `json:"transcript_available"`
	// When retention deleted the transcript.
	TranscriptDeletedAt *time.Time `json:"transcript_deleted_at,omitempty"`
	// URL of the transcript.
	TranscriptURL string `json:"transcript_url,omitzero"`
	// Transfers in order.
	Transfers []Transfer `json:"transfers,omitzero"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Variables that the pathway collected.
	Variables map[string]string `json:"variables"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// CallAnalysis is part of a response.
type CallAnalysis struct {
	// When the analysis was made.
	AnalyzedAt time.Time `json:"analyzed_at"`
	// Why there is no analysis.
	Error string `json:"error,omitzero"`
	// Extracted fields by name, with the types that the agent defines.
	Fields map[string]any `json:"fields"`
	// true if the call meets success_criteria of its agent; null without criteria.
	Success *bool `json:"success"`
	// Reason for the value of success.
	SuccessReason string `json:"success_reason,omitzero"`
	// Summary of the call and its result.
	Summary string `json:"summary,omitzero"`
}

// CallAnalysisReadyEvent is part of a response.
type CallAnalysisReadyEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data AnalysisData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.analysis.ready.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallAnsweredByEvent is part of a response.
type CallAnsweredByEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CallData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.answered_by.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallAnsweredEvent is part of a response.
type CallAnsweredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CallData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.answered.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallCompliance is part of a request.
type CallCompliance struct {
	// Daily window in which the call may be placed.
	CallingHours *NewHours `json:"calling_hours,omitempty"`
}

// CallData is part of a response.
type CallData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// Who answered, where the agent or the call classifies the answerer. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// The caller's number.
	From string `json:"from"`
	// The called number.
	To string `json:"to"`
}

// CallEndedData is part of a response.
type CallEndedData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// Who answered, where the agent or the call classifies the answerer. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The id of the campaign, if there is one.
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
	// The caller's intent; empty if unknown.
	Intent string `json:"intent"`
	// Why audio was refused, not received or not sent. Missing if audio was received.
	MediaIssue string `json:"media_issue,omitzero"`
	// The outcome with the agreements of the call.
	Outcome CallOutcome `json:"outcome"`
	// Whether a recording exists or is being written.
	RecordingAvailable bool `json:"recording_available"`
	// The URL of the recording; empty without one.
	RecordingURL string `json:"recording_url"`
	// The called number.
	To string `json:"to"`
	// Whether a transcript exists.
	TranscriptAvailable bool `json:"transcript_available"`
	// The URL of the transcript; empty without one.
	TranscriptURL string `json:"transcript_url"`
}

// CallEndedEvent is part of a response.
type CallEndedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CallEndedData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.ended.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallOutcome is part of a response.
type CallOutcome struct {
	// Whether the call booked an appointment and did not cancel it.
	AppointmentBooked bool `json:"appointment_booked"`
	// Date of the appointment in the time zone of the provider: YYYY-MM-DD.
	AppointmentDate string `json:"appointment_date,omitzero"`
	// The id of the appointment.
	AppointmentID string `json:"appointment_id,omitzero"`
	// Time of the appointment in the time zone of the provider: HH:MM.
	AppointmentTime string `json:"appointment_time,omitzero"`
	// The caller's intent.
	Intent string `json:"intent,omitzero"`
	// Notes of the pathway.
	Notes string `json:"notes,omitzero"`
	// The outcome. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Result string `json:"result"`
}

// CallRecordingReadyEvent is part of a response.
type CallRecordingReadyEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data RecordingData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.recording.ready.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallRingingEvent is part of a response.
type CallRingingEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CallData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.ringing.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallStartedEvent is part of a response.
type CallStartedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CallData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.started.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallTranscriptionReadyEvent is part of a response.
type CallTranscriptionReadyEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data TranscriptData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.transcription.ready.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CallTransferredEvent is part of a response.
type CallTransferredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data TransferredData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of call.transferred.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Caller is part of a response.
type Caller struct {
	// The number that the trunk asserts. Only for trunks whose headers are trusted.
	Asserted string `json:"asserted,omitzero"`
	// Numbers from which the call was diverted, the last one first.
	Diversions []Diverted `json:"diversions,omitzero"`
	// Entries of History-Info, oldest first.
	History []string `json:"history,omitzero"`
	// Signature of the number, as received from the trunk (RFC 8224).
	Identity string `json:"identity,omitzero"`
	// Caller name.
	Name string `json:"name,omitzero"`
	// Verification result of the trunk for the signature.
	Verstat string `json:"verstat,omitzero"`
	// true if the caller withholds the number.
	Withheld bool `json:"withheld,omitzero"`
}

// CampaignCallCompletedEvent is part of a response.
type CampaignCallCompletedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CampaignCallData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.call.completed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignCallData is part of a response.
type CampaignCallData struct {
	// Who answered, where the agent or the call classifies the answerer. One of human, voicemail, ivr, call_screening, fax, unavailable, unknown.
	AnsweredBy string `json:"answered_by,omitzero"`
	// Attempts for this contact so far.
	Attempts int64 `json:"attempts"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id"`
	// The progress of the campaign with this attempt.
	CampaignProgress CampaignProgressSummary `json:"campaign_progress"`
	// The contact that was called.
	Contact ContactData `json:"contact"`
	// true if no further attempt follows.
	Final bool `json:"final"`
	// The outcome of the attempt. One of completed, confirmed, declined, voicemail, no_answer, busy, failed, cancelled.
	Outcome string `json:"outcome"`
	// Why the attempt ended.
	Reason string `json:"reason"`
}

// CampaignCancelledEvent is part of a response.
type CampaignCancelledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CampaignData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.cancelled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignCompletedEvent is part of a response.
type CampaignCompletedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CampaignStatusObject `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.completed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignCreatedEvent is part of a response.
type CampaignCreatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CampaignData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.created.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignData is part of a response.
type CampaignData struct {
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id"`
	// Name for people.
	Name string `json:"name"`
	// Why the state changed, where there is a reason.
	Reason string `json:"reason,omitzero"`
	// The state of the campaign. One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
}

// CampaignPausedEvent is part of a response.
type CampaignPausedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CampaignData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.paused.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignProgressEvent is part of a response.
type CampaignProgressEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data ProgressData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.progress.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignProgressSummary is part of a response.
type CampaignProgressSummary struct {
	// Contacts in a final state.
	Completed int64 `json:"completed"`
	// The share of contacts in a final state, 0 to 100.
	PercentComplete float64 `json:"percent_complete"`
	// Waiting contacts.
	Remaining int64 `json:"remaining"`
}

// CampaignResumedEvent is part of a response.
type CampaignResumedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CampaignData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.resumed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignStartedEvent is part of a response.
type CampaignStartedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data CampaignData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of campaign.started.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// CampaignStatusObject is part of a response.
type CampaignStatusObject struct {
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id"`
	// exhausted: every contact has a final state. window_ended: the end of the schedule came first. One of exhausted, window_ended.
	CompletionReason string `json:"completion_reason,omitzero"`
	// Contacts that were not reached before the end of the schedule.
	Expired int64 `json:"expired"`
	// Contacts in a final state, by outcome.
	Outcomes map[string]int64 `json:"outcomes"`
	// Why the service paused the campaign. A campaign that the API paused has none. One of trunk_failures, script_unavailable, restored.
	PauseReason string `json:"pause_reason,omitzero"`
	// Progress of the contacts.
	Progress CampaignStatusProgress `json:"progress"`
	// Contacts that were not called, by rule.
	Skipped Skipped `json:"skipped"`
	// The state of the campaign. One of draft, scheduled, running, paused, completed, cancelled.
	Status string `json:"status"`
	// When the campaign started and when it is expected to end.
	Timing CampaignStatusTiming `json:"timing"`
	// Why no call is placed now; null while calls are placed.
	Waiting *Waiting `json:"waiting"`
	// In the response to a start. destination_not_allowed: contacts whose number the destination rules now forbid; they will be skipped.
	Warnings []Detail `json:"warnings,omitzero"`
}

// CampaignStatusProgress is part of a response.
type CampaignStatusProgress struct {
	// Contacts with at least one attempt.
	Attempted int64 `json:"attempted"`
	// Contacts with an open attempt.
	InProgress int64 `json:"in_progress"`
	// Waiting contacts.
	Remaining int64 `json:"remaining"`
	// Number of contacts.
	Total int64 `json:"total"`
}

// CampaignStatusTiming is part of a response.
type CampaignStatusTiming struct {
	// When the last contact is expected to have a final state.
	EstimatedCompletion *time.Time `json:"estimated_completion"`
	// When the campaign started.
	StartedAt *time.Time `json:"started_at"`
}

// ContactData is part of a response.
type ContactData struct {
	// Name for people.
	Name string `json:"name"`
	// The number of the contact, E.164.
	Phone string `json:"phone"`
}

// ContactError is part of a response.
type ContactError struct {
	// The error: invalid_row, invalid_phone, invalid_timezone, duplicate, dnc, destination_not_allowed or missing_variable.
	Code string `json:"code"`
	// The row number: 1 for the first line of a file or the first item of a list.
	Line int64 `json:"line"`
	// The error message.
	Message string `json:"message"`
	// The number as sent.
	Phone string `json:"phone,omitzero"`
}

// ContactOptedOutEvent is part of a response.
type ContactOptedOutEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data OptedOutData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of contact.opted_out.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Creator is part of a response.
type Creator struct {
	// The id of the key, user or client. Empty for system.
	ID string `json:"id"`
	// The API key whose sign-in link opened the dashboard session of a user. Missing for other sessions.
	SignInKeyID string `json:"sign_in_key_id,omitzero"`
	// The kind of credential: an API key or a JWT made with it, an operator key, a dashboard session of a user, an OAuth client, or the service itself. One of api_key, operator, user, oauth_client, system.
	Type string `json:"type"`
}

// DNCNumber is part of a request.
type DNCNumber struct {
	// Country of a number without a country code, as an ISO 3166 code. Default: default_country of the workspace.
	Country *string `json:"country,omitempty"`
	// A number that must not be called.
	Phone string `json:"phone"`
}

// Deleted is part of a response.
type Deleted struct {
	// Always true.
	Deleted bool `json:"deleted"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// The type of the resource.
	Object string `json:"object"`
}

// DestinationRules is part of a response.
type DestinationRules struct {
	// Number prefixes that are never called.
	BlockedPrefixes []string `json:"blocked_prefixes"`
	// Countries that may be called, as ISO 3166 codes; *: every country.
	Countries []string `json:"countries"`
	// Maximum spend per UTC day; null: no cap.
	DailySpendCap *Money `json:"daily_spend_cap"`
	// Maximum duration of an outbound or transferred call; 0: no limit.
	MaxCallMinutes int64 `json:"max_call_minutes"`
}

// DestinationRulesUpdate is part of a request.
type DestinationRulesUpdate struct {
	// Number prefixes that are never called.
	BlockedPrefixes Optional[[]string] `json:"blocked_prefixes,omitzero"`
	// Countries that may be called, as ISO 3166 codes. *: every country. []: the current default_country; a later change of default_country does not change this list.
	Countries Optional[[]string] `json:"countries,omitzero"`
	// Maximum spend per UTC day for outbound calls and text messages. Calls count by the costs of the trunk, or by the plan's price of an attempt for a trunk without costs. Text messages count by sms_price_per_segment: a message sent over the API when it is queued, an agent's reply before it is sent. A call reserves its first minute when it is placed and each following minute in advance. A call that cannot reserve a minute ends with spend_cap_reached. Once the cap is reached, no call, transfer or text message goes out.
	DailySpendCap Optional[MoneyUpdate] `json:"daily_spend_cap,omitzero"`
	// Maximum duration of an outbound or transferred call. 0: no limit.
	MaxCallMinutes Optional[int64] `json:"max_call_minutes,omitzero"`
}

// Detail is part of a response.
type Detail struct {
	// The kind of the problem, for programs.
	Code string `json:"code"`
	// The problem in words.
	Message string `json:"message"`
	// The member that the problem is about.
	Param string `json:"param"`
}

// Diverted is part of a response.
type Diverted struct {
	// The number from which the call was diverted.
	From string `json:"from"`
	// Reason of the diversion.
	Reason string `json:"reason,omitzero"`
}

// Event is part of a response.
type Event struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data json.RawMessage `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// Type of the event, such as call.ended. One of call.started, call.ringing, call.answered, call.answered_by, call.transferred, call.ended, call.recording.ready, call.transcription.ready, call.analysis.ready, sms.received, sms.sent, sms.delivered, sms.failed, agent.intent.detected, agent.action.triggered, agent.escalation, agent.error, agent.updated, appointment.created, appointment.updated, appointment.cancelled, appointment.confirmed, appointment.rescheduled, appointment.reminder.sent, campaign.created, campaign.started, campaign.paused, campaign.resumed, campaign.cancelled, campaign.progress, campaign.completed, campaign.call.completed, contact.opted_out, webhook.test, webhook.disabled, workspace.updated, system.degraded, alert.firing, alert.resolved.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// FrequencyCaps is part of a response.
type FrequencyCaps struct {
	// Maximum attempts to reach one number per calendar day of that number; 0: no cap.
	PerNumberPerDay int64 `json:"per_number_per_day"`
}

// FrequencyCapsUpdate is part of a request.
type FrequencyCapsUpdate struct {
	// Maximum attempts to reach one number per calendar day in its time zone, over all campaigns and single calls. Attempts are counted from the moment a cap is set. 0: no cap.
	PerNumberPerDay Optional[int64] `json:"per_number_per_day,omitzero"`
}

// Latency is part of a response.
type Latency struct {
	// Median time from the remote party's last word to the first audio of the agent.
	P50Ms int64 `json:"p50_ms"`
	// 95th percentile of the same time.
	P95Ms int64 `json:"p95_ms"`
	// Latency by turn; the first 200 turns.
	Turns []TurnLatency `json:"turns"`
}

// Leg is part of a response.
type Leg struct {
	// Final SIP status; 0: none received.
	Code int64 `json:"code"`
	// Audio codec.
	Codec string `json:"codec,omitzero"`
	// When the leg ended; null while it is live.
	EndedAt *time.Time `json:"ended_at"`
	// Post-dial delay: from the INVITE to the first ringing or final response.
	PDDMs int64 `json:"pdd_ms"`
	// Q.850 cause of the end.
	Q850 int64 `json:"q850,omitzero"`
	// Reason phrase of the response, or why there was none.
	Reason string `json:"reason"`
	// transfer for the leg to a transfer target; empty for the leg to the remote party.
	Role string `json:"role,omitzero"`
	// Call-ID of the SIP dialog.
	SIPCallID string `json:"sip_call_id"`
	// When the INVITE was sent or received.
	StartedAt time.Time `json:"started_at"`
	// host:port;transport.
	Target string `json:"target"`
	// The id of the trunk.
	TrunkID string `json:"trunk_id"`
}

// Limits is part of a response.
type Limits struct {
	// Maximum outbound calls that start per minute.
	CallsPerMinute int64 `json:"calls_per_minute"`
	// Maximum concurrent inbound calls.
	ConcurrentInbound int64 `json:"concurrent_inbound"`
	// Maximum concurrent outbound calls.
	ConcurrentOutbound int64 `json:"concurrent_outbound"`
	// Maximum API requests per minute.
	RequestsPerMinute int64 `json:"requests_per_minute"`
}

// LimitsUpdate is part of a request.
type LimitsUpdate struct {
	// Maximum outbound calls that start per minute.
	CallsPerMinute Optional[int64] `json:"calls_per_minute,omitzero"`
	// Maximum concurrent inbound calls.
	ConcurrentInbound Optional[int64] `json:"concurrent_inbound,omitzero"`
	// Maximum concurrent outbound calls.
	ConcurrentOutbound Optional[int64] `json:"concurrent_outbound,omitzero"`
	// Maximum API requests per minute.
	RequestsPerMinute Optional[int64] `json:"requests_per_minute,omitzero"`
}

// ListEvent is part of a response.
type ListEvent struct {
	// The resources of this page.
	Data []Event `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListPhoneNumber is part of a response.
type ListPhoneNumber struct {
	// The resources of this page.
	Data []PhoneNumber `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListTrunk is part of a response.
type ListTrunk struct {
	// The resources of this page.
	Data []Trunk `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// MatchUpdate is part of a request.
type MatchUpdate struct {
	// Request-URI, From, To, Contact, P-Charge-Info, or an extension header X-….
	Header *string `json:"header,omitempty"`
	// Parameter of the URI or the header, such as tgrp (RFC 4904) or otg. Required for Request-URI, From, To and Contact. Default: the whole header value.
	Parameter Optional[string] `json:"parameter,omitzero"`
	// Expected value, compared without regard to case.
	Value *string `json:"value,omitempty"`
}

// Money is part of a response.
type Money struct {
	// Decimal amount.
	Amount string `json:"amount"`
	// ISO 4217.
	Currency string `json:"currency"`
}

// MoneyUpdate is part of a request.
type MoneyUpdate struct {
	// Decimal amount.
	Amount *string `json:"amount,omitempty"`
	// ISO 4217. One of USD.
	Currency Optional[string] `json:"currency,omitzero"`
}

// NewAgentLimits is part of a request.
type NewAgentLimits struct {
	// Maximum duration of a conversation.
	MaxMinutes *int64 `json:"max_minutes,omitempty"`
	// Answers of the language model or realtime engine in one call, after which the agent says goodbye. 0: 200.
	MaxTurns *int64 `json:"max_turns,omitempty"`
	// The agent says goodbye and hangs up after a silence of both sides of this length. 0: no limit.
	SilenceSeconds *int64 `json:"silence_seconds,omitempty"`
}

// NewAnalysis is part of a request.
type NewAnalysis struct {
	// Fields to extract from a call, at most 50.
	Fields []NewAnalysisField `json:"fields,omitzero"`
	// Criteria for a successful call, in words.
	SuccessCriteria *string `json:"success_criteria,omitempty"`
	// true requests a summary.
	Summary *bool `json:"summary,omitempty"`
}

// NewAnalysisField is part of a request.
type NewAnalysisField struct {
	// Meaning of the field.
	Description *string `json:"description,omitempty"`
	// Name for people.
	Name string `json:"name"`
	// true if the field must be extracted.
	Required *bool `json:"required,omitempty"`
	// Type of the value. One of string, number, integer, boolean.
	Type *string `json:"type,omitempty"`
	// Allowed values of a string, at most 100.
	Values []string `json:"values,omitzero"`
}

// NewCallAMD is part of a request.
type NewCallAMD struct {
	// off: no detection. async: while the agent already speaks. wait: before the agent speaks, mostly for 1 to 2 seconds, at most for 13. One of off, async, wait.
	Mode string `json:"mode"`
}

// NewCallRequest is part of a request.
type NewCallRequest struct {
	// agent_id or pathway_id is required.
	AgentID *string `json:"agent_id,omitempty"`
	// Answering machine detection of this call. Default: the settings of the agent.
	AMD *NewCallAMD `json:"amd,omitempty"`
	// Compliance rules of this call.
	Compliance *CallCompliance `json:"compliance,omitempty"`
	// Values of variables in texts of the pathway.
	Context map[string]any `json:"context,omitzero"`
	// The caller ID: a number of the workspace, or one in caller_ids of a trunk that can carry the call. Default: a number of the trunk that carries the call.
	From *string `json:"from,omitempty"`
	// Default: limits.max_minutes of the agent, otherwise 1800.
	MaxDurationSeconds *int64 `json:"max_duration_seconds,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Settings in which this call differs from its agent. Missing members keep the agent's settings; an object replaces the agent's object completely. Use context for variables.
	Overrides *NewOverrides `json:"overrides,omitempty"`
	// Either agent_id or pathway_id is required.
	PathwayID *string `json:"pathway_id,omitempty"`
	// false: the call is not recorded. Default: true.
	Record *bool `json:"record,omitempty"`
	// Maximum ringing time, from the first ringing response.
	RingTimeoutSeconds *int64 `json:"ring_timeout_seconds,omitempty"`
	// A telephone number, or the extension or SIP address of a phone of the workspace.
	To string `json:"to"`
	// What this call does when a machine answers. Default: the settings of the agent.
	Voicemail *NewVoicemail `json:"voicemail,omitempty"`
}

// NewContact is part of a request.
type NewContact struct {
	// Values of variables in texts of the pathway.
	Context map[string]any `json:"context,omitzero"`
	Country *string        `json:"country,omitempty"`
	// E.164, or a national number of the campaign's default_country.
	Phone string `json:"phone"`
	// Time zone of the contact. Default: the zone of the number.
	Timezone *string `json:"timezone,omitempty"`
}

// NewHours is part of a request.
type NewHours struct {
	// HH:MM, up to 24:00
	End string `json:"end"`
	// HH:MM
	Start string `json:"start"`
	// A time zone, or local for the zone of the contact.
	Timezone *string `json:"timezone,omitempty"`
}

// NewLLM is part of a request.
type NewLLM struct {
	// An engine of the installation. Default: the engine that the installation selects.
	Engine *string `json:"engine,omitempty"`
	// Maximum tokens of one response. 0: the default of the engine.
	MaxTokens *int64 `json:"max_tokens,omitempty"`
	// Model of the engine.
	Model *string `json:"model,omitempty"`
	// true: the model is requested as soon as the caller is silent, and again if the caller continues.
	Speculative *bool `json:"speculative,omitempty"`
	// Sampling temperature.
	Temperature *float64 `json:"temperature,omitempty"`
}

// NewMessage is part of a request.
type NewMessage struct {
	// Text, at most 1600 characters. {{name}} and {{name | fallback}} insert variables of context.
	Body string `json:"body"`
	// Values of variables in body.
	Context map[string]any `json:"context,omitzero"`
	// Sender: a number of the workspace, or one in caller_ids of a trunk that can carry the message. Default: a number of the trunk or gateway that carries the message.
	From *string `json:"from,omitempty"`
	// https URLs of media, at most 10.
	Media []string `json:"media,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Recipient, preferably in E.164.
	To string `json:"to"`
}

// NewOverrides is part of a request.
type NewOverrides struct {
	// Analysis of the ended call.
	Analysis *NewAnalysis `json:"analysis,omitempty"`
	// The first text of an agent without a pathway. {{name}} inserts a variable. 422 for a call with a pathway.
	FirstMessage *string `json:"first_message,omitempty"`
	// Language of speech, and of recognition by default.
	Language *string `json:"language,omitempty"`
	// Limits of the conversation.
	Limits *NewAgentLimits `json:"limits,omitempty"`
	// Language model settings.
	Llm *NewLLM `json:"llm,omitempty"`
	// Speech recognition settings.
	Stt *NewSTT `json:"stt,omitempty"`
	// System prompt of the language model.
	SystemPrompt *string `json:"system_prompt,omitempty"`
	// Time zone for times in texts.
	Timezone *string `json:"timezone,omitempty"`
	// Turn-taking settings.
	TurnTaking *NewTurnTaking `json:"turn_taking,omitempty"`
	// Voice settings.
	Voice *NewVoice `json:"voice,omitempty"`
}

// NewProxy is part of a request.
type NewProxy struct {
	// Host name or address.
	Host string `json:"host"`
	// Default: the SRV records of the host, otherwise 5060, with TLS 5061.
	Port *int64 `json:"port,omitempty"`
	// Priority; lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Default: the NAPTR and SRV records of a host without a port, otherwise udp. One of udp, tcp, tls.
	Transport *string `json:"transport,omitempty"`
	// Relative share of calls among targets of the same priority.
	Weight *int64 `json:"weight,omitempty"`
}

// NewRate is part of a request.
type NewRate struct {
	// Dollars per minute, at most 1000.00, charged per second.
	Cost string `json:"cost"`
	// Number prefix; + matches every number. The longest matching prefix applies.
	Prefix string `json:"prefix"`
}

// NewSTT is part of a request.
type NewSTT struct {
	// An engine of the installation. Default: the engine that the installation selects.
	Engine *string `json:"engine,omitempty"`
	// Words that callers are likely to say, at most 100.
	Keywords []string `json:"keywords,omitzero"`
	// Default: the language of the agent.
	Language *string `json:"language,omitempty"`
	// Model of the engine.
	Model *string `json:"model,omitempty"`
}

// NewTurnTaking is part of a request.
type NewTurnTaking struct {
	// Silence that ends the turn after a complete short answer, such as an expected phrase, if the engine recognizes words while the caller speaks; at most end_of_turn_ms. 0: 250.
	EndOfCompleteTurnMs *int64 `json:"end_of_complete_turn_ms,omitempty"`
	// Silence that ends the turn after the beginning of a sentence, such as I would like to, or of a number that is spoken in groups; at least end_of_turn_ms. 0: 1500.
	EndOfIncompleteTurnMs *int64 `json:"end_of_incomplete_turn_ms,omitempty"`
	// Silence that ends the caller's turn. 0: 450, for a realtime engine its own default.
	EndOfTurnMs *int64 `json:"end_of_turn_ms,omitempty"`
	// The caller's speech interrupts the agent.
	Interruptible *bool `json:"interruptible,omitempty"`
	// Number of words that count as an interruption. 0: 2.
	InterruptionWords *int64 `json:"interruption_words,omitempty"`
}

// NewVoice is part of a request.
type NewVoice struct {
	// espeak-ng, wav, or an engine of the installation. wav plays prompt files, and uses espeak-ng for texts without a file. Default: the engine of the installation.
	Engine *string `json:"engine,omitempty"`
	// Name of the voice in the engine.
	Name *string `json:"name,omitempty"`
	// Pronunciations of words that the voice mispronounces, at most 200. Transcripts keep the original word.
	Pronunciations []Pronunciation `json:"pronunciations,omitzero"`
	// Speaking rate; 1 is normal.
	Rate *float64 `json:"rate,omitempty"`
}

// NewVoicemail is part of a request.
type NewVoicemail struct {
	// Action when a machine answers. If neither the call nor its agent sets a detection mode, the mode is async. One of hangup, leave_message, continue.
	Action string `json:"action"`
	// Message after the beep, for leave_message. Default: amd.message of the agent. {{name}} inserts a variable.
	Message *string `json:"message,omitempty"`
}

// OptedOutData is part of a response.
type OptedOutData struct {
	// The id of the call.
	CallID string `json:"call_id,omitzero"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// speech, dtmf, sms or pathway.
	Channel string `json:"channel"`
	// The id of the contact, if there is one.
	ContactID string `json:"contact_id,omitzero"`
	// The do-not-call list that contains the number.
	DNCListID string `json:"dnc_list_id"`
	// The word or key of the opt-out.
	Keyword string `json:"keyword,omitzero"`
	// The text message with the opt-out.
	MessageID string `json:"message_id,omitzero"`
	// The number that has opted out of calls or messages.
	Phone string `json:"phone"`
}

// Patient is part of a response.
type Patient struct {
	// Name for people.
	Name string `json:"name"`
	// The number in E.164.
	Phone string `json:"phone"`
}

// PhoneNumber is part of a response.
type PhoneNumber struct {
	// The agent that answers calls to the number.
	AgentID string `json:"agent_id"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// The number in E.164, or * for all other numbers of its trunk.
	Number string `json:"number"`
	// The type of the resource.
	Object string `json:"object"`
	// true if messages without from may be sent from the number.
	SMSEnabled bool `json:"sms_enabled"`
	// live, or pending until an operator approves the number. A pending number cannot receive or place calls and messages. One of live, pending.
	Status string `json:"status"`
	// The only trunk whose calls reach the number; empty: any trunk of the workspace.
	TrunkID string `json:"trunk_id"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// Pricing is part of a response.
type Pricing struct {
	// Free attempts per month.
	IncludedAttempts int64 `json:"included_attempts"`
	// Price of each further attempt.
	PricePerAttempt Money `json:"price_per_attempt"`
}

// PricingUpdate is part of a request.
type PricingUpdate struct {
	// Free attempts per month.
	IncludedAttempts Optional[int64] `json:"included_attempts,omitzero"`
	// Price of each further attempt.
	PricePerAttempt Optional[MoneyUpdate] `json:"price_per_attempt,omitzero"`
}

// ProgressData is part of a response.
type ProgressData struct {
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id"`
	// campaign.progress. One of call.started, call.ringing, call.answered, call.answered_by, call.transferred, call.ended, call.recording.ready, call.transcription.ready, call.analysis.ready, sms.received, sms.sent, sms.delivered, sms.failed, agent.intent.detected, agent.action.triggered, agent.escalation, agent.error, agent.updated, appointment.created, appointment.updated, appointment.cancelled, appointment.confirmed, appointment.rescheduled, appointment.reminder.sent, campaign.created, campaign.started, campaign.paused, campaign.resumed, campaign.cancelled, campaign.progress, campaign.completed, campaign.call.completed, contact.opted_out, webhook.test, webhook.disabled, workspace.updated, system.degraded, alert.firing, alert.resolved.
	Event string `json:"event"`
	// Contacts in a final state, by outcome.
	Outcomes map[string]int64 `json:"outcomes"`
	// The share of contacts in a final state, 0 to 100.
	ProgressPercent float64 `json:"progress_percent"`
}

// Pronunciation is part of a request.
type Pronunciation struct {
	// Text that is spoken instead.
	Say string `json:"say"`
	// The word or words, without regard to case.
	Word string `json:"word"`
}

// Proxy is part of a response.
type Proxy struct {
	// Host name or address.
	Host string `json:"host"`
	// 0: from DNS.
	Port int64 `json:"port"`
	// Priority; lower first.
	Priority int64 `json:"priority"`
	// udp, tcp or tls; empty: from DNS.
	Transport string `json:"transport"`
	// Relative share of calls among targets of the same priority.
	Weight int64 `json:"weight"`
}

// ProxyUpdate is part of a request.
type ProxyUpdate struct {
	// Host name or address.
	Host *string `json:"host,omitempty"`
	// Default: the SRV records of the host, otherwise 5060, with TLS 5061.
	Port Optional[int64] `json:"port,omitzero"`
	// Priority; lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Default: the NAPTR and SRV records of a host without a port, otherwise udp. One of udp, tcp, tls.
	Transport Optional[string] `json:"transport,omitzero"`
	// Relative share of calls among targets of the same priority.
	Weight Optional[int64] `json:"weight,omitzero"`
}

// Quality is part of a response.
type Quality struct {
	// Audio codec.
	Codec string `json:"codec,omitzero"`
	// Jitter of received packets.
	JitterMs float64 `json:"jitter_ms"`
	// Lost packets of the remote party.
	LossPercent float64 `json:"loss_percent"`
	// Estimated mean opinion score, 1 to 4.5.
	MOS float64 `json:"mos"`
	// Packets received and played.
	PacketsReceived int64 `json:"packets_received"`
	// Refused packets: other sources, forged packets and replays.
	PacketsRefused int64 `json:"packets_refused"`
	// Packets sent.
	PacketsSent int64 `json:"packets_sent"`
	// Round-trip time, from RTCP reports.
	RoundTripMs float64 `json:"round_trip_ms"`
	// Quality over time, in at most forty intervals. Only for a single call, not in lists.
	Stretches []QualityInterval `json:"stretches,omitzero"`
}

// QualityInterval is part of a response.
type QualityInterval struct {
	// Start of the interval, in milliseconds after the start of audio.
	AtMs int64 `json:"at_ms"`
	// Duration of the interval in milliseconds.
	ForMs int64 `json:"for_ms"`
	// Maximum jitter.
	JitterMs float64 `json:"jitter_ms"`
	// Lost packets, counted when the loss is detected. Not set in an interval without packets (mos 0).
	LossPercent float64 `json:"loss_percent"`
	// Estimated mean opinion score, 1 to 4.5; 0: no packets.
	MOS float64 `json:"mos"`
	// Maximum round-trip time, from RTCP reports.
	RoundTripMs float64 `json:"round_trip_ms"`
}

// Rate is part of a response.
type Rate struct {
	// Dollars per minute.
	Cost string `json:"cost"`
	// Number prefix; + matches every number.
	Prefix string `json:"prefix"`
}

// RecordingData is part of a response.
type RecordingData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// The length of the recording.
	DurationSeconds float64 `json:"duration_seconds"`
	// The URL of the recording.
	RecordingURL string `json:"recording_url"`
}

// Redaction is part of a response.
type Redaction struct {
	// Regular expressions (RE2) whose matches are stored as [redacted].
	Patterns []string `json:"patterns"`
}

// RedactionUpdate is part of a request.
type RedactionUpdate struct {
	// Regular expressions (RE2) of at most 500 bytes each. Matches in utterances, in sequences of pressed keys and in received text messages are stored as [redacted]. []: no redaction. Applies to calls answered from now on.
	Patterns Optional[[]string] `json:"patterns,omitzero"`
}

// ResourceChangedData is part of a response.
type ResourceChangedData struct {
	// The names of the members that changed.
	Changed []string `json:"changed"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
}

// ResourceRef is part of a response.
type ResourceRef struct {
	// The id of the resource.
	ID string `json:"id"`
	// The type of the resource, as in its field object.
	Object string `json:"object"`
}

// Retention is part of a response.
type Retention struct {
	// Days from the end of an appointment until it is deleted. 0: never.
	AppointmentsDays int64 `json:"appointments_days"`
	// Days until entries of the audit log are deleted, at least 30. 0: never.
	AuditDays int64 `json:"audit_days"`
	// Days from the end of a call until it is deleted with its recording, transcript and SIP messages. 0: never.
	CallsDays int64 `json:"calls_days"`
	// Days until decisions of campaigns are deleted. 0: never.
	DecisionsDays int64 `json:"decisions_days"`
	// Days until an event and the log of its deliveries are deleted, at least 7. An event that was not sent yet is kept. 0: never.
	EventsDays int64 `json:"events_days"`
	// Days until the bills of call attempts are deleted, at least 35. 0: never. Counts per day and month are kept.
	LedgerDays int64 `json:"ledger_days"`
	// Days until a text message is deleted. 0: never.
	MessagesDays int64 `json:"messages_days"`
	// Days until the recording of a call is deleted. 0: never.
	RecordingsDays int64 `json:"recordings_days"`
	// Days until the SIP messages of a call are deleted. 0: never.
	TracesDays int64 `json:"traces_days"`
	// Days until the transcript of a call is deleted. 0: never.
	TranscriptsDays int64 `json:"transcripts_days"`
	// Days until reports of contact uploads are deleted. 0: never.
	UploadsDays int64 `json:"uploads_days"`
}

// RetentionUpdate is part of a request.
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

// SIPStep is part of a response.
type SIPStep struct {
	// When the response arrived.
	At time.Time `json:"at"`
	// The SIP status code; 0 without a response.
	Code int64 `json:"code"`
	// REFER, NOTIFY or INVITE.
	Method string `json:"method"`
	// The reason phrase of the response.
	Phrase string `json:"phrase,omitzero"`
}

// SMSData is part of a response.
type SMSData struct {
	// Why the message failed.
	ErrorCode string `json:"error_code,omitzero"`
	// Sender.
	From string `json:"from"`
	// The message.
	MessageID string `json:"message_id"`
	// Number of SMS segments.
	Segments int64 `json:"segments"`
	// The state of the message. One of queued, sent, delivered, undelivered, failed, received.
	Status string `json:"status"`
	// Recipient.
	To string `json:"to"`
}

// SMSDeliveredEvent is part of a response.
type SMSDeliveredEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data SMSData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of sms.delivered.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// SMSFailedEvent is part of a response.
type SMSFailedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data SMSData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of sms.failed.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// SMSReceivedData is part of a response.
type SMSReceivedData struct {
	// The text of the message.
	Body string `json:"body"`
	// Sender.
	From string `json:"from"`
	// URLs of media.
	Media []string `json:"media"`
	// The message.
	MessageID string `json:"message_id"`
	// true if the message is an opt-out.
	OptOut bool `json:"opt_out"`
	// The message to which this one replies.
	ReplyTo string `json:"reply_to,omitzero"`
	// Recipient.
	To string `json:"to"`
}

// SMSReceivedEvent is part of a response.
type SMSReceivedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data SMSReceivedData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of sms.received.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// SMSSentEvent is part of a response.
type SMSSentEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data SMSData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of sms.sent.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Skipped is part of a response.
type Skipped struct {
	// Contacts on a do-not-call list.
	DNC int64 `json:"dnc"`
	// Contacts that have reached the frequency cap.
	Frequency int64 `json:"frequency"`
	// Contacts whose calling hours did not start before the end.
	Hours int64 `json:"hours"`
	// Contacts whose number cannot be called.
	Invalid int64 `json:"invalid"`
}

// SystemDegradedData is part of a response.
type SystemDegradedData struct {
	// The threshold in the trunk's alarms.
	Bound float64 `json:"bound"`
	// Number of calls in the measurement.
	Calls int64 `json:"calls"`
	// asr, acd, short_call_share, trunk_rejected or identity.
	Measure string `json:"measure"`
	// The finding in words.
	Message string `json:"message"`
	// true: the value is within its threshold again.
	Recovered bool `json:"recovered"`
	// The id of the trunk.
	TrunkID string `json:"trunk_id"`
	// The name of the trunk.
	TrunkName string `json:"trunk_name"`
	// The measured value.
	Value float64 `json:"value"`
	// The length of the measured window.
	WindowSeconds int64 `json:"window_seconds"`
}

// SystemDegradedEvent is part of a response.
type SystemDegradedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data SystemDegradedData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of system.degraded.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// TargetHealth is part of a response.
type TargetHealth struct {
	// Number of consecutive failures.
	ConsecutiveFailures int64 `json:"consecutive_failures"`
	// The last error.
	LastError string `json:"last_error,omitzero"`
	// Until when the target is used last.
	OutUntil *time.Time `json:"out_until"`
	// SIP status of the response to OPTIONS.
	PingCode int64 `json:"ping_code,omitzero"`
	// Response time of OPTIONS.
	PingMs int64 `json:"ping_ms,omitzero"`
	// true if the target responded to OPTIONS.
	PingOk *bool `json:"ping_ok"`
	// When OPTIONS was sent.
	PingedAt *time.Time `json:"pinged_at"`
	// The proxy of the trunk to which the target belongs.
	Proxy string `json:"proxy"`
	// up, out (used last) or resting (not used).
	Status string `json:"status"`
	// host:port;transport.
	Target string `json:"target"`
}

// TranscriptData is part of a response.
type TranscriptData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// Number of utterances.
	Segments int64 `json:"segments"`
	// The URL of the transcript.
	TranscriptURL string `json:"transcript_url"`
}

// Transfer is part of a response.
type Transfer struct {
	// When the target answered.
	AnsweredAt *time.Time `json:"answered_at,omitempty"`
	// Who requested the transfer: api, agent or remote. One of agent, remote, api, service.
	By string `json:"by"`
	// When the transfer ended.
	EndedAt *time.Time `json:"ended_at,omitempty"`
	// Numbers of the legs that the transfer dialed, from 1.
	Legs []int64 `json:"legs,omitzero"`
	// blind, attended or bridge. One of blind, attended, bridge.
	Mode string `json:"mode"`
	// Name of the agent's destination.
	Name string `json:"name,omitzero"`
	// Why the transfer failed.
	Reason string `json:"reason,omitzero"`
	// SIP responses to the transfer in order, at most 16.
	SIP []SIPStep `json:"sip,omitzero"`
	// When the transfer started.
	StartedAt time.Time `json:"started_at"`
	// in_progress, connected, completed, returned or failed. The last three are final. One of in_progress, connected, completed, returned, failed.
	Status string `json:"status"`
	// Announcement to the person who answered.
	Summary string `json:"summary,omitzero"`
	// A number, an extension or a SIP address.
	To string `json:"to"`
}

// TransferredData is part of a response.
type TransferredData struct {
	// The id of the agent.
	AgentID string `json:"agent_id"`
	// The id of the call.
	CallID string `json:"call_id"`
	// The id of the campaign, if there is one.
	CampaignID string `json:"campaign_id,omitzero"`
	// inbound or outbound. One of inbound, outbound.
	Direction string `json:"direction"`
	// blind, attended or bridge. One of blind, attended, bridge.
	Mode string `json:"mode"`
	// Why the transfer failed.
	Reason string `json:"reason,omitzero"`
	// SIP responses to the transfer so far, at most 16.
	SIP []SIPStep `json:"sip,omitzero"`
	// The state of the transfer. One of in_progress, connected, completed, returned, failed.
	Status string `json:"status"`
	// The number, extension or SIP URI of the target.
	To string `json:"to"`
}

// Trunk is part of a response.
type Trunk struct {
	// Thresholds beyond which system.degraded is sent.
	Alarms TrunkAlarms `json:"alarms"`
	// Credentials for digest challenges of the trunk, without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Caller ID headers that are sent to the trunk and trusted from it.
	CallerIDHeaders []string `json:"caller_id_headers"`
	// Numbers that calls over the trunk may show as caller ID.
	CallerIDs []string `json:"caller_ids"`
	// Maximum outbound calls per second. Further calls wait.
	CallsPerSecond float64 `json:"calls_per_second"`
	// Codecs in order of preference.
	Codecs []string `json:"codecs"`
	// Costs per minute by prefix.
	Costs []Rate `json:"costs"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// DTMF method: auto, rfc4733, info or inband.
	Dtmf string `json:"dtmf"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Host of the From header; empty: the host of Callboard.
	FromDomain string `json:"from_domain,omitzero"`
	// Current health.
	Health *TrunkHealth `json:"health,omitempty"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Rules for inbound calls.
	Inbound TrunkInbound `json:"inbound"`
	// Maximum concurrent calls; 0: no limit.
	MaxChannels int64 `json:"max_channels"`
	// Networks to and from which audio is allowed, in addition to the proxies.
	MediaNetworks []string `json:"media_networks"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Destination of audio: auto, on or off.
	Nat string `json:"nat"`
	// Prefix that is added to the called number.
	NumberAdd string `json:"number_add,omitzero"`
	// Country of numbers without a country code, as an ISO 3166 code.
	NumberCountry string `json:"number_country,omitzero"`
	// e164, digits or national.
	NumberFormat string `json:"number_format"`
	// true if an operator has set number_strip and number_add. Only then number_add may be the prefix of a carrier or a private exchange.
	NumberRewriteApproved bool `json:"number_rewrite_approved,omitzero"`
	// Prefix that is removed from the called number.
	NumberStrip string `json:"number_strip,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// true if Callboard sends OPTIONS to the targets every 30 seconds.
	OptionsPing bool `json:"options_ping"`
	// Proxy through which requests to the targets are sent.
	OutboundProxy *Proxy `json:"outbound_proxy,omitempty"`
	// Number prefixes that the trunk carries; empty: all.
	Prefixes []string `json:"prefixes"`
	// Priority among trunks with the same prefix length; lower first.
	Priority int64 `json:"priority"`
	// Targets of the trunk.
	Proxies []Proxy `json:"proxies"`
	// Statistics of calls.
	Quality *TrunkQuality `json:"quality,omitempty"`
	// Hosts, addresses and networks to which a 3xx of the trunk may redirect a call for the same number; empty: no redirect is followed.
	RedirectHosts []string `json:"redirect_hosts"`
	// true if Callboard registers at the trunk.
	Register bool `json:"register"`
	// true for the test carrier.
	Simulator bool `json:"simulator,omitzero"`
	// SIP URI to which the carrier sends calls.
	SIPURI string `json:"sip_uri,omitzero"`
	// Text messages by SIP MESSAGE: off, plain, or imdn (CPIM with delivery notifications).
	SMS string `json:"sms"`
	// SRTP: off, optional or required.
	Srtp string `json:"srtp"`
	// true if SRTP keys are also sent without TLS.
	SrtpKeysInClear bool `json:"srtp_keys_in_clear"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// test_environment: the trunk belongs to the test environment and is never used. spend_cap_without_costs: daily_spend_cap does not cover all calls over the trunk.
	Warnings []Detail `json:"warnings,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// TrunkAlarms is part of a response.
type TrunkAlarms struct {
	// Maximum share of short calls among answered calls, 0 to 1; 0: no alarm.
	MaxShortCallShare float64 `json:"max_short_call_share"`
	// Minimum average duration of answered calls; 0: no alarm.
	MinAcdSeconds float64 `json:"min_acd_seconds"`
	// Minimum answer-seizure ratio, 0 to 1; 0: no alarm.
	MinAsr float64 `json:"min_asr"`
	// Minimum number of calls for an alarm.
	MinCalls int64 `json:"min_calls"`
	// Maximum duration of a short call.
	ShortCallSeconds int64 `json:"short_call_seconds"`
}

// TrunkAlarmsUpdate is part of a request.
type TrunkAlarmsUpdate struct {
	// Maximum share of short calls among answered calls, 0 to 1. 0: no alarm.
	MaxShortCallShare Optional[float64] `json:"max_short_call_share,omitzero"`
	// Minimum average call duration of answered calls. 0: no alarm.
	MinAcdSeconds Optional[float64] `json:"min_acd_seconds,omitzero"`
	// Minimum answer-seizure ratio, 0 to 1. 0: no alarm.
	MinAsr Optional[float64] `json:"min_asr,omitzero"`
	// Minimum number of calls for an alarm.
	MinCalls Optional[int64] `json:"min_calls,omitzero"`
	// Maximum duration of a short call.
	ShortCallSeconds Optional[int64] `json:"short_call_seconds,omitzero"`
}

// TrunkAuth is part of a response.
type TrunkAuth struct {
	// Never returned.
	Password string `json:"password,omitzero"`
	// The only accepted realm; empty: any.
	Realm string `json:"realm,omitzero"`
	// User name at the carrier.
	Username string `json:"username"`
}

// TrunkAuthUpdate is part of a request.
type TrunkAuthUpdate struct {
	// The password. Responses never contain it.
	Password Optional[string] `json:"password,omitzero"`
	// The only accepted realm; empty: any.
	Realm Optional[string] `json:"realm,omitzero"`
	// User name at the carrier.
	Username *string `json:"username,omitempty"`
}

// TrunkHealth is part of a response.
type TrunkHealth struct {
	// Until when the trunk has asked for a pause.
	BackoffUntil *time.Time `json:"backoff_until"`
	// Current calls over the trunk.
	Channels int64 `json:"channels"`
	// The last error.
	LastError string `json:"last_error,omitzero"`
	// State of the registration. Only for a trunk that registers.
	Registration *TrunkRegistration `json:"registration,omitempty"`
	// up, degraded (a target is down or resting) or down (all targets are down).
	Status string `json:"status"`
	// Health of each target, including addresses from DNS.
	Targets []TargetHealth `json:"targets"`
	// Calls that wait for a slot.
	Waiting int64 `json:"waiting"`
}

// TrunkInbound is part of a response.
type TrunkInbound struct {
	// Addresses and networks from which calls are accepted; empty: the addresses of the proxies.
	AllowedIPs []string `json:"allowed_ips"`
	// Credentials that inbound calls must prove, without the password.
	Auth *TrunkAuth `json:"auth,omitempty"`
	// Maximum inbound calls per second. Further calls get 503; 0: no limit.
	CallsPerSecond float64 `json:"calls_per_second"`
	// Header that distinguishes calls of this trunk from other calls from the same address; absent: every call from the address.
	Match *TrunkMatch `json:"match,omitempty"`
}

// TrunkInboundUpdate is part of a request.
type TrunkInboundUpdate struct {
	// Addresses and networks from which calls are accepted. Empty: the addresses of the proxies.
	AllowedIPs Optional[[]string] `json:"allowed_ips,omitzero"`
	// Credentials that inbound calls must prove by digest authentication.
	Auth Optional[TrunkAuthUpdate] `json:"auth,omitzero"`
	// Maximum inbound calls per second. Further calls get 503 with Retry-After. 0: no limit.
	CallsPerSecond Optional[float64] `json:"calls_per_second,omitzero"`
	// Header that distinguishes calls of this trunk from other calls from the same address. Calls without this header do not belong to the trunk. Default: every call from the address.
	Match Optional[MatchUpdate] `json:"match,omitzero"`
}

// TrunkMatch is part of a response.
type TrunkMatch struct {
	// Request-URI, From, To, Contact, P-Charge-Info, or an extension header (X-…).
	Header string `json:"header"`
	// Parameter of the URI or the header, such as tgrp (RFC 4904); absent: the whole header value.
	Parameter string `json:"parameter,omitzero"`
	// Expected value, compared without regard to case.
	Value string `json:"value"`
}

// TrunkQuality is part of a response.
type TrunkQuality struct {
	// Average duration of answered calls.
	AcdSeconds float64 `json:"acd_seconds"`
	// Measures beyond their threshold.
	Alarms []string `json:"alarms"`
	// Answered calls.
	Answered int64 `json:"answered"`
	// Answer-seizure ratio, 0 to 1.
	Asr float64 `json:"asr"`
	// Calls that were answered or refused.
	Attempts int64 `json:"attempts"`
	// Accepted inbound calls since the start of the service.
	InboundCalls int64 `json:"inbound_calls"`
	// Refused inbound calls by reason.
	InboundRefusals map[string]int64 `json:"inbound_refusals"`
	// Calls refused by the trunk, by reason.
	Refusals map[string]int64 `json:"refusals"`
	// Share of short calls among answered calls, 0 to 1.
	ShortCallShare float64 `json:"short_call_share"`
	// Short answered calls.
	ShortCalls int64 `json:"short_calls"`
	// Period of the statistics.
	WindowSeconds int64 `json:"window_seconds"`
}

// TrunkRegistration is part of a response.
type TrunkRegistration struct {
	// SIP status of the last response.
	Code int64 `json:"code,omitzero"`
	// Time of expiry.
	ExpiresAt *time.Time `json:"expires_at"`
	// Reason phrase of the last response.
	Reason string `json:"reason,omitzero"`
	// When the next registration is sent.
	RetryAt *time.Time `json:"retry_at"`
	// trying, registered, failed or removed.
	Status string `json:"status"`
}

// TrunkUpdate is part of a request.
type TrunkUpdate struct {
	// Thresholds over the last hour beyond which system.degraded is sent.
	Alarms Optional[TrunkAlarmsUpdate] `json:"alarms,omitzero"`
	// Credentials for digest challenges of the trunk.
	Auth Optional[TrunkAuthUpdate] `json:"auth,omitzero"`
	// Caller ID headers that are sent to the trunk and trusted from it.
	CallerIDHeaders Optional[[]string] `json:"caller_id_headers,omitzero"`
	// Numbers that calls over the trunk may show as caller ID.
	CallerIDs Optional[[]string] `json:"caller_ids,omitzero"`
	// Maximum outbound calls per second. Further calls wait. Default: 50.
	CallsPerSecond Optional[float64] `json:"calls_per_second,omitzero"`
	// Codecs in order of preference.
	Codecs Optional[[]string] `json:"codecs,omitzero"`
	// Costs of calls. Among trunks of the same priority the cheaper one is used first. daily_spend_cap counts by these costs. Needs an operator key.
	Costs Optional[[]NewRate] `json:"costs,omitzero"`
	// DTMF method. auto: telephone events (RFC 4733) if both ends support them, otherwise inband tones. One of auto, rfc4733, info, inband.
	Dtmf Optional[string] `json:"dtmf,omitzero"`
	// Host of the From header; empty: the host of Callboard.
	FromDomain Optional[string] `json:"from_domain,omitzero"`
	// Rules for inbound calls.
	Inbound Optional[TrunkInboundUpdate] `json:"inbound,omitzero"`
	// Maximum concurrent calls. 0: no limit.
	MaxChannels Optional[int64] `json:"max_channels,omitzero"`
	// Networks to and from which audio is allowed, in addition to the proxies.
	MediaNetworks Optional[[]string] `json:"media_networks,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// Destination of audio. off: the address in the SDP. on: the source address of the trunk's RTP. auto: the address in the SDP, or the RTP source if that address is not allowed. Default: auto. One of auto, on, off.
	Nat Optional[string] `json:"nat,omitzero"`
	// Prefix that is then added to the called number. Needs an operator key. The result must still be the same number.
	NumberAdd Optional[string] `json:"number_add,omitzero"`
	// Country of the national format, and of inbound numbers without a country code, as an ISO 3166 code. With national, another country than default_country of the workspace needs an operator key.
	NumberCountry Optional[string] `json:"number_country,omitzero"`
	// Format of numbers on the trunk. e164: +12025550100. digits: 12025550100. national: as dialed within number_country. One of e164, digits, national.
	NumberFormat Optional[string] `json:"number_format,omitzero"`
	// Prefix that is removed from the formatted called number. Needs an operator key.
	NumberStrip Optional[string] `json:"number_strip,omitzero"`
	// true: Callboard sends OPTIONS to the targets every 30 seconds. A target without a response is used last, unless its calls succeed.
	OptionsPing Optional[bool] `json:"options_ping,omitzero"`
	// Proxy through which requests to the targets are sent.
	OutboundProxy Optional[ProxyUpdate] `json:"outbound_proxy,omitzero"`
	// Number prefixes that the trunk carries; empty: all. The trunk with the longest matching prefix is used.
	Prefixes Optional[[]string] `json:"prefixes,omitzero"`
	// Priority among trunks with the same prefix length; lower first.
	Priority Optional[int64] `json:"priority,omitzero"`
	// Targets of the trunk, at most 20.
	Proxies []NewProxy `json:"proxies,omitzero"`
	// Hosts, addresses and networks to which a 3xx of the trunk may redirect a call for the same number. Empty: no redirect is followed.
	RedirectHosts Optional[[]string] `json:"redirect_hosts,omitzero"`
	// true: Callboard registers at the first proxy with the credentials of auth.
	Register Optional[bool] `json:"register,omitzero"`
	// Text messages by SIP MESSAGE. off: none. plain: plain text. imdn: CPIM with a request for delivery notifications. One of off, plain, imdn.
	SMS Optional[string] `json:"sms,omitzero"`
	// SRTP with keys in SDP. Without transport tls, optional counts as off. One of off, optional, required.
	Srtp Optional[string] `json:"srtp,omitzero"`
	// true: SRTP keys are also sent without TLS. Anyone who sees the signaling can then decrypt the audio.
	SrtpKeysInClear Optional[bool] `json:"srtp_keys_in_clear,omitzero"`
}

// TurnLatency is part of a response.
type TurnLatency struct {
	// When the remote party's speech ended, in milliseconds of the recording.
	AtMs int64 `json:"at_ms"`
	// Time from there to the detected end of the utterance.
	EouMs int64 `json:"eou_ms"`
	// Input of the turn: speech or dtmf.
	Input string `json:"input"`
	// Time to the first token of the language model, if one responded.
	LlmFirstTokenMs int64 `json:"llm_first_token_ms,omitzero"`
	// hit or miss, if the model was requested before the end of the utterance was detected.
	Speculative string `json:"speculative,omitzero"`
	// Time to the recognized text.
	SttMs int64 `json:"stt_ms"`
	// Time from the last word to the first audio of the response.
	TotalMs int64 `json:"total_ms"`
	// Time from the text of the response to its first audio.
	TtsFirstAudioMs int64 `json:"tts_first_audio_ms"`
}

// TurnTaking is part of a request.
type TurnTaking struct {
	// Silence that ends the turn after a complete short answer. Default: 250.
	EndOfCompleteTurnMs *int64 `json:"end_of_complete_turn_ms,omitempty"`
	// Silence that ends the turn after the beginning of a sentence or number. Default: 1500.
	EndOfIncompleteTurnMs *int64 `json:"end_of_incomplete_turn_ms,omitempty"`
	// Silence that ends the caller's turn. Default: 450.
	EndOfTurnMs *int64 `json:"end_of_turn_ms,omitempty"`
	// true if the caller's speech interrupts the agent.
	Interruptible *bool `json:"interruptible,omitempty"`
	// Number of words that count as an interruption.
	InterruptionWords *int64 `json:"interruption_words,omitempty"`
}

// Waiting is part of a response.
type Waiting struct {
	// The reason of the wait. line: all concurrent calls are in use. no_contacts: no contact can be called now. quarantine: a restored store is not released. spend_cap: daily_spend_cap leaves no money for a call, and until is the next check.
	Reason string `json:"reason"`
	// Until when the campaign waits, if known.
	Until *time.Time `json:"until"`
}

// WebhookDisabledData is part of a response.
type WebhookDisabledData struct {
	// When the endpoint was disabled.
	At time.Time `json:"at"`
	// Why the endpoint was disabled.
	Reason string `json:"reason"`
	// The URL of the endpoint.
	URL string `json:"url"`
	// The endpoint.
	WebhookID string `json:"webhook_id"`
}

// WebhookDisabledEvent is part of a response.
type WebhookDisabledEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data WebhookDisabledData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of webhook.disabled.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// WebhookTestData is part of a response.
type WebhookTestData struct {
	// Text of the test event, for people.
	Message string `json:"message"`
	// The endpoint.
	WebhookID string `json:"webhook_id"`
}

// WebhookTestEvent is part of a response.
type WebhookTestEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data WebhookTestData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of webhook.test.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}

// Workspace is part of a response.
type Workspace struct {
	// Origins of web pages that may use the API with user tokens.
	AllowedOrigins []string `json:"allowed_origins"`
	// Destination rules and spend cap.
	Calling DestinationRules `json:"calling"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// Country of numbers without a country code, as an ISO 3166 code.
	DefaultCountry string `json:"default_country"`
	// The default do-not-call list.
	DefaultDNCListID string `json:"default_dnc_list_id"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Frequency caps of calls.
	FrequencyCaps FrequencyCaps `json:"frequency_caps"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Limits of the workspace.
	Limits Limits `json:"limits"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// starter, professional or enterprise. One of starter, professional, enterprise.
	Plan string `json:"plan"`
	// Price of attempts on the enterprise plan; null: free.
	Pricing *Pricing `json:"pricing,omitempty"`
	// Redaction rules for transcripts and messages.
	Redaction Redaction `json:"redaction"`
	// Retention periods.
	Retention Retention `json:"retention"`
	// Price of a text message segment, on any plan; missing: free.
	SMSPricePerSegment *Money `json:"sms_price_per_segment,omitempty"`
	// Number of the current price; it increases with each change.
	Tariff int64 `json:"tariff"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// spend_cap_without_costs: daily_spend_cap does not cover calls over trunks without costs.
	Warnings []Detail `json:"warnings,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// WorkspaceUpdate is part of a request.
type WorkspaceUpdate struct {
	// Origins of web pages that may use the API with user tokens, e.g. https://app.example.com. []: none.
	AllowedOrigins Optional[[]string] `json:"allowed_origins,omitzero"`
	// Operators only.
	Calling Optional[DestinationRulesUpdate] `json:"calling,omitzero"`
	// Country of numbers without a country code, as an ISO 3166 code. Default: US.
	DefaultCountry Optional[string] `json:"default_country,omitzero"`
	// Frequency caps of calls.
	FrequencyCaps Optional[FrequencyCapsUpdate] `json:"frequency_caps,omitzero"`
	// Enterprise plan only. Operators only.
	Limits Optional[LimitsUpdate] `json:"limits,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// Default: starter. Operators only. One of starter, professional, enterprise.
	Plan Optional[string] `json:"plan,omitzero"`
	// Price of attempts on the enterprise plan. Operators only.
	Pricing Optional[PricingUpdate] `json:"pricing,omitzero"`
	// Redaction rules for transcripts and messages.
	Redaction Optional[RedactionUpdate] `json:"redaction,omitzero"`
	// Retention periods.
	Retention Optional[RetentionUpdate] `json:"retention,omitzero"`
	// Price of each segment of a live text message that a carrier accepted, on any plan, at most 1000.00. Operators only.
	SMSPricePerSegment Optional[MoneyUpdate] `json:"sms_price_per_segment,omitzero"`
}

// WorkspaceUpdatedEvent is part of a response.
type WorkspaceUpdatedEvent struct {
	// When the event happened.
	CreatedAt time.Time `json:"created_at"`
	// Payload; its schema depends on the type.
	Data ResourceChangedData `json:"data"`
	// Id of the event.
	ID string `json:"id"`
	// Sequence number of the event for its subject, from 1.
	Sequence int64 `json:"sequence"`
	// The id of the call, campaign or other resource of the event.
	Subject string `json:"subject"`
	// The id of the service unit.
	SvcID string `json:"svc_id"`
	// The type of the event. One of workspace.updated.
	Type string `json:"type"`
	// The workspace of the event.
	WorkspaceID string `json:"workspace_id"`
}
