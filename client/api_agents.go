// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// GetTalkScript: The script of that page.
//
// GET /talk.js
//
// For browsers.
//
// The caller reads the body and closes it.
func (c *Client) GetTalkScript(ctx context.Context, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/talk.js", nil, nil, options)
}

// ListAgentsQuery is what ListAgents can be asked; what is zero is left out.
type ListAgentsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListAgentsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListAgents: List agents.
//
// GET /v1/agents
func (c *Client) ListAgents(ctx context.Context, q ListAgentsQuery, options ...Option) (*ListAgent, error) {
	return send[ListAgent](ctx, c, "GET", "/v1/agents", q.values(), nil, options)
}

// AllAgents walks the pages of ListAgents to their end; an error is the last that comes.
func (c *Client) AllAgents(ctx context.Context, q ListAgentsQuery, options ...Option) iter.Seq2[Agent, error] {
	return pages(&q.Cursor, func() ([]Agent, *string, error) {
		l, err := c.ListAgents(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateAgent: Create an agent.
//
// POST /v1/agents
//
// It is published as version 1 and can take calls at once.
func (c *Client) CreateAgent(ctx context.Context, body *NewAgent, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "POST", "/v1/agents", nil, asJSON(body), options)
}

// DeleteAgent: Delete an agent with its versions.
//
// DELETE /v1/agents/{id}
//
// Calls and campaigns that are running keep what they pinned. 409 invalid_state with used_by while a pathway names it.
func (c *Client) DeleteAgent(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/agents/"+url.PathEscape(id), nil, nil, options)
}

// GetAgent: Get an agent.
//
// GET /v1/agents/{id}
//
// Its draft: unpublished_changes tells what calls do not speak yet.
func (c *Client) GetAgent(ctx context.Context, id string, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "GET", "/v1/agents/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAgent: Change an agent's draft.
//
// PATCH /v1/agents/{id}
//
// Calls speak the changes once they are published. name, extension and metadata hold at once.
func (c *Client) UpdateAgent(ctx context.Context, id string, body *AgentUpdate, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "PATCH", "/v1/agents/"+url.PathEscape(id), nil, asJSON(body), options)
}

// SignOnInbound: Make the secret that signs on_inbound.
//
// POST /v1/agents/{id}/on-inbound-secret
//
// Needs an API key or a dashboard session. From now on each request to the agent's on_inbound is signed by it as a delivery of an event is (X-Svc-Signature, webhook-id, webhook-timestamp, webhook-signature), the id being the call's. It takes the place of the one before at once, and holds for the draft and all versions. Without one requests are not signed. The secret is in this answer only.
func (c *Client) SignOnInbound(ctx context.Context, id string, options ...Option) (*OnInboundSecret, error) {
	return send[OnInboundSecret](ctx, c, "POST", "/v1/agents/"+url.PathEscape(id)+"/on-inbound-secret", nil, nil, options)
}

// PublishAgent: Publish an agent's draft.
//
// POST /v1/agents/{id}/publish
//
// Makes a version, which never changes, and answers it. Calls that begin from now on speak it; a campaign goes on with the version that it began with, unless it says follow_latest. Without changes the newest version is answered. An agent has 1000 versions at most: 409 invalid_state.
func (c *Client) PublishAgent(ctx context.Context, id string, options ...Option) (*AgentVersion, error) {
	return send[AgentVersion](ctx, c, "POST", "/v1/agents/"+url.PathEscape(id)+"/publish", nil, nil, options)
}

// ListAgentVersionsQuery is what ListAgentVersions can be asked; what is zero is left out.
type ListAgentVersionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListAgentVersionsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListAgentVersions: List the versions of an agent.
//
// GET /v1/agents/{id}/versions
func (c *Client) ListAgentVersions(ctx context.Context, id string, q ListAgentVersionsQuery, options ...Option) (*ListAgentVersion, error) {
	return send[ListAgentVersion](ctx, c, "GET", "/v1/agents/"+url.PathEscape(id)+"/versions", q.values(), nil, options)
}

// AllAgentVersions walks the pages of ListAgentVersions to their end; an error is the last that comes.
func (c *Client) AllAgentVersions(ctx context.Context, id string, q ListAgentVersionsQuery, options ...Option) iter.Seq2[AgentVersion, error] {
	return pages(&q.Cursor, func() ([]AgentVersion, *string, error) {
		l, err := c.ListAgentVersions(ctx, id, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// GetAgentVersion: Get a version of an agent.
//
// GET /v1/agents/{id}/versions/{version}
func (c *Client) GetAgentVersion(ctx context.Context, id string, version string, options ...Option) (*AgentVersion, error) {
	return send[AgentVersion](ctx, c, "GET", "/v1/agents/"+url.PathEscape(id)+"/versions/"+url.PathEscape(version), nil, nil, options)
}

// AMDUpdate is sent to the service.
type AMDUpdate struct {
	// leave_message: what is left behind the beep; {{name}} stands for a variable.
	Message Optional[string] `json:"message,omitzero"`
	// off; async: while the agent speaks already; wait: before it speaks, for 6 seconds at most. Of outbound calls. One of off, async, wait.
	Mode Optional[string] `json:"mode,omitzero"`
	// What is done where a machine answers; empty: as continue. One of hangup, leave_message, continue.
	VoicemailAction Optional[string] `json:"voicemail_action,omitzero"`
}

// Agent is an answer of the service, or a part of one.
type Agent struct {
	// What it does about answering machines.
	AMD *AgentAMD `json:"amd,omitempty"`
	// What is wanted to be known of its calls.
	Analysis *AgentAnalysis `json:"analysis,omitempty"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What phones of the workspace dial to reach it: 2 to 6 digits.
	Extension string `json:"extension,omitzero"`
	// What it says first, where it has no pathway.
	FirstMessage string `json:"first_message,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// How it takes calls.
	Inbound AgentInbound `json:"inbound"`
	// What it may look things up in.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids"`
	// The language that it speaks, as BCP 47 writes it.
	Language string `json:"language"`
	// Languages that its pathway can go over to.
	Languages []AgentLanguage `json:"languages,omitzero"`
	// What ends a conversation.
	Limits AgentLimits `json:"limits"`
	// By which language model it speaks.
	Llm *AgentLLM `json:"llm,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whom to ask when a call comes in.
	OnInbound *AgentHook `json:"on_inbound,omitempty"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id,omitzero"`
	// When that was published.
	PublishedAt *time.Time `json:"published_at"`
	// The engine that hears and speaks by itself.
	Realtime *AgentRealtime `json:"realtime,omitempty"`
	// Messages sent.
	SMS *AgentSMS `json:"sms,omitempty"`
	// How it hears.
	Stt *AgentSTT `json:"stt,omitempty"`
	// What a language model is told of its part.
	SystemPrompt string `json:"system_prompt,omitzero"`
	// Its zone, for times in texts.
	Timezone string `json:"timezone"`
	// The ids of the tools that it may use.
	Tools []string `json:"tools"`
	// Whom it may hand callers to.
	Transfer AgentTransfer `json:"transfer"`
	// When it takes the word.
	TurnTaking *TurnTaking `json:"turn_taking,omitempty"`
	// The fields of the draft that differ from it.
	UnpublishedChanges []string `json:"unpublished_changes"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The newest published version, which calls speak; counts from 1.
	Version int64 `json:"version"`
	// How it sounds.
	Voice Voice `json:"voice"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AgentAMD is an answer of the service, or a part of one.
type AgentAMD struct {
	// What is left.
	Message string `json:"message,omitzero"`
	// off, async or wait.
	Mode string `json:"mode"`
	// hangup, leave_message or continue.
	VoicemailAction string `json:"voicemail_action,omitzero"`
}

// AgentAnalysis is an answer of the service, or a part of one.
type AgentAnalysis struct {
	// What is to be found.
	Fields []AnalysisField `json:"fields,omitzero"`
	// When a call was a success.
	SuccessCriteria string `json:"success_criteria,omitzero"`
	// Whether a summary is wanted.
	Summary bool `json:"summary"`
}

// AgentHook is an answer of the service, or a part of one.
type AgentHook struct {
	// How long an answer is waited for.
	TimeoutMs int64 `json:"timeout_ms"`
	// Where is asked.
	URL string `json:"url"`
}

// AgentInbound is an answer of the service, or a part of one.
type AgentInbound struct {
	// ring: 180, then 200; direct: 200 at once; early: 183 with a ringing of ours.
	Answer string `json:"answer,omitzero"`
	// How long it rings before the answer.
	RingSeconds int64 `json:"ring_seconds,omitzero"`
}

// AgentInboundUpdate is sent to the service.
type AgentInboundUpdate struct {
	// ring: 180, then 200. direct: 200 at once. early: 183 with a ringing of ours, for 3 seconds unless ring_seconds says otherwise. One of ring, direct, early.
	Answer Optional[string] `json:"answer,omitzero"`
	// ring, early: how long before the answer.
	RingSeconds Optional[int64] `json:"ring_seconds,omitzero"`
}

// AgentLLM is an answer of the service, or a part of one.
type AgentLLM struct {
	// An engine of the installation; empty: its own choice.
	Engine string `json:"engine,omitzero"`
	// The longest answer.
	MaxTokens int64 `json:"max_tokens,omitzero"`
	// Its model.
	Model string `json:"model,omitzero"`
	// It is asked as soon as the caller is silent, and again where he says more.
	Speculative bool `json:"speculative,omitzero"`
	// How freely it chooses words.
	Temperature float64 `json:"temperature,omitzero"`
}

// AgentLanguage is sent to the service.
type AgentLanguage struct {
	// The language, as BCP 47 writes it.
	Language string `json:"language"`
	// How it sounds in it.
	Voice Voice `json:"voice"`
}

// AgentLimits is an answer of the service, or a part of one.
type AgentLimits struct {
	// The longest conversation.
	MaxMinutes int64 `json:"max_minutes,omitzero"`
	// So much silence ends it.
	SilenceSeconds int64 `json:"silence_seconds,omitzero"`
}

// AgentLimitsUpdate is sent to the service.
type AgentLimitsUpdate struct {
	// The longest conversation.
	MaxMinutes Optional[int64] `json:"max_minutes,omitzero"`
	// So much silence ends it.
	SilenceSeconds Optional[int64] `json:"silence_seconds,omitzero"`
}

// AgentRealtime is an answer of the service, or a part of one.
type AgentRealtime struct {
	// An engine of the installation; empty: its own choice.
	Engine string `json:"engine,omitzero"`
	// Its model.
	Model string `json:"model,omitzero"`
	// Its voice.
	Voice string `json:"voice,omitzero"`
}

// AgentSMS is an answer of the service, or a part of one.
type AgentSMS struct {
	// Who writes to a number of the agent gets an answer, by its pathway.
	Enabled bool `json:"enabled"`
	// So many replies to one contact within timeout_minutes, over all conversations; then the agent is silent.
	MaxReplies int64 `json:"max_replies,omitzero"`
	// So long without a message ends a conversation.
	TimeoutMinutes int64 `json:"timeout_minutes,omitzero"`
}

// AgentSMSUpdate is sent to the service.
type AgentSMSUpdate struct {
	// Who writes to a number of the agent gets an answer, by its pathway.
	Enabled *bool `json:"enabled,omitempty"`
	// So many replies to one contact within timeout_minutes, over all conversations; then the agent is silent.
	MaxReplies Optional[int64] `json:"max_replies,omitzero"`
	// So long without a message ends a conversation; the next one begins anew.
	TimeoutMinutes Optional[int64] `json:"timeout_minutes,omitzero"`
}

// AgentSTT is an answer of the service, or a part of one.
type AgentSTT struct {
	// An engine of the installation; empty: its own choice.
	Engine string `json:"engine,omitzero"`
	// Words that are likely to be said.
	Keywords []string `json:"keywords,omitzero"`
	// Where it is not the agent's.
	Language string `json:"language,omitzero"`
	// Its model.
	Model string `json:"model,omitzero"`
}

// AgentTransfer is an answer of the service, or a part of one.
type AgentTransfer struct {
	// Whether the far end may send the call elsewhere, by REFER or Replaces.
	AcceptRefer bool `json:"accept_refer,omitzero"`
	// To whom it may hand callers.
	Destinations []Destination `json:"destinations,omitzero"`
	// What a party hears that waits: silence, tone, or wav:NAME.wav of the prompts.
	HoldMusic string `json:"hold_music,omitzero"`
	// Whether the caller hears it ring meanwhile.
	Ringback bool `json:"ringback,omitzero"`
}

// AgentTransferUpdate is sent to the service.
type AgentTransferUpdate struct {
	// The far end may send the call elsewhere, by REFER, within the destination rules.
	AcceptRefer Optional[bool] `json:"accept_refer,omitzero"`
	// Whom callers may be handed to, by name.
	Destinations Optional[[]NewDestination] `json:"destinations,omitzero"`
	// What a party hears while the other side of a bridged call has put it on hold, and the caller while a transfer is dialled without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder.
	HoldMusic Optional[string] `json:"hold_music,omitzero"`
	// The caller hears it ring while a transfer is dialled.
	Ringback Optional[bool] `json:"ringback,omitzero"`
}

// AgentUpdate is sent to the service.
type AgentUpdate struct {
	// What it does about answering machines.
	AMD Optional[AMDUpdate] `json:"amd,omitzero"`
	// What is wanted to be known of its calls.
	Analysis Optional[AnalysisUpdate] `json:"analysis,omitzero"`
	// 2 to 6 digits that phones of the workspace dial to reach the agent.
	Extension Optional[string] `json:"extension,omitzero"`
	// Without a pathway: all that the agent says.
	FirstMessage Optional[string] `json:"first_message,omitzero"`
	// How it takes calls.
	Inbound Optional[AgentInboundUpdate] `json:"inbound,omitzero"`
	// What it may look things up in; 20 at most.
	KnowledgeBaseIDs Optional[[]string] `json:"knowledge_base_ids,omitzero"`
	// The language that it speaks, as BCP 47 writes it. Default: en-US.
	Language Optional[string] `json:"language,omitzero"`
	// Languages that its pathway can go over to (set.language of a node), with its voice in each; 20 at most.
	Languages Optional[[]AgentLanguage] `json:"languages,omitzero"`
	// What ends a conversation.
	Limits Optional[AgentLimitsUpdate] `json:"limits,omitzero"`
	// The language model.
	Llm Optional[LLMUpdate] `json:"llm,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Whom to ask when a call comes in.
	OnInbound Optional[InboundHookUpdate] `json:"on_inbound,omitzero"`
	// Which pathway it follows.
	PathwayID Optional[string] `json:"pathway_id,omitzero"`
	// An engine that hears and speaks by itself; calls of such an agent need it.
	Realtime Optional[RealtimeUpdate] `json:"realtime,omitzero"`
	// How it answers text messages to its numbers; not at all unless said.
	SMS Optional[AgentSMSUpdate] `json:"sms,omitzero"`
	// How it hears.
	Stt Optional[STTUpdate] `json:"stt,omitzero"`
	// What a language model is told of its part. An agent that has neither a pathway nor a first_message speaks by it alone, and its calls need such a model.
	SystemPrompt Optional[string] `json:"system_prompt,omitzero"`
	// Its zone, for times in texts. Default: UTC.
	Timezone Optional[string] `json:"timezone,omitzero"`
	// What its model may do where the agent has no pathway: tools by id, and the built-in appointment, sms, transfer, dnc and end; 50 at most.
	Tools Optional[[]string] `json:"tools,omitzero"`
	// Whom it may hand callers to.
	Transfer Optional[AgentTransferUpdate] `json:"transfer,omitzero"`
	// When it takes the word. It counts where speech is heard.
	TurnTaking Optional[TurnTakingUpdate] `json:"turn_taking,omitzero"`
	// How it sounds.
	Voice Optional[VoiceUpdate] `json:"voice,omitzero"`
}

// AgentVersion is an answer of the service, or a part of one.
type AgentVersion struct {
	// What it does about answering machines.
	AMD *AgentAMD `json:"amd,omitempty"`
	// What is wanted to be known of its calls.
	Analysis *AgentAnalysis `json:"analysis,omitempty"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What phones of the workspace dial to reach it: 2 to 6 digits.
	Extension string `json:"extension,omitzero"`
	// What it says first, before its pathway begins.
	FirstMessage string `json:"first_message,omitzero"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// How it takes calls.
	Inbound AgentInbound `json:"inbound"`
	// What it may look things up in.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids"`
	// The language that it speaks, as BCP 47 writes it.
	Language string `json:"language"`
	// Languages that its pathway can go over to.
	Languages []AgentLanguage `json:"languages,omitzero"`
	// What ends a conversation.
	Limits AgentLimits `json:"limits"`
	// By which language model it speaks.
	Llm *AgentLLM `json:"llm,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Whom to ask when a call comes in.
	OnInbound *AgentHook `json:"on_inbound,omitempty"`
	// Which pathway it follows.
	PathwayID string `json:"pathway_id,omitzero"`
	// When it was published.
	PublishedAt *time.Time `json:"published_at"`
	// The engine that hears and speaks by itself.
	Realtime *AgentRealtime `json:"realtime,omitempty"`
	// Messages sent.
	SMS *AgentSMS `json:"sms,omitempty"`
	// How it hears.
	Stt *AgentSTT `json:"stt,omitempty"`
	// What a language model is told of its part.
	SystemPrompt string `json:"system_prompt,omitzero"`
	// Its zone, for times in texts.
	Timezone string `json:"timezone"`
	// The ids of the tools that it may use.
	Tools []string `json:"tools"`
	// Whom it may hand callers to.
	Transfer AgentTransfer `json:"transfer"`
	// When it takes the word.
	TurnTaking *TurnTaking `json:"turn_taking,omitempty"`
	// Always empty.
	UnpublishedChanges []string `json:"unpublished_changes"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Which version this is.
	Version int64 `json:"version"`
	// How it sounds.
	Voice Voice `json:"voice"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AnalysisUpdate is sent to the service.
type AnalysisUpdate struct {
	// 50 at most.
	Fields Optional[[]NewAnalysisField] `json:"fields,omitzero"`
	// When a call was a success, in words.
	SuccessCriteria Optional[string] `json:"success_criteria,omitzero"`
	// Whether a summary is wanted.
	Summary Optional[bool] `json:"summary,omitzero"`
}

// Destination is an answer of the service, or a part of one.
type Destination struct {
	// How callers are handed on; left out: as the transfer says. One of blind, attended, bridge.
	Mode string `json:"mode,omitzero"`
	// For people.
	Name string `json:"name"`
	// Extension or id of a phone.
	Phone string `json:"phone,omitzero"`
	// A telephone number.
	To string `json:"to,omitzero"`
}

// InboundHookUpdate is sent to the service.
type InboundHookUpdate struct {
	// How long an answer is waited for: 100 to 5000.
	TimeoutMs Optional[int64] `json:"timeout_ms,omitzero"`
	// https only, at an address that may be reached.
	URL Optional[string] `json:"url,omitzero"`
}

// LLMUpdate is sent to the service.
type LLMUpdate struct {
	// An engine of the installation; empty: its own choice.
	Engine Optional[string] `json:"engine,omitzero"`
	// Of one answer; 0: as the engine has it.
	MaxTokens Optional[int64] `json:"max_tokens,omitzero"`
	// Its model.
	Model Optional[string] `json:"model,omitzero"`
	// It is asked as soon as the caller is silent, and again where he says more.
	Speculative Optional[bool] `json:"speculative,omitzero"`
	// How freely it chooses words.
	Temperature Optional[float64] `json:"temperature,omitzero"`
}

// ListAgent is an answer of the service, or a part of one.
type ListAgent struct {
	// The rows of this page.
	Data []Agent `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListAgentVersion is an answer of the service, or a part of one.
type ListAgentVersion struct {
	// The rows of this page.
	Data []AgentVersion `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewAMD is sent to the service.
type NewAMD struct {
	// leave_message: what is left behind the beep; {{name}} stands for a variable.
	Message *string `json:"message,omitempty"`
	// off; async: while the agent speaks already; wait: before it speaks, for 6 seconds at most. Of outbound calls. One of off, async, wait.
	Mode *string `json:"mode,omitempty"`
	// What is done where a machine answers; empty: as continue. One of hangup, leave_message, continue.
	VoicemailAction *string `json:"voicemail_action,omitempty"`
}

// NewAgent is sent to the service.
type NewAgent struct {
	// What it does about answering machines.
	AMD *NewAMD `json:"amd,omitempty"`
	// What is wanted to be known of its calls.
	Analysis *NewAnalysis `json:"analysis,omitempty"`
	// 2 to 6 digits that phones of the workspace dial to reach the agent.
	Extension *string `json:"extension,omitempty"`
	// Without a pathway: all that the agent says.
	FirstMessage *string `json:"first_message,omitempty"`
	// How it takes calls.
	Inbound *NewAgentInbound `json:"inbound,omitempty"`
	// What it may look things up in; 20 at most.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids,omitzero"`
	// The language that it speaks, as BCP 47 writes it. Default: en-US.
	Language *string `json:"language,omitempty"`
	// Languages that its pathway can go over to (set.language of a node), with its voice in each; 20 at most.
	Languages []AgentLanguage `json:"languages,omitzero"`
	// What ends a conversation.
	Limits *NewAgentLimits `json:"limits,omitempty"`
	// The language model.
	Llm *NewLLM `json:"llm,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Whom to ask when a call comes in.
	OnInbound *NewInboundHook `json:"on_inbound,omitempty"`
	// Which pathway it follows.
	PathwayID *string `json:"pathway_id,omitempty"`
	// An engine that hears and speaks by itself; calls of such an agent need it.
	Realtime *NewRealtime `json:"realtime,omitempty"`
	// How it answers text messages to its numbers; not at all unless said.
	SMS *NewAgentSMS `json:"sms,omitempty"`
	// How it hears.
	Stt *NewSTT `json:"stt,omitempty"`
	// What a language model is told of its part. An agent that has neither a pathway nor a first_message speaks by it alone, and its calls need such a model.
	SystemPrompt *string `json:"system_prompt,omitempty"`
	// Its zone, for times in texts. Default: UTC.
	Timezone *string `json:"timezone,omitempty"`
	// What its model may do where the agent has no pathway: tools by id, and the built-in appointment, sms, transfer, dnc and end; 50 at most.
	Tools []string `json:"tools,omitzero"`
	// Whom it may hand callers to.
	Transfer *NewAgentTransfer `json:"transfer,omitempty"`
	// When it takes the word. It counts where speech is heard.
	TurnTaking *NewTurnTaking `json:"turn_taking,omitempty"`
	// How it sounds.
	Voice *NewVoice `json:"voice,omitempty"`
}

// NewAgentInbound is sent to the service.
type NewAgentInbound struct {
	// ring: 180, then 200. direct: 200 at once. early: 183 with a ringing of ours, for 3 seconds unless ring_seconds says otherwise. One of ring, direct, early.
	Answer *string `json:"answer,omitempty"`
	// ring, early: how long before the answer.
	RingSeconds *int64 `json:"ring_seconds,omitempty"`
}

// NewAgentSMS is sent to the service.
type NewAgentSMS struct {
	// Who writes to a number of the agent gets an answer, by its pathway.
	Enabled bool `json:"enabled"`
	// So many replies to one contact within timeout_minutes, over all conversations; then the agent is silent.
	MaxReplies *int64 `json:"max_replies,omitempty"`
	// So long without a message ends a conversation; the next one begins anew.
	TimeoutMinutes *int64 `json:"timeout_minutes,omitempty"`
}

// NewAgentTransfer is sent to the service.
type NewAgentTransfer struct {
	// The far end may send the call elsewhere, by REFER, within the destination rules.
	AcceptRefer *bool `json:"accept_refer,omitempty"`
	// Whom callers may be handed to, by name.
	Destinations []NewDestination `json:"destinations,omitzero"`
	// What a party hears while the other side of a bridged call has put it on hold, and the caller while a transfer is dialled without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder.
	HoldMusic *string `json:"hold_music,omitempty"`
	// The caller hears it ring while a transfer is dialled.
	Ringback *bool `json:"ringback,omitempty"`
}

// NewDestination is sent to the service.
type NewDestination struct {
	// How callers are handed on; left out: as the transfer says. One of blind, attended, bridge.
	Mode *string `json:"mode,omitempty"`
	// For people.
	Name string `json:"name"`
	// The extension or the id of a phone; phone or to is required.
	Phone *string `json:"phone,omitempty"`
	// A telephone number; to or phone is required.
	To *string `json:"to,omitempty"`
}

// NewInboundHook is sent to the service.
type NewInboundHook struct {
	// How long an answer is waited for: 100 to 5000.
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// https only, at an address that may be reached.
	URL *string `json:"url,omitempty"`
}

// NewRealtime is sent to the service.
type NewRealtime struct {
	// An engine of the installation; empty: its own choice.
	Engine *string `json:"engine,omitempty"`
	// Its model.
	Model *string `json:"model,omitempty"`
	// Its voice.
	Voice *string `json:"voice,omitempty"`
}

// OnInboundSecret is an answer of the service, or a part of one.
type OnInboundSecret struct {
	// The agent.
	AgentID string `json:"agent_id"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Shown here and nowhere else.
	Secret string `json:"secret"`
	// The last characters of the secret.
	SecretHint string `json:"secret_hint"`
}

// RealtimeUpdate is sent to the service.
type RealtimeUpdate struct {
	// An engine of the installation; empty: its own choice.
	Engine Optional[string] `json:"engine,omitzero"`
	// Its model.
	Model Optional[string] `json:"model,omitzero"`
	// Its voice.
	Voice Optional[string] `json:"voice,omitzero"`
}

// STTUpdate is sent to the service.
type STTUpdate struct {
	// An engine of the installation; empty: its own choice.
	Engine Optional[string] `json:"engine,omitzero"`
	// Words that are likely to be said; 100 at most.
	Keywords Optional[[]string] `json:"keywords,omitzero"`
	// Where it is not the agent's.
	Language Optional[string] `json:"language,omitzero"`
	// Its model.
	Model Optional[string] `json:"model,omitzero"`
}

// TurnTaking is an answer of the service, or a part of one.
type TurnTaking struct {
	// So much silence ends the caller's turn.
	EndOfTurnMs int64 `json:"end_of_turn_ms,omitzero"`
	// Whether speech may cut what it says.
	Interruptible bool `json:"interruptible,omitzero"`
	// So many words count as an interruption.
	InterruptionWords int64 `json:"interruption_words,omitzero"`
}

// TurnTakingUpdate is sent to the service.
type TurnTakingUpdate struct {
	// So much silence ends the caller's turn; 0: as the engine has it.
	EndOfTurnMs Optional[int64] `json:"end_of_turn_ms,omitzero"`
	// Speech may cut what it says.
	Interruptible Optional[bool] `json:"interruptible,omitzero"`
	// So many words count as an interruption; 0: as the engine has it.
	InterruptionWords Optional[int64] `json:"interruption_words,omitzero"`
}

// Voice is sent to the service.
type Voice struct {
	// espeak-ng; wav: prompt files, and espeak-ng where there is none; or an engine of the installation.
	Engine *string `json:"engine,omitempty"`
	// The engine's name of the voice.
	Name *string `json:"name,omitempty"`
	// How words are said that it would say wrongly.
	Pronunciations []Pronunciation `json:"pronunciations,omitzero"`
	// How fast it speaks: 1 is normal.
	Rate *float64 `json:"rate,omitempty"`
}

// VoiceUpdate is sent to the service.
type VoiceUpdate struct {
	// espeak-ng; wav: prompt files, and espeak-ng where there is none; or an engine of the installation. Empty: its own choice.
	Engine Optional[string] `json:"engine,omitzero"`
	// The engine's name of the voice.
	Name Optional[string] `json:"name,omitzero"`
	// How words are said that it would say wrongly; 200 at most. Transcripts keep the word.
	Pronunciations Optional[[]Pronunciation] `json:"pronunciations,omitzero"`
	// How fast it speaks: 1 is normal.
	Rate Optional[float64] `json:"rate,omitzero"`
}
