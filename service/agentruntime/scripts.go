package agentruntime

import (
	"context"
	"strings"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// ScriptsConfig holds what Scripts need.
type ScriptsConfig struct {
	Store    scriptStore
	Agents   agents
	Pathways pathways
	// Speaker, Recognizer and Realtime are the engines of this node; nil: there are none.
	Speaker    speech.Synthesizer
	Recognizer speech.Recognizer
	Realtime   *speech.RealtimeEngines
	// Engines says what calls with a script can do besides the rules of its pathway.
	Engines func(*domain.Script) pathway.Capabilities
}

// scriptStore counts the changes of agents and pathways.
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

// Scripts puts together what calls say: the voice, limits and tools of an agent
// and the steps of a pathway.
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

// NewScripts returns the scripts of the workspaces of a node.
func NewScripts(c ScriptsConfig) *Scripts {
	return &Scripts{
		store: c.Store, agents: c.Agents, pathways: c.Pathways, speaker: c.Speaker, recognizer: c.Recognizer, realtime: c.Realtime, engines: c.Engines,
	}
}

// Script pins what a call speaks: the agent's voice and limits, and the
// pathway named beside it or its own.
func (r *Scripts) Script(ctx context.Context, p domain.Principal, agentID, pathwayID string) (domain.Script, error) {
	return r.scripts.Current(r.store, p.WorkspaceID, string(p.Environment)+"/"+agentID+"/"+pathwayID, func() (domain.Script, error) {
		return r.read(ctx, p, agentID, pathwayID, nil)
	})
}

// ScriptForCall pins what an order's call speaks: as its agent does, but for what
// the order says otherwise.
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
		return s, domain.FieldError("overrides.first_message", domain.CodeValidation, "is said by agents without a pathway only; this call walks "+s.Pathway.ID)
	}
	if s.AMD = o.AMD.ApplyTo(s.AMD); s.AMD.MachineAction() == domain.AMDMessage && strings.TrimSpace(s.AMD.Message) == "" {
		return s, domain.FieldError("voicemail.message", domain.CodeValidation, "is required where a message is to be left and the agent has none (amd.message)")
	}
	return s, nil
}

// noEngine refuses an agent whose calls nothing here can speak.
func noEngine(format string, args ...any) error {
	e := domain.Errorf(domain.CodeNoEngine, format, args...)
	e.Param = "agent_id"
	return e
}

// checkEngines refuses an agent that wants engines which there are not.
func (r *Scripts) checkEngines(a *domain.Agent) error {
	if v, ok := r.speaker.(interface{ Speaks(engine string) bool }); ok && !v.Speaks(a.Voice.Engine) {
		if a.Voice.Engine == "" {
			return noEngine("agent %s has no voice: install espeak-ng, configure an engine (engines_file), or put WAV files into the folder prompts", a.ID)
		}
		return noEngine("agent %s speaks by the engine %s (voice.engine), which is not configured here", a.ID, a.Voice.Engine)
	}
	if h, ok := r.recognizer.(interface{ Listens(engine string) bool }); ok && a.STT != nil && !h.Listens(a.STT.Engine) {
		return noEngine("agent %s hears by the engine %s (stt.engine), which is not configured here", a.ID, a.STT.Engine)
	}
	if rt := a.Realtime; rt != nil && !r.realtime.HasEngine(rt.Engine) {
		return noEngine("agent %s wants a realtime engine (realtime.engine %q), which is not configured here", a.ID, rt.Engine)
	}
	return nil
}

// agentParts is what an agent brings along besides what its script says.
type agentParts struct {
	firstMessage          string // message
	modelOnly             bool   // it speaks by a model alone
	tools, knowledgeBases []string
	pathwayID             string
}

// applyAgent lets a script be an agent's.
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

// applySettings lets a script speak, hear and think as an agent does, or a call without
// one.
func (r *Scripts) applySettings(a *domain.Agent, s *domain.Script) error {
	s.Language, s.Timezone, s.Voice, s.STT, s.Limits, s.Turns = a.Language, a.Timezone, a.Voice, a.STT, a.Limits, a.TurnTaking
	s.Languages = a.Languages
	s.System, s.LLM, s.Realtime, s.Analysis = a.SystemPrompt, a.LLM, a.Realtime, a.Analysis
	return r.checkEngines(a)
}

// realtimePathway is the pathway of an agent that has none and whose engine speaks by
// itself. One that is told no words has none to begin with: they are said before.
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
			return s, noEngine("agent %s speaks by a language model (it has a system_prompt, but neither a pathway nor a first_message), and none is configured here", agentID)
		}
		s.Pathway = pathway.MessagePathway(by.firstMessage)
		return s, nil
	}
	w, err := r.pathways.Pathway(ctx, p, pathwayID)
	if err != nil {
		return s, err
	}
	if needs := pathway.MissingCapabilities(w, r.engines(&s)); len(needs) > 0 {
		e := domain.Errorf(domain.CodeNoEngine, "pathway %s cannot be walked: %s", w.ID, needs[0].Message)
		e.Param, e.Details = "pathway_id", needs
		return s, e
	}
	s.Pathway = *w
	return s, nil
}
