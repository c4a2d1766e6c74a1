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

// GetTalkScript: Get the script of the page /talk.
//
// GET /talk.js
//
// For browsers.
//
// The caller reads the body and closes it.
func (c *Client) GetTalkScript(ctx context.Context, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/talk.js", nil, nil, options)
}

// ListAgentsQuery holds the query parameters of ListAgents. Zero values are not sent.
type ListAgentsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllAgents iterates over all pages of ListAgents. It ends after the first error.
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
// The agent is published as version 1 and can take calls at once.
func (c *Client) CreateAgent(ctx context.Context, body *NewAgent, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "POST", "/v1/agents", nil, asJSON(body), options)
}

// DeleteAgent: Delete an agent with its versions.
//
// DELETE /v1/agents/{id}
//
// Running calls and campaigns keep their version. 409 invalid_state with used_by while a pathway references the agent.
func (c *Client) DeleteAgent(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/agents/"+url.PathEscape(id), nil, nil, options)
}

// GetAgent: Get an agent.
//
// GET /v1/agents/{id}
//
// Returns the draft. unpublished_changes reports whether the draft differs from the published version.
func (c *Client) GetAgent(ctx context.Context, id string, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "GET", "/v1/agents/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAgent: Change an agent's draft.
//
// PATCH /v1/agents/{id}
//
// Calls use the changes after publishing. name, extension and metadata apply at once.
func (c *Client) UpdateAgent(ctx context.Context, id string, body *AgentUpdate, options ...Option) (*Agent, error) {
	return send[Agent](ctx, c, "PATCH", "/v1/agents/"+url.PathEscape(id), nil, asJSON(body), options)
}

// SignOnInbound: Create the secret that signs on_inbound requests.
//
// POST /v1/agents/{id}/on-inbound-secret
//
// Needs an API key or a dashboard session. The secret signs each later request to on_inbound like a webhook delivery (X-Svc-Signature, webhook-id, webhook-timestamp, webhook-signature). webhook-id is the id of the call. It replaces an earlier secret at once and applies to the draft and all versions. Without a secret requests are not signed. Only this response contains the secret.
func (c *Client) SignOnInbound(ctx context.Context, id string, options ...Option) (*OnInboundSecret, error) {
	return send[OnInboundSecret](ctx, c, "POST", "/v1/agents/"+url.PathEscape(id)+"/on-inbound-secret", nil, nil, options)
}

// PublishAgent: Publish an agent's draft.
//
// POST /v1/agents/{id}/publish
//
// Creates and returns an immutable version. New calls use it. A campaign keeps the version with which it started, unless follow_latest is set. Without changes it returns the newest version. More than 1000 versions are 409 invalid_state.
func (c *Client) PublishAgent(ctx context.Context, id string, options ...Option) (*AgentVersion, error) {
	return send[AgentVersion](ctx, c, "POST", "/v1/agents/"+url.PathEscape(id)+"/publish", nil, nil, options)
}

// ListAgentVersionsQuery holds the query parameters of ListAgentVersions. Zero values are not sent.
type ListAgentVersionsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllAgentVersions iterates over all pages of ListAgentVersions. It ends after the first error.
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

// AMDUpdate is part of a request.
type AMDUpdate struct {
	// Message after the beep, for leave_message. {{name}} inserts a variable.
	Message Optional[string] `json:"message,omitzero"`
	// Detection of machines in outbound calls. off: none. async: while the agent already speaks. wait: before the agent speaks, mostly for 1 to 2 seconds, at most for 13. One of off, async, wait.
	Mode Optional[string] `json:"mode,omitzero"`
	// Action when a machine answers. Where speech is recognized, the words of the greeting decide before it: call screening and menus get no action. One of hangup, leave_message, continue.
	VoicemailAction Optional[string] `json:"voicemail_action,omitzero"`
}

// Agent is part of a response.
type Agent struct {
	// Answering machine detection settings.
	AMD *AgentAMD `json:"amd,omitempty"`
	// Analysis of ended calls.
	Analysis *AgentAnalysis `json:"analysis,omitempty"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Extension of the agent for phones of the workspace: 2 to 6 digits.
	Extension string `json:"extension,omitzero"`
	// The first text of an agent without a pathway.
	FirstMessage string `json:"first_message,omitzero"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// How the agent answers calls.
	Inbound AgentInbound `json:"inbound"`
	// Knowledge bases that the agent can search.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids"`
	// Language of the agent as a BCP 47 tag.
	Language string `json:"language"`
	// Languages to which the pathway can switch.
	Languages []AgentLanguage `json:"languages,omitzero"`
	// Limits of a conversation.
	Limits AgentLimits `json:"limits"`
	// Language model settings.
	Llm *AgentLLM `json:"llm,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// Endpoint that is requested for each inbound call.
	OnInbound *AgentHook `json:"on_inbound,omitempty"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id,omitzero"`
	// When that version was published.
	PublishedAt *time.Time `json:"published_at"`
	// Realtime engine settings.
	Realtime *AgentRealtime `json:"realtime,omitempty"`
	// Sent messages.
	SMS *AgentSMS `json:"sms,omitempty"`
	// Speech recognition settings.
	Stt *AgentSTT `json:"stt,omitempty"`
	// System prompt of the language model.
	SystemPrompt string `json:"system_prompt,omitzero"`
	// Time zone for times in texts.
	Timezone string `json:"timezone"`
	// Ids of the tools that the agent can call.
	Tools []string `json:"tools"`
	// Transfer settings.
	Transfer AgentTransfer `json:"transfer"`
	// Turn-taking settings.
	TurnTaking *TurnTaking `json:"turn_taking,omitempty"`
	// Fields in which the draft differs from that version.
	UnpublishedChanges []string `json:"unpublished_changes"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Number of the newest published version, which calls use; from 1.
	Version int64 `json:"version"`
	// Voice settings.
	Voice Voice `json:"voice"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// AgentAMD is part of a response.
type AgentAMD struct {
	// Message after the beep.
	Message string `json:"message,omitzero"`
	// off, async or wait.
	Mode string `json:"mode"`
	// hangup, leave_message or continue.
	VoicemailAction string `json:"voicemail_action,omitzero"`
}

// AgentAnalysis is part of a response.
type AgentAnalysis struct {
	// Fields to extract.
	Fields []AnalysisField `json:"fields,omitzero"`
	// Criteria for a successful call.
	SuccessCriteria string `json:"success_criteria,omitzero"`
	// true if a summary is requested.
	Summary bool `json:"summary"`
}

// AgentHook is part of a response.
type AgentHook struct {
	// Timeout of the request.
	TimeoutMs int64 `json:"timeout_ms"`
	// URL of the endpoint.
	URL string `json:"url"`
}

// AgentInbound is part of a response.
type AgentInbound struct {
	// ring: 180, then 200. direct: 200 at once. early: 183 with ringback audio from Callboard.
	Answer string `json:"answer,omitzero"`
	// Seconds from ringing to the answer.
	RingSeconds int64 `json:"ring_seconds,omitzero"`
}

// AgentInboundUpdate is part of a request.
type AgentInboundUpdate struct {
	// ring: 180, then 200. direct: 200 at once. early: 183 with ringback audio from Callboard, for 3 seconds by default. One of ring, direct, early.
	Answer Optional[string] `json:"answer,omitzero"`
	// Seconds from ringing to the answer, for ring and early.
	RingSeconds Optional[int64] `json:"ring_seconds,omitzero"`
}

// AgentLLM is part of a response.
type AgentLLM struct {
	// An engine of the installation; empty: the engine that the installation selects.
	Engine string `json:"engine,omitzero"`
	// Maximum tokens of one response.
	MaxTokens int64 `json:"max_tokens,omitzero"`
	// Model of the engine.
	Model string `json:"model,omitzero"`
	// true if the model is requested as soon as the caller is silent, and again if the caller continues.
	Speculative bool `json:"speculative,omitzero"`
	// Sampling temperature.
	Temperature float64 `json:"temperature,omitzero"`
}

// AgentLanguage is part of a request.
type AgentLanguage struct {
	// Language as a BCP 47 tag.
	Language string `json:"language"`
	// Voice for this language.
	Voice Voice `json:"voice"`
}

// AgentLimits is part of a response.
type AgentLimits struct {
	// Maximum duration of a conversation.
	MaxMinutes int64 `json:"max_minutes,omitzero"`
	// Answers of the language model or realtime engine in one call, after which the agent says goodbye. Default: 200.
	MaxTurns int64 `json:"max_turns,omitzero"`
	// Silence that ends a conversation.
	SilenceSeconds int64 `json:"silence_seconds,omitzero"`
}

// AgentLimitsUpdate is part of a request.
type AgentLimitsUpdate struct {
	// Maximum duration of a conversation.
	MaxMinutes Optional[int64] `json:"max_minutes,omitzero"`
	// Answers of the language model or realtime engine in one call, after which the agent says goodbye. 0: 200.
	MaxTurns Optional[int64] `json:"max_turns,omitzero"`
	// The agent says goodbye and hangs up after a silence of both sides of this length. 0: no limit.
	SilenceSeconds Optional[int64] `json:"silence_seconds,omitzero"`
}

// AgentRealtime is part of a response.
type AgentRealtime struct {
	// An engine of the installation; empty: the engine that the installation selects.
	Engine string `json:"engine,omitzero"`
	// Model of the engine.
	Model string `json:"model,omitzero"`
	// Voice of the engine.
	Voice string `json:"voice,omitzero"`
}

// AgentSMS is part of a response.
type AgentSMS struct {
	// true if the agent answers text messages to its numbers by its pathway.
	Enabled bool `json:"enabled"`
	// Maximum replies to one contact within timeout_minutes, over all conversations.
	MaxReplies int64 `json:"max_replies,omitzero"`
	// Time without a message that ends a conversation.
	TimeoutMinutes int64 `json:"timeout_minutes,omitzero"`
}

// AgentSMSUpdate is part of a request.
type AgentSMSUpdate struct {
	// true: the agent answers text messages to its numbers by its pathway.
	Enabled *bool `json:"enabled,omitempty"`
	// Maximum replies to one contact within timeout_minutes, over all conversations.
	MaxReplies Optional[int64] `json:"max_replies,omitzero"`
	// Time without a message that ends a conversation. The next message starts a new one.
	TimeoutMinutes Optional[int64] `json:"timeout_minutes,omitzero"`
}

// AgentSTT is part of a response.
type AgentSTT struct {
	// An engine of the installation; empty: the engine that the installation selects.
	Engine string `json:"engine,omitzero"`
	// Words that callers are likely to say.
	Keywords []string `json:"keywords,omitzero"`
	// Language of recognition, if it differs from the agent's.
	Language string `json:"language,omitzero"`
	// Model of the engine.
	Model string `json:"model,omitzero"`
}

// AgentTransfer is part of a response.
type AgentTransfer struct {
	// true if the remote party may transfer the call by REFER or Replaces.
	AcceptRefer bool `json:"accept_refer,omitzero"`
	// Named transfer destinations.
	Destinations []Destination `json:"destinations,omitzero"`
	// Audio for a waiting party: silence, tone, or wav:NAME.wav of the prompts.
	HoldMusic string `json:"hold_music,omitzero"`
	// true if the caller hears ringback during a transfer.
	Ringback bool `json:"ringback,omitzero"`
}

// AgentTransferUpdate is part of a request.
type AgentTransferUpdate struct {
	// The remote party may transfer the call by REFER, within the destination rules.
	AcceptRefer Optional[bool] `json:"accept_refer,omitzero"`
	// Named destinations to which callers can be transferred.
	Destinations Optional[[]NewDestination] `json:"destinations,omitzero"`
	// Audio for a party that the other side of a bridged call has put on hold, and for the caller while a transfer is dialed without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder.
	HoldMusic Optional[string] `json:"hold_music,omitzero"`
	// The caller hears ringback while a transfer is dialed.
	Ringback Optional[bool] `json:"ringback,omitzero"`
}

// AgentUpdate is part of a request.
type AgentUpdate struct {
	// Answering machine detection settings.
	AMD Optional[AMDUpdate] `json:"amd,omitzero"`
	// Analysis of ended calls.
	Analysis Optional[AnalysisUpdate] `json:"analysis,omitzero"`
	// 2 to 6 digits that phones of the workspace dial to reach the agent.
	Extension Optional[string] `json:"extension,omitzero"`
	// The first text that an agent without a pathway speaks.
	FirstMessage Optional[string] `json:"first_message,omitzero"`
	// How the agent answers calls.
	Inbound Optional[AgentInboundUpdate] `json:"inbound,omitzero"`
	// Knowledge bases that the agent can search, at most 20.
	KnowledgeBaseIDs Optional[[]string] `json:"knowledge_base_ids,omitzero"`
	// Language of the agent as a BCP 47 tag. Default: en-US.
	Language Optional[string] `json:"language,omitzero"`
	// Languages to which the pathway can switch (set.language of a node), with a voice for each, at most 20.
	Languages Optional[[]AgentLanguage] `json:"languages,omitzero"`
	// Limits of a conversation.
	Limits Optional[AgentLimitsUpdate] `json:"limits,omitzero"`
	// Language model settings.
	Llm Optional[LLMUpdate] `json:"llm,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// Endpoint that is requested for each inbound call.
	OnInbound Optional[InboundHookUpdate] `json:"on_inbound,omitzero"`
	// The id of the pathway.
	PathwayID Optional[string] `json:"pathway_id,omitzero"`
	// Realtime engine that recognizes and speaks. Calls of an agent with these settings need the engine.
	Realtime Optional[RealtimeUpdate] `json:"realtime,omitzero"`
	// How the agent answers text messages to its numbers. Default: no answer.
	SMS Optional[AgentSMSUpdate] `json:"sms,omitzero"`
	// Speech recognition settings.
	Stt Optional[STTUpdate] `json:"stt,omitzero"`
	// System prompt of the language model. An agent without pathway and first_message speaks by this prompt alone, and its calls need a language model.
	SystemPrompt Optional[string] `json:"system_prompt,omitzero"`
	// Time zone for times in texts. Default: UTC.
	Timezone Optional[string] `json:"timezone,omitzero"`
	// Tools that the language model of an agent without a pathway can call: tool ids and the built-in tools appointment, sms, transfer, dnc and end. At most 50.
	Tools Optional[[]string] `json:"tools,omitzero"`
	// Transfer settings.
	Transfer Optional[AgentTransferUpdate] `json:"transfer,omitzero"`
	// Turn-taking settings. They apply if speech is recognized.
	TurnTaking Optional[TurnTakingUpdate] `json:"turn_taking,omitzero"`
	// Voice settings.
	Voice Optional[VoiceUpdate] `json:"voice,omitzero"`
}

// AgentVersion is part of a response.
type AgentVersion struct {
	// Answering machine detection settings.
	AMD *AgentAMD `json:"amd,omitempty"`
	// Analysis of ended calls.
	Analysis *AgentAnalysis `json:"analysis,omitempty"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Extension of the agent for phones of the workspace: 2 to 6 digits.
	Extension string `json:"extension,omitzero"`
	// The first text of an agent without a pathway.
	FirstMessage string `json:"first_message,omitzero"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// How the agent answers calls.
	Inbound AgentInbound `json:"inbound"`
	// Knowledge bases that the agent can search.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids"`
	// Language of the agent as a BCP 47 tag.
	Language string `json:"language"`
	// Languages to which the pathway can switch.
	Languages []AgentLanguage `json:"languages,omitzero"`
	// Limits of a conversation.
	Limits AgentLimits `json:"limits"`
	// Language model settings.
	Llm *AgentLLM `json:"llm,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// Endpoint that is requested for each inbound call.
	OnInbound *AgentHook `json:"on_inbound,omitempty"`
	// The id of the pathway.
	PathwayID string `json:"pathway_id,omitzero"`
	// When the version was published.
	PublishedAt *time.Time `json:"published_at"`
	// Realtime engine settings.
	Realtime *AgentRealtime `json:"realtime,omitempty"`
	// Sent messages.
	SMS *AgentSMS `json:"sms,omitempty"`
	// Speech recognition settings.
	Stt *AgentSTT `json:"stt,omitempty"`
	// System prompt of the language model.
	SystemPrompt string `json:"system_prompt,omitzero"`
	// Time zone for times in texts.
	Timezone string `json:"timezone"`
	// Ids of the tools that the agent can call.
	Tools []string `json:"tools"`
	// Transfer settings.
	Transfer AgentTransfer `json:"transfer"`
	// Turn-taking settings.
	TurnTaking *TurnTaking `json:"turn_taking,omitempty"`
	// Always empty.
	UnpublishedChanges []string `json:"unpublished_changes"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Number of the version.
	Version int64 `json:"version"`
	// Voice settings.
	Voice Voice `json:"voice"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// AnalysisUpdate is part of a request.
type AnalysisUpdate struct {
	// Fields to extract from a call, at most 50.
	Fields Optional[[]NewAnalysisField] `json:"fields,omitzero"`
	// Criteria for a successful call, in words.
	SuccessCriteria Optional[string] `json:"success_criteria,omitzero"`
	// true requests a summary.
	Summary Optional[bool] `json:"summary,omitzero"`
}

// Destination is part of a response.
type Destination struct {
	// Transfer mode. Missing: the mode of the transfer request. One of blind, attended, bridge.
	Mode string `json:"mode,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Extension or id of a phone.
	Phone string `json:"phone,omitzero"`
	// A telephone number.
	To string `json:"to,omitzero"`
}

// InboundHookUpdate is part of a request.
type InboundHookUpdate struct {
	// Timeout of the request, 100 to 5000.
	TimeoutMs Optional[int64] `json:"timeout_ms,omitzero"`
	// https URL at an allowed address.
	URL Optional[string] `json:"url,omitzero"`
}

// LLMUpdate is part of a request.
type LLMUpdate struct {
	// An engine of the installation. Default: the engine that the installation selects.
	Engine Optional[string] `json:"engine,omitzero"`
	// Maximum tokens of one response. 0: the default of the engine.
	MaxTokens Optional[int64] `json:"max_tokens,omitzero"`
	// Model of the engine.
	Model Optional[string] `json:"model,omitzero"`
	// true: the model is requested as soon as the caller is silent, and again if the caller continues.
	Speculative Optional[bool] `json:"speculative,omitzero"`
	// Sampling temperature.
	Temperature Optional[float64] `json:"temperature,omitzero"`
}

// ListAgent is part of a response.
type ListAgent struct {
	// The resources of this page.
	Data []Agent `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListAgentVersion is part of a response.
type ListAgentVersion struct {
	// The resources of this page.
	Data []AgentVersion `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewAMD is part of a request.
type NewAMD struct {
	// Message after the beep, for leave_message. {{name}} inserts a variable.
	Message *string `json:"message,omitempty"`
	// Detection of machines in outbound calls. off: none. async: while the agent already speaks. wait: before the agent speaks, mostly for 1 to 2 seconds, at most for 13. One of off, async, wait.
	Mode *string `json:"mode,omitempty"`
	// Action when a machine answers. Where speech is recognized, the words of the greeting decide before it: call screening and menus get no action. One of hangup, leave_message, continue.
	VoicemailAction *string `json:"voicemail_action,omitempty"`
}

// NewAgent is part of a request.
type NewAgent struct {
	// Answering machine detection settings.
	AMD *NewAMD `json:"amd,omitempty"`
	// Analysis of ended calls.
	Analysis *NewAnalysis `json:"analysis,omitempty"`
	// 2 to 6 digits that phones of the workspace dial to reach the agent.
	Extension *string `json:"extension,omitempty"`
	// The first text that an agent without a pathway speaks.
	FirstMessage *string `json:"first_message,omitempty"`
	// How the agent answers calls.
	Inbound *NewAgentInbound `json:"inbound,omitempty"`
	// Knowledge bases that the agent can search, at most 20.
	KnowledgeBaseIDs []string `json:"knowledge_base_ids,omitzero"`
	// Language of the agent as a BCP 47 tag. Default: en-US.
	Language *string `json:"language,omitempty"`
	// Languages to which the pathway can switch (set.language of a node), with a voice for each, at most 20.
	Languages []AgentLanguage `json:"languages,omitzero"`
	// Limits of a conversation.
	Limits *NewAgentLimits `json:"limits,omitempty"`
	// Language model settings.
	Llm *NewLLM `json:"llm,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Endpoint that is requested for each inbound call.
	OnInbound *NewInboundHook `json:"on_inbound,omitempty"`
	// The id of the pathway.
	PathwayID *string `json:"pathway_id,omitempty"`
	// Realtime engine that recognizes and speaks. Calls of an agent with these settings need the engine.
	Realtime *NewRealtime `json:"realtime,omitempty"`
	// How the agent answers text messages to its numbers. Default: no answer.
	SMS *NewAgentSMS `json:"sms,omitempty"`
	// Speech recognition settings.
	Stt *NewSTT `json:"stt,omitempty"`
	// System prompt of the language model. An agent without pathway and first_message speaks by this prompt alone, and its calls need a language model.
	SystemPrompt *string `json:"system_prompt,omitempty"`
	// Time zone for times in texts. Default: UTC.
	Timezone *string `json:"timezone,omitempty"`
	// Tools that the language model of an agent without a pathway can call: tool ids and the built-in tools appointment, sms, transfer, dnc and end. At most 50.
	Tools []string `json:"tools,omitzero"`
	// Transfer settings.
	Transfer *NewAgentTransfer `json:"transfer,omitempty"`
	// Turn-taking settings. They apply if speech is recognized.
	TurnTaking *NewTurnTaking `json:"turn_taking,omitempty"`
	// Voice settings.
	Voice *NewVoice `json:"voice,omitempty"`
}

// NewAgentInbound is part of a request.
type NewAgentInbound struct {
	// ring: 180, then 200. direct: 200 at once. early: 183 with ringback audio from Callboard, for 3 seconds by default. One of ring, direct, early.
	Answer *string `json:"answer,omitempty"`
	// Seconds from ringing to the answer, for ring and early.
	RingSeconds *int64 `json:"ring_seconds,omitempty"`
}

// NewAgentSMS is part of a request.
type NewAgentSMS struct {
	// true: the agent answers text messages to its numbers by its pathway.
	Enabled bool `json:"enabled"`
	// Maximum replies to one contact within timeout_minutes, over all conversations.
	MaxReplies *int64 `json:"max_replies,omitempty"`
	// Time without a message that ends a conversation. The next message starts a new one.
	TimeoutMinutes *int64 `json:"timeout_minutes,omitempty"`
}

// NewAgentTransfer is part of a request.
type NewAgentTransfer struct {
	// The remote party may transfer the call by REFER, within the destination rules.
	AcceptRefer *bool `json:"accept_refer,omitempty"`
	// Named destinations to which callers can be transferred.
	Destinations []NewDestination `json:"destinations,omitzero"`
	// Audio for a party that the other side of a bridged call has put on hold, and for the caller while a transfer is dialed without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder.
	HoldMusic *string `json:"hold_music,omitempty"`
	// The caller hears ringback while a transfer is dialed.
	Ringback *bool `json:"ringback,omitempty"`
}

// NewDestination is part of a request.
type NewDestination struct {
	// Transfer mode. Default: the mode of the transfer request. One of blind, attended, bridge.
	Mode *string `json:"mode,omitempty"`
	// Name for people.
	Name string `json:"name"`
	// The extension or the id of a phone; phone or to is required.
	Phone *string `json:"phone,omitempty"`
	// A telephone number. Either to or phone is required.
	To *string `json:"to,omitempty"`
}

// NewInboundHook is part of a request.
type NewInboundHook struct {
	// Timeout of the request, 100 to 5000.
	TimeoutMs *int64 `json:"timeout_ms,omitempty"`
	// https URL at an allowed address.
	URL *string `json:"url,omitempty"`
}

// NewRealtime is part of a request.
type NewRealtime struct {
	// An engine of the installation. Default: the engine that the installation selects.
	Engine *string `json:"engine,omitempty"`
	// Model of the engine.
	Model *string `json:"model,omitempty"`
	// Voice of the engine.
	Voice *string `json:"voice,omitempty"`
}

// OnInboundSecret is part of a response.
type OnInboundSecret struct {
	// The agent.
	AgentID string `json:"agent_id"`
	// The type of the resource.
	Object string `json:"object"`
	// The secret. Only in this response.
	Secret string `json:"secret"`
	// The last characters of the secret.
	SecretHint string `json:"secret_hint"`
}

// RealtimeUpdate is part of a request.
type RealtimeUpdate struct {
	// An engine of the installation. Default: the engine that the installation selects.
	Engine Optional[string] `json:"engine,omitzero"`
	// Model of the engine.
	Model Optional[string] `json:"model,omitzero"`
	// Voice of the engine.
	Voice Optional[string] `json:"voice,omitzero"`
}

// STTUpdate is part of a request.
type STTUpdate struct {
	// An engine of the installation. Default: the engine that the installation selects.
	Engine Optional[string] `json:"engine,omitzero"`
	// Words that callers are likely to say, at most 100.
	Keywords Optional[[]string] `json:"keywords,omitzero"`
	// Default: the language of the agent.
	Language Optional[string] `json:"language,omitzero"`
	// Model of the engine.
	Model Optional[string] `json:"model,omitzero"`
}

// TurnTakingUpdate is part of a request.
type TurnTakingUpdate struct {
	// Silence that ends the turn after a complete short answer, such as an expected phrase, if the engine recognizes words while the caller speaks; at most end_of_turn_ms. 0: 250.
	EndOfCompleteTurnMs Optional[int64] `json:"end_of_complete_turn_ms,omitzero"`
	// Silence that ends the turn after the beginning of a sentence, such as I would like to, or of a number that is spoken in groups; at least end_of_turn_ms. 0: 1500.
	EndOfIncompleteTurnMs Optional[int64] `json:"end_of_incomplete_turn_ms,omitzero"`
	// Silence that ends the caller's turn. 0: 450, for a realtime engine its own default.
	EndOfTurnMs Optional[int64] `json:"end_of_turn_ms,omitzero"`
	// The caller's speech interrupts the agent.
	Interruptible Optional[bool] `json:"interruptible,omitzero"`
	// Number of words that count as an interruption. 0: 2.
	InterruptionWords Optional[int64] `json:"interruption_words,omitzero"`
}

// Voice is part of a request.
type Voice struct {
	// espeak-ng, wav (prompt files, with espeak-ng for other texts), or an engine of the installation.
	Engine *string `json:"engine,omitempty"`
	// Name of the voice in the engine.
	Name *string `json:"name,omitempty"`
	// Pronunciations of words that the voice mispronounces.
	Pronunciations []Pronunciation `json:"pronunciations,omitzero"`
	// Speaking rate; 1 is normal.
	Rate *float64 `json:"rate,omitempty"`
}

// VoiceUpdate is part of a request.
type VoiceUpdate struct {
	// espeak-ng, wav, or an engine of the installation. wav plays prompt files, and uses espeak-ng for texts without a file. Default: the engine of the installation.
	Engine Optional[string] `json:"engine,omitzero"`
	// Name of the voice in the engine.
	Name Optional[string] `json:"name,omitzero"`
	// Pronunciations of words that the voice mispronounces, at most 200. Transcripts keep the original word.
	Pronunciations Optional[[]Pronunciation] `json:"pronunciations,omitzero"`
	// Speaking rate; 1 is normal.
	Rate Optional[float64] `json:"rate,omitzero"`
}
