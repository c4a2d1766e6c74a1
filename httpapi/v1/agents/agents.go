package agents

import (
	"context"
	"net/http"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Agents manages voice agents. In every update method of this package, change modifies a copy of the stored record. It
// may be called again after a conflict. If it returns an error, the update fails with that error.
type Agents interface {
	// CreateAgent creates an agent and publishes version 1. A reference to an unknown resource is a validation error
	// (422) whose param is pathway_id, tools[i] or knowledge_base_ids[i].
	CreateAgent(ctx context.Context, p domain.Principal, a *domain.Agent) (*domain.Agent, error)
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
	ListAgents(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Agent], error)
	// UpdateAgent changes the draft of an agent. Published versions stay unchanged.
	UpdateAgent(ctx context.Context, p domain.Principal, id string, change func(*domain.Agent) error) (*domain.Agent, error)
	// DeleteAgent deletes an agent. Error: invalid_state with the field used_by while a pathway references the agent.
	DeleteAgent(ctx context.Context, p domain.Principal, id string) error
	// PublishAgent publishes the draft as a new version. If the draft has no changes, it returns the newest version.
	PublishAgent(ctx context.Context, p domain.Principal, id string) (*domain.AgentVersion, error)
	AgentVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.AgentVersion, error)
	ListAgentVersions(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.AgentVersion], error)
	// SignOnInbound creates the secret that signs the on_inbound requests of an agent and returns it.
	SignOnInbound(ctx context.Context, p domain.Principal, id string) (secret string, err error)
}

// agentHandlers serves the operations on agents.
type agentHandlers struct {
	*router.Router

	agents Agents
}

// NewVoice is a voice in a request body.
type NewVoice struct {
	Engine string  `json:"engine,omitempty" maxLength:"100" example:"espeak-ng" doc:"espeak-ng, wav, or an engine of the installation. wav plays prompt files, and uses espeak-ng for texts without a file. Default: the engine of the installation."`
	Name   string  `json:"name,omitempty" example:"en-us"`
	Rate   float64 `json:"rate,omitempty" minimum:"0.5" maximum:"2"`

	Pronunciations []domain.Pronunciation `json:"pronunciations,omitempty" doc:"Pronunciations of words that the voice mispronounces, at most 200. Transcripts keep the original word."`
}

// NewAgentLimits are the limits of an agent in a request body.
type NewAgentLimits struct {
	SilenceSeconds int `json:"silence_seconds,omitempty" minimum:"0" maximum:"600" doc:"The agent says goodbye and hangs up after a silence of both sides of this length. 0: no limit."`
	MaxMinutes     int `json:"max_minutes,omitempty" minimum:"0" maximum:"240"`
	MaxTurns       int `json:"max_turns,omitempty" minimum:"0" maximum:"2000" doc:"Answers of the language model or realtime engine in one call, after which the agent says goodbye. 0: 200."`
}

// NewDestination is a transfer destination of an agent in a request body.
type NewDestination struct {
	Name  string              `json:"name" example:"billing"`
	Phone string              `json:"phone,omitempty" doc:"The extension or the id of a phone; phone or to is required."`
	To    string              `json:"to,omitempty" example:"+12025550123"`
	Mode  domain.TransferMode `json:"mode,omitempty" enum:"blind,attended,bridge"`
}

// NewAgentTransfer are the transfer settings of an agent in a request body.
type NewAgentTransfer struct {
	Destinations []NewDestination `json:"destinations,omitempty" doc:"Named destinations to which callers can be transferred."`
	AcceptRefer  bool             `json:"accept_refer,omitempty" doc:"The remote party may transfer the call by REFER, within the destination rules."`
	Ringback     *bool            `json:"ringback,omitempty" default:"true" doc:"The caller hears ringback while a transfer is dialed."`
	HoldMusic    string           `json:"hold_music,omitempty" maxLength:"100" example:"wav:waiting.wav" doc:"Audio for a party that the other side of a bridged call has put on hold, and for the caller while a transfer is dialed without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder."`
}

// NewAgentInbound says how an agent answers calls, in a request body.
type NewAgentInbound struct {
	Answer      string `json:"answer,omitempty" enum:"ring,direct,early" doc:"ring: 180, then 200. direct: 200 at once. early: 183 with ringback audio from Callboard, for 3 seconds by default."`
	RingSeconds int    `json:"ring_seconds,omitempty" minimum:"0" maximum:"60" doc:"Seconds from ringing to the answer, for ring and early."`
}

// NewAgent is an agent in a request body.
type NewAgent struct {
	Name             string                 `json:"name"`
	PathwayID        string                 `json:"pathway_id,omitempty"`
	SystemPrompt     string                 `json:"system_prompt,omitempty" doc:"System prompt of the language model. An agent without pathway and first_message speaks by this prompt alone, and its calls need a language model."`
	FirstMessage     string                 `json:"first_message,omitempty" doc:"The first text that an agent without a pathway speaks."`
	Language         string                 `json:"language,omitempty" example:"en-US" doc:"Language of the agent as a BCP 47 tag. Default: en-US."`
	Timezone         string                 `json:"timezone,omitempty" example:"America/New_York" doc:"Time zone for times in texts. Default: UTC."`
	Voice            *NewVoice              `json:"voice,omitempty"`
	Languages        []domain.AgentLanguage `json:"languages,omitempty" nullable:"false" doc:"Languages to which the pathway can switch (set.language of a node), with a voice for each, at most 20."`
	LLM              *NewLLM                `json:"llm,omitempty" doc:"Language model settings."`
	STT              *NewSTT                `json:"stt,omitempty" doc:"Speech recognition settings."`
	Realtime         *NewRealtime           `json:"realtime,omitempty" doc:"Realtime engine that recognizes and speaks. Calls of an agent with these settings need the engine."`
	TurnTaking       *NewTurnTaking         `json:"turn_taking,omitempty" doc:"Turn-taking settings. They apply if speech is recognized."`
	AMD              *NewAMD                `json:"amd,omitempty" doc:"Answering machine detection settings."`
	Limits           *NewAgentLimits        `json:"limits,omitempty"`
	Transfer         *NewAgentTransfer      `json:"transfer,omitempty"`
	Inbound          *NewAgentInbound       `json:"inbound,omitempty"`
	KnowledgeBaseIDs []string               `json:"knowledge_base_ids,omitempty" nullable:"false" doc:"Knowledge bases that the agent can search, at most 20."`
	Tools            []string               `json:"tools,omitempty" nullable:"false" doc:"Tools that the language model of an agent without a pathway can call: tool ids and the built-in tools appointment, sms, transfer, dnc and end. At most 50."`
	OnInbound        *NewInboundHook        `json:"on_inbound,omitempty" doc:"Endpoint that is requested for each inbound call."`
	Analysis         *NewAnalysis           `json:"analysis,omitempty" doc:"Analysis of ended calls."`
	SMS              *NewAgentSMS           `json:"sms,omitempty" doc:"How the agent answers text messages to its numbers. Default: no answer."`
	Extension        string                 `json:"extension,omitempty" doc:"2 to 6 digits that phones of the workspace dial to reach the agent." example:"200"`
	Metadata         map[string]string      `json:"metadata,omitempty"`
}

// apply copies the settings in the request body to an agent and validates the agent.
func (n *NewAgent) apply(a *domain.Agent) error {
	a.Name, a.PathwayID, a.Extension, a.Metadata = n.Name, n.PathwayID, n.Extension, n.Metadata
	a.SystemPrompt, a.FirstMessage = n.SystemPrompt, n.FirstMessage
	a.Language, a.Timezone, a.Languages = n.Language, n.Timezone, slices.Clone(n.Languages)
	a.Voice, a.Limits, a.Inbound = domain.Voice(router.ValueOrZero(n.Voice)), domain.AgentLimits(router.ValueOrZero(n.Limits)), domain.AgentInbound(router.ValueOrZero(n.Inbound))
	a.KnowledgeBaseIDs, a.Tools = slices.Clone(n.KnowledgeBaseIDs), slices.Clone(n.Tools)
	transfer := router.ValueOrZero(n.Transfer)
	if router.ValueOrZero(transfer.Ringback) { // the default is true, also if the body has no transfer settings
		transfer.Ringback = nil
	}
	a.Transfer = domain.AgentTransfer{AcceptRefer: transfer.AcceptRefer, Ringback: transfer.Ringback, HoldMusic: transfer.HoldMusic}
	for _, d := range transfer.Destinations {
		a.Transfer.Destinations = append(a.Transfer.Destinations, domain.Destination(d))
	}
	n.applyEngines(a)
	validation.AgentDefaults(a)
	return validation.Agent(a).Err()
}

// registerAgents registers the routes for agents.
func registerAgents(r *router.Router, agents Agents) {
	s := &agentHandlers{Router: r, agents: agents}
	const tag, path = "Agents", "/v1/agents"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createAgent", Tag: tag, Status: http.StatusCreated, Summary: "Create an agent",
		Description: "The agent is published as version 1 and can take calls at once.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewAgent }) (*router.Response[*domain.Agent], error) {
		a := &domain.Agent{}
		if err := in.Body.apply(a); err != nil {
			return nil, err
		}
		created, err := s.agents.CreateAgent(ctx, p, a)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, created.Public(), nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAgents", Tag: tag, Summary: "List agents"},
		router.HandleList(s.agents, Agents.ListAgents, (*domain.Agent).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getAgent", Tag: tag, Summary: "Get an agent", Description: "Returns the draft. unpublished_changes reports whether the draft differs from the published version."},
		router.HandleByID(domain.PrefixAgent, s.agents, Agents.Agent, (*domain.Agent).Public))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", ID: "updateAgent", Tag: tag, Summary: "Change an agent's draft",
		Description: "Calls use the changes after publishing. name, extension and metadata apply at once.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		Body router.Patch[NewAgent]
	},
	) (*router.Response[*domain.Agent], error) {
		id, err := router.PathID(domain.PrefixAgent, in.ID)
		if err != nil {
			return nil, err
		}
		return router.RespondPublic(s.agents.UpdateAgent(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, (*NewAgent).apply)))
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteAgent", Tag: tag, Summary: "Delete an agent with its versions", Errors: []int{http.StatusConflict},
		Description: "Running calls and campaigns keep their version. 409 invalid_state with used_by while a pathway references the agent.",
	}, router.HandleDeleteByID(domain.PrefixAgent, "agent", s.agents, Agents.DeleteAgent))
	s.registerVersions(tag, path+"/{id}")
}

// VersionPath reads the id of an agent and the number of a version from the path.
type VersionPath struct {
	router.IDParam
	Version int `path:"version" minimum:"1" maximum:"999999" doc:"The number of the version."`
}

// OnInboundSecret is the response with the secret that signs the on_inbound requests of an agent.
type OnInboundSecret struct {
	Object     string `json:"object" example:"on_inbound_secret"`
	AgentID    string `json:"agent_id" doc:"The agent."`
	Secret     string `json:"secret" doc:"The secret. Only in this response." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
	SecretHint string `json:"secret_hint" doc:"The last characters of the secret."`
}

func (s *agentHandlers) registerVersions(tag, path string) {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/on-inbound-secret", ID: "signOnInbound", Credential: router.KeyOrSession, Tag: tag, Summary: "Create the secret that signs on_inbound requests",
		Description: "The secret signs each later request to on_inbound like a webhook delivery (X-Svc-Signature, webhook-id, webhook-timestamp, webhook-signature). webhook-id is the id of the call. " +
			"It replaces an earlier secret at once and applies to the draft and all versions. Without a secret requests are not signed. Only this response contains the secret.",
	}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[OnInboundSecret], error) {
		id, err := router.PathID(domain.PrefixAgent, in.ID)
		if err != nil {
			return nil, err
		}
		secret, err := s.agents.SignOnInbound(ctx, p, id)
		return router.Respond(OnInboundSecret{Object: "on_inbound_secret", AgentID: id, Secret: secret, SecretHint: webhook.SecretHint(secret)}, err)
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/publish", ID: "publishAgent", Tag: tag, Summary: "Publish an agent's draft", Errors: []int{http.StatusConflict},
		Description: "Creates and returns an immutable version. New calls use it. A campaign keeps the version with which it started, unless follow_latest is set. " +
			"Without changes it returns the newest version. More than 1000 versions are 409 invalid_state.",
	}, router.HandleByID(domain.PrefixAgent, s.agents, Agents.PublishAgent, (*domain.AgentVersion).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/versions", ID: "listAgentVersions", Tag: tag, Summary: "List the versions of an agent"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[router.List[*domain.AgentVersion]], error) {
			id, err := router.PathID(domain.PrefixAgent, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.agents.ListAgentVersions(ctx, p, id, in.Query())
			return router.Page(l, err, (*domain.AgentVersion).Public)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/versions/{version}", ID: "getAgentVersion", Tag: tag, Summary: "Get a version of an agent"},
		func(ctx context.Context, p domain.Principal, in *VersionPath) (*router.Response[*domain.AgentVersion], error) {
			id, err := router.PathID(domain.PrefixAgent, in.ID)
			if err != nil {
				return nil, err
			}
			return router.RespondPublic(s.agents.AgentVersion(ctx, p, id, in.Version))
		})
}

// CheckRules returns the violations of the rules for an agent that the JSON schema cannot express.
func (n *NewAgent) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Agent{})
}
