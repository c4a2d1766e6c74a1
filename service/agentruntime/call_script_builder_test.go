package agentruntime_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/service/agentruntime"
	"github.com/callboard/callboard/service/record/recordtest"
)

// library is a fake store of one agent. It counts how often the agent is read.
type library struct {
	agent   domain.Agent
	changes uint64
	reads   int
}

func (l *library) Changes(string) uint64 { return l.changes }

func (l *library) Agent(_ context.Context, p domain.Principal, id string) (*domain.Agent, error) {
	l.reads++
	if id != "agent_1" || p.WorkspaceID != recordtest.Workspace {
		return nil, domain.NotFound("agent")
	}
	return &l.agent, nil
}

func (l *library) PublishedVersion(context.Context, *domain.Agent) (*domain.AgentVersion, error) {
	return &domain.AgentVersion{Agent: l.agent}, nil
}

func (*library) Pathway(context.Context, domain.Principal, string) (*domain.Pathway, error) {
	return nil, domain.NotFound("pathway")
}

// voice is a fake synthesizer that has only the engine "here".
type voice struct{}

func (voice) Speak(context.Context, speech.Request) (media.Clip, error) { return media.Clip{}, nil }
func (voice) HasEngine(engine string) bool                              { return engine == "here" }

func newScripts(agent domain.Agent) (*agentruntime.Scripts, *library) {
	l := &library{agent: agent}
	l.agent.ID = "agent_1"
	return agentruntime.NewScripts(agentruntime.ScriptsConfig{
		Store: l, Agents: l, Pathways: l, Speaker: voice{}, Engines: func(*domain.Script) pathway.Capabilities { return pathway.Capabilities{} },
	}), l
}

func TestCachedScriptIsReadAgainAfterChange(t *testing.T) {
	t.Parallel()
	scripts, l := newScripts(domain.Agent{FirstMessage: "Hello.", Voice: domain.Voice{Engine: "here"}})
	p := recordtest.Live(recordtest.Workspace)
	for range 3 {
		s, err := scripts.Script(t.Context(), p, "agent_1", "")
		require.NoError(t, err)
		assert.Equal(t, pathway.MessagePathway("Hello."), s.Pathway)
	}
	assert.LessOrEqual(t, l.reads, 2, "read once, or twice on a slow machine")
	l.agent.FirstMessage, l.changes = "Good day.", 1
	s, err := scripts.Script(t.Context(), p, "agent_1", "")
	require.NoError(t, err)
	assert.Equal(t, pathway.MessagePathway("Good day."), s.Pathway)
	_, err = scripts.Script(t.Context(), recordtest.Live(recordtest.OtherWorkspace), "agent_1", "")
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestAgentWithoutConfiguredEngineIsRefused(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]domain.Agent{
		"another voice":        {FirstMessage: "Hello.", Voice: domain.Voice{Engine: "elsewhere"}},
		"no voice":             {FirstMessage: "Hello."},
		"a realtime engine":    {FirstMessage: "Hello.", Voice: domain.Voice{Engine: "here"}, Realtime: &domain.AgentRealtime{Engine: "fast"}},
		"only a system prompt": {SystemPrompt: "Be kind.", Voice: domain.Voice{Engine: "here"}},
	} {
		scripts, _ := newScripts(agent)
		_, err := scripts.Script(t.Context(), recordtest.Live(recordtest.Workspace), "agent_1", "")
		assert.Equal(t, []any{domain.CodeNoEngine, "agent_id"}, []any{domain.CodeOf(err), recordtest.ErrorField(err)}, name)
	}
}

func TestScriptRequiresVoicemailMessage(t *testing.T) {
	t.Parallel()
	scripts, _ := newScripts(domain.Agent{FirstMessage: "Hello.", Voice: domain.Voice{Engine: "here"}, AMD: &domain.AgentAMD{Mode: domain.AMDWait, VoicemailAction: domain.AMDMessage}})
	_, err := scripts.ScriptForCall(t.Context(), recordtest.Live(recordtest.Workspace), &domain.NewCall{AgentID: "agent_1"})
	assert.Equal(t, "voicemail.message", recordtest.ErrorField(err))
}
