package agentruntime

import (
	"context"
	"strings"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// ScriptsConfig holds the dependencies of Scripts.
type ScriptsConfig struct {
	Store    scriptStore
	Agents   agents
	Pathways pathways
	// Speaker, Recognizer and Realtime are the speech engines of this node. A field is nil if the node has no such engine.
	Speaker    speech.Synthesizer
	Recognizer speech.Recognizer
	Realtime   *speech.RealtimeEngines
	// Engines returns the capabilities of the engines that a script selects.
	Engines func(*domain.Script) pathway.Capabilities
}

// scriptStore returns the number of changes to the agents and pathways of a workspace. Cached scripts of an older number
// are invalid.
type scriptStore interface {
	Changes(workspaceID string) uint64
}

type agents interface {
	Agent(ctx context.Context, p domain.Principal, id string) (*domain.Agent, error)
	PublishedVersion(ctx context.Context, a *domain.Agent) (*domain.AgentVersion, error)
}

type pathways interface {
	Pathway(ctx context.Context, p domain.Principal, id string) (*domain.Pathway, error)
}

// Scripts builds the scripts of calls from agents and pathways: voice, limits, tools and the steps of the
// conversation. It caches them.
type Scripts struct {
	store      scriptStore
	agents     agents
	pathways   pathways
	speaker    speech.Synthesizer
	recognizer speech.Recognizer
	realtime   *speech.RealtimeEngines
	engines    func(*domain.Script) pathway.Capabilities
	scripts    storecache.Cache[domain.Script]
}

// NewScripts returns the Scripts of a node.
func NewScripts(c ScriptsConfig) *Scripts {
	return &Scripts{
		store: c.Store, agents: c.Agents, pathways: c.Pathways, speaker: c.Speaker, recognizer: c.Recognizer, realtime: c.Realtime, engines: c.Engines,
	}
}

// Script returns the script of a call: the settings of the published agent and a pathway. The pathway is pathwayID or,
// if that is empty, the agent's own one. Errors: not_found, engine_not_configured.
func (r *Scripts) Script(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error) {
	return r.scripts.Current(r.store, p.WorkspaceID, string(p.Environment)+"/"+agentID+"/"+pathwayID, func() (domain.Script, error) {
		return r.read(ctx, p, agentID, pathwayID, nil)
	})
}

// ScriptForCall returns the script of a call request: the script of its agent with the overrides of the request.
func (r *Scripts) ScriptForCall(ctx context.Context, p domain.Principal, o *domain.NewCall) (s domain.Script, err error) {
	if o.Overrides == nil {
		s, err = r.Script(ctx, p, o.AgentID, o.PathwayID)
	} else {
		s, err = r.read(ctx, p, o.AgentID, o.PathwayID, o.Overrides)
	}
	if err != nil {
		return s, err
	}
	if o.Overrides != nil && o.Overrides.FirstMessage != "" && s.Pathway.ID != "" {
		return s, domain.FieldError("overrides.first_message", domain.CodeValidation, "is spoken only by agents without a pathway; this call uses the pathway "+s.Pathway.ID)
	}
	if s.AMD = o.AMD.ApplyTo(s.AMD); s.AMD.MachineAction() == domain.AMDMessage && strings.TrimSpace(s.AMD.Message) == "" {
		return s, domain.FieldError("voicemail.message", domain.CodeValidation, "is required for leaving a message, because the agent has no amd.message")
	}
	return s, nil
}

// engineNotConfigured returns the error engine_not_configured for the request field agent_id.
func engineNotConfigured(format string, args ...any) error {
	e := domain.Errorf(domain.CodeNoEngine, format, args...)
	e.Param = "agent_id"
	return e
}

// checkEngines returns an error if the agent selects an engine that is not configured.
func (r *Scripts) checkEngines(a *domain.Agent) error {
	if v, ok := r.speaker.(engineChain); ok && !v.HasEngine(a.Voice.Engine) {
		if a.Voice.Engine == "" {
			return engineNotConfigured("agent %s has no voice: install espeak-ng, configure an engine (engines_file), or put WAV files into the folder prompts", a.ID)
		}
		return engineNotConfigured("agent %s uses the speech engine %s (voice.engine), which is not configured", a.ID, a.Voice.Engine)
	}
	if h, ok := r.recognizer.(engineChain); ok && a.STT != nil && !h.HasEngine(a.STT.Engine) {
		return engineNotConfigured("agent %s uses the recognition engine %s (stt.engine), which is not configured", a.ID, a.STT.Engine)
	}
	if rt := a.Realtime; rt != nil && !r.realtime.HasEngine(rt.Engine) {
		return engineNotConfigured("agent %s uses the realtime engine %q (realtime.engine), which is not configured", a.ID, rt.Engine)
	}
	return nil
}

// agentParts are the settings of an agent that choose its pathway or from which a default pathway is built.
type agentParts struct {
	firstMessage          string // text that the agent speaks first
	modelOnly             bool   // the agent speaks only through a language model
	tools, knowledgeBases []string
	pathwayID             string
}

// applyAgent sets in a script the settings of the published version of an agent, changed by the overrides of a call.
func (r *Scripts) applyAgent(ctx context.Context, p domain.Principal, agentID string, over *domain.CallOverrides, s *domain.Script) (by agentParts, err error) {
	drafted, err := r.agents.Agent(ctx, p, agentID)
	if err != nil {
		return by, err
	}
	version, err := r.agents.PublishedVersion(ctx, drafted)
	if err != nil {
		return by, err
	}
	a := over.ApplyTo(version.Agent)
	s.Version, s.AgentID, s.AgentName, s.UnitID = a.Version, a.ID, a.Name, domain.UnitID(a.ID)
	s.Transfer, s.Inbound, s.AMD, s.Hook, s.SMS = a.Transfer, a.Inbound, a.AMD, a.OnInbound, a.SMS
	if err = r.applySettings(&a, s); err != nil {
		return by, err
	}
	return agentParts{
		firstMessage: a.FirstMessage, modelOnly: r.engines(s).Realtime || strings.TrimSpace(a.SystemPrompt) != "" && r.engines(s).Model,
		tools: a.Tools, knowledgeBases: a.KnowledgeBaseIDs, pathwayID: a.PathwayID,
	}, nil
}

// applySettings sets language, voice, recognition, model and limits in a script, from an agent or from the
// overrides of a call.
func (r *Scripts) applySettings(a *domain.Agent, s *domain.Script) error {
	s.Language, s.Timezone, s.Voice, s.STT, s.Limits, s.Turns = a.Language, a.Timezone, a.Voice, a.STT, a.Limits, a.TurnTaking
	s.Languages = a.Languages
	s.System, s.LLM, s.Realtime, s.Analysis = a.SystemPrompt, a.LLM, a.Realtime, a.Analysis
	return r.checkEngines(a)
}

// realtimePathway returns the default pathway of an agent whose realtime engine speaks. For an external media stream
// a synthesizer speaks the first message. Other realtime engines speak the first message themselves.
func (r *Scripts) realtimePathway(s *domain.Script, by *agentParts) domain.Pathway {
	if r.realtime.HasMediaStream(s.Realtime.Engine) {
		return pathway.ModelPathway(by.firstMessage, by.tools, by.knowledgeBases)
	}
	return pathway.RealtimePathway(by.firstMessage, by.tools, by.knowledgeBases)
}

func (r *Scripts) read(ctx context.Context, p domain.Principal, agentID, pathwayID string, over *domain.CallOverrides) (domain.Script, error) {
	s := domain.Script{UnitID: domain.UnitID(p.WorkspaceID), Language: "en-US", Timezone: "UTC"}
	var by agentParts
	var err error
	if agentID != "" {
		by, err = r.applyAgent(ctx, p, agentID, over, &s)
	} else if over != nil {
		a := over.ApplyTo(domain.Agent{Language: s.Language, Timezone: s.Timezone})
		err = r.applySettings(&a, &s)
	}
	if err != nil {
		return s, err
	}
	if pathwayID == "" {
		pathwayID = by.pathwayID
	}
	if pathwayID == "" {
		if by.modelOnly && r.engines(&s).Realtime {
			s.Pathway = r.realtimePathway(&s, &by)
			return s, nil
		}
		if by.modelOnly && r.engines(&s).Text {
			s.Pathway = pathway.ModelPathway(by.firstMessage, by.tools, by.knowledgeBases)
			return s, nil
		}
		if by.firstMessage == "" {
			return s, engineNotConfigured("agent %s needs a language model, because it has a system_prompt but neither a pathway nor a first_message; no language model is configured", agentID)
		}
		s.Pathway = pathway.MessagePathway(by.firstMessage)
		return s, nil
	}
	w, err := r.pathways.Pathway(ctx, p, pathwayID)
	if err != nil {
		return s, err
	}
	if needs := pathway.MissingCapabilities(w, r.engines(&s)); len(needs) > 0 {
		e := domain.Errorf(domain.CodeNoEngine, "pathway %s cannot be used: %s", w.ID, needs[0].Message)
		e.Param, e.Details = "pathway_id", needs
		return s, e
	}
	s.Pathway = *w
	return s, nil
}

// engineChain is a synthesizer or recognizer that consists of named engines.
type engineChain interface {
	HasEngine(engine string) bool
}

var (
	_ engineChain = (*speech.SynthesizerChain)(nil)
	_ engineChain = (*speech.RecognizerChain)(nil)
)
