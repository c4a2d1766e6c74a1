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

// Agents are who speaks. In every Update here and below, change works on a
// fresh copy of the stored noun and may be called again after a conflict; its
// error ends the update and is returned.
type Agents interface {
	// CreateAgent publishes version 1. What the agent names and is not there is
	// 422 with param: pathway_id, tools[i], knowledge_base_ids[i].
	CreateAgent(ctx context.Context, p domain.Principal, a *domain.Agent) (*domain.Agent, error)
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
	ListAgents(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Agent], error)
	// UpdateAgent changes the draft.
	UpdateAgent(ctx context.Context, p domain.Principal, id string, change func(*domain.Agent) error) (*domain.Agent, error)
	// DeleteAgent: invalid_state with used_by while a pathway names it.
	DeleteAgent(ctx context.Context, p domain.Principal, id string) error
	// PublishAgent makes a version of the draft; the newest one where nothing
	// has changed.
	PublishAgent(ctx context.Context, p domain.Principal, id string) (*domain.AgentVersion, error)
	AgentVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.AgentVersion, error)
	ListAgentVersions(ctx context.Context, p domain.Principal, id string, q record.PageQuery) (record.Page[*domain.AgentVersion], error)
	// SignOnInbound makes the secret that signs what on_inbound is asked.
	SignOnInbound(ctx context.Context, p domain.Principal, id string) (secret string, err error)
}

// agentHandlers serves the operations of agents.
type agentHandlers struct {
	*router.Router

	agents Agents
}

// NewVoice is a voice as it is sent.
type NewVoice struct {
	Engine string  `json:"engine,omitempty" maxLength:"100" example:"espeak-ng" doc:"espeak-ng; wav: prompt files, and espeak-ng where there is none; or an engine of the installation. Empty: its own choice."`
	Name   string  `json:"name,omitempty" example:"en-us"`
	Rate   float64 `json:"rate,omitempty" minimum:"0.5" maximum:"2"`

	Pronunciations []domain.Pronunciation `json:"pronunciations,omitempty" doc:"How words are said that it would say wrongly; 200 at most. Transcripts keep the word."`
}

// NewAgentLimits are the limits of an agent as they are sent.
type NewAgentLimits struct {
	SilenceSeconds int `json:"silence_seconds,omitempty" minimum:"0" maximum:"600"`
	MaxMinutes     int `json:"max_minutes,omitempty" minimum:"0" maximum:"240"`
}

// NewDestination is a destination of an agent's transfers as it is sent.
type NewDestination struct {
	Name  string              `json:"name" example:"billing"`
	Phone string              `json:"phone,omitempty" doc:"The extension or the id of a phone; phone or to is required."`
	To    string              `json:"to,omitempty" example:"+12025550123"`
	Mode  domain.TransferMode `json:"mode,omitempty" enum:"blind,attended,bridge"`
}

// NewAgentTransfer is what an agent may do with its callers as it is sent.
type NewAgentTransfer struct {
	Destinations []NewDestination `json:"destinations,omitempty" doc:"Whom callers may be handed to, by name."`
	AcceptRefer  bool             `json:"accept_refer,omitempty" doc:"The far end may send the call elsewhere, by REFER, within the destination rules."`
	Ringback     *bool            `json:"ringback,omitempty" default:"true" doc:"The caller hears it ring while a transfer is dialled."`
	HoldMusic    string           `json:"hold_music,omitempty" maxLength:"100" example:"wav:waiting.wav" doc:"What a party hears while the other side of a bridged call has put it on hold, and the caller while a transfer is dialled without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder."`
}

// NewAgentInbound is how an agent takes calls as it is sent.
type NewAgentInbound struct {
	Answer      string `json:"answer,omitempty" enum:"ring,direct,early" doc:"ring: 180, then 200. direct: 200 at once. early: 183 with a ringing of ours, for 3 seconds unless ring_seconds says otherwise."`
	RingSeconds int    `json:"ring_seconds,omitempty" minimum:"0" maximum:"60" doc:"ring, early: how long before the answer."`
}

// NewAgent is an agent as it is sent.
type NewAgent struct {
	Name             string                 `json:"name"`
	PathwayID        string                 `json:"pathway_id,omitempty"`
	SystemPrompt     string                 `json:"system_prompt,omitempty" doc:"What a language model is told of its part. An agent that has neither a pathway nor a first_message speaks by it alone, and its calls need such a model."`
	FirstMessage     string                 `json:"first_message,omitempty" doc:"Without a pathway: all that the agent says."`
	Language         string                 `json:"language,omitempty" example:"en-US" doc:"The language that it speaks, as BCP 47 writes it. Default: en-US."`
	Timezone         string                 `json:"timezone,omitempty" example:"America/New_York" doc:"Its zone, for times in texts. Default: UTC."`
	Voice            *NewVoice              `json:"voice,omitempty"`
	Languages        []domain.AgentLanguage `json:"languages,omitempty" nullable:"false" doc:"Languages that its pathway can go over to (set.language of a node), with its voice in each; 20 at most."`
	LLM              *NewLLM                `json:"llm,omitempty" doc:"The language model."`
	STT              *NewSTT                `json:"stt,omitempty" doc:"How it hears."`
	Realtime         *NewRealtime           `json:"realtime,omitempty" doc:"An engine that hears and speaks by itself; calls of such an agent need it."`
	TurnTaking       *NewTurnTaking         `json:"turn_taking,omitempty" doc:"When it takes the word. It counts where speech is heard."`
	AMD              *NewAMD                `json:"amd,omitempty" doc:"What it does about answering machines."`
	Limits           *NewAgentLimits        `json:"limits,omitempty"`
	Transfer         *NewAgentTransfer      `json:"transfer,omitempty"`
	Inbound          *NewAgentInbound       `json:"inbound,omitempty"`
	KnowledgeBaseIDs []string               `json:"knowledge_base_ids,omitempty" nullable:"false" doc:"What it may look things up in; 20 at most."`
	Tools            []string               `json:"tools,omitempty" nullable:"false" doc:"What its model may do where the agent has no pathway: tools by id, and the built-in appointment, sms, transfer, dnc and end; 50 at most."`
	OnInbound        *NewInboundHook        `json:"on_inbound,omitempty" doc:"Whom to ask when a call comes in."`
	Analysis         *NewAnalysis           `json:"analysis,omitempty" doc:"What is wanted to be known of its calls."`
	SMS              *NewAgentSMS           `json:"sms,omitempty" doc:"How it answers text messages to its numbers; not at all unless said."`
	Extension        string                 `json:"extension,omitempty" doc:"2 to 6 digits that phones of the workspace dial to reach the agent." example:"200"`
	Metadata         map[string]string      `json:"metadata,omitempty"`
}

// apply writes the settings to an agent, and checks the agent.
func (n *NewAgent) apply(a *domain.Agent) error {
	a.Name, a.PathwayID, a.Extension, a.Metadata = n.Name, n.PathwayID, n.Extension, n.Metadata
	a.SystemPrompt, a.FirstMessage = n.SystemPrompt, n.FirstMessage
	a.Language, a.Timezone, a.Languages = n.Language, n.Timezone, slices.Clone(n.Languages)
	a.Voice, a.Limits, a.Inbound = domain.Voice(router.ValueOrZero(n.Voice)), domain.AgentLimits(router.ValueOrZero(n.Limits)), domain.AgentInbound(router.ValueOrZero(n.Inbound))
	a.KnowledgeBaseIDs, a.Tools = slices.Clone(n.KnowledgeBaseIDs), slices.Clone(n.Tools)
	transfer := router.ValueOrZero(n.Transfer)
	if router.ValueOrZero(transfer.Ringback) { // the default, with and without transfer settings
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

// registerAgents registers the operations of agents.
func registerAgents(r *router.Router, agents Agents) {
	s := &agentHandlers{Router: r, agents: agents}
	const tag, path = "Agents", "/v1/agents"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createAgent", Tag: tag, Status: http.StatusCreated, Summary: "Create an agent",
		Description: "It is published as version 1 and can take calls at once.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewAgent }) (*router.Response[*domain.Agent], error) {
		a := &domain.Agent{}
		if err := in.Body.apply(a); err != nil {
			return nil, err
		}
		made, err := s.agents.CreateAgent(ctx, p, a)
		if err != nil {
			return nil, err
		}
		return router.RespondCreated(ctx, made.Public(), nil)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAgents", Tag: tag, Summary: "List agents"},
		router.HandleList(s.agents, Agents.ListAgents, (*domain.Agent).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getAgent", Tag: tag, Summary: "Get an agent", Description: "Its draft: unpublished_changes tells what calls do not speak yet."},
		router.HandleByID(domain.PrefixAgent, s.agents, Agents.Agent, (*domain.Agent).Public))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", ID: "updateAgent", Tag: tag, Summary: "Change an agent's draft",
		Description: "Calls speak the changes once they are published. name, extension and metadata hold at once.",
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
		Description: "Calls and campaigns that are running keep what they pinned. 409 invalid_state with used_by while a pathway names it.",
	}, router.HandleDeleteByID(domain.PrefixAgent, "agent", s.agents, Agents.DeleteAgent))
	s.registerVersions(tag, path+"/{id}")
}

// VersionOne names a version of an agent in the path.
type VersionOne struct {
	router.IDParam
	Version int `path:"version" minimum:"1" maximum:"999999" doc:"The version's number."`
}

// OnInboundSecret signs what an agent's on_inbound is asked.
type OnInboundSecret struct {
	Object     string `json:"object" example:"on_inbound_secret"`
	AgentID    string `json:"agent_id" doc:"The agent."`
	Secret     string `json:"secret" doc:"Shown here and nowhere else." example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"`
	SecretHint string `json:"secret_hint" doc:"The last characters of the secret."`
}

func (s *agentHandlers) registerVersions(tag, path string) {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/on-inbound-secret", ID: "signOnInbound", Credential: router.KeyOrSession, Tag: tag, Summary: "Make the secret that signs on_inbound",
		Description: "From now on each request to the agent's on_inbound is signed by it as a delivery of an event is (X-Svc-Signature, webhook-id, webhook-timestamp, webhook-signature), the id being the call's. " +
			"It takes the place of the one before at once, and holds for the draft and all versions. Without one requests are not signed. The secret is in this answer only.",
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
		Description: "Makes a version, which never changes, and answers it. Calls that begin from now on speak it; a campaign goes on with the version that it began with, unless it says follow_latest. " +
			"Without changes the newest version is answered. An agent has 1000 versions at most: 409 invalid_state.",
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
		func(ctx context.Context, p domain.Principal, in *VersionOne) (*router.Response[*domain.AgentVersion], error) {
			id, err := router.PathID(domain.PrefixAgent, in.ID)
			if err != nil {
				return nil, err
			}
			return router.RespondPublic(s.agents.AgentVersion(ctx, p, id, in.Version))
		})
}

// CheckRules checks what the schema cannot express.
func (n *NewAgent) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Agent{})
}
