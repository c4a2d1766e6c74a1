package pathway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// realtimeSession returns the state of a conversation that has one converse node and uses a realtime engine.
func realtimeSession(edges ...domain.Edge) pathway.State {
	return pathway.New(domain.Script{Language: "en-US", Pathway: domain.Pathway{
		Start: "talk",
		Nodes: []domain.Node{
			{ID: "talk", Type: domain.NodeConverse, Prompt: "Talk", Tools: []string{"end", "tool_1"}, TimeoutSeconds: 3, Retries: 1, MaxTurns: 40},
			{ID: "bye", Type: domain.NodeEnd, Prompt: "Bye."},
			{ID: "person", Type: domain.NodeEnd, Prompt: "A person."},
		},
		Edges: append([]domain.Edge{{From: "talk", To: "bye", When: domain.When{Type: domain.EdgeTimeout}}}, edges...),
	}}, nil).WithRealtime(true)
}

// stepAll applies all inputs and returns the commands of the last input.
func stepAll(s pathway.State, all ...pathway.Input) (pathway.State, []pathway.Command) {
	var commands []pathway.Command
	for _, in := range all {
		s, commands = pathway.Step(s, in)
	}
	return s, commands
}

func startRealtime(t *testing.T, s pathway.State) (pathway.State, pathway.StartRealtime) {
	t.Helper()
	s, commands := pathway.Step(s, pathway.Started{})
	require.Len(t, commands, 1)
	l, ok := commands[0].(pathway.StartRealtime)
	require.True(t, ok, "%v", commands)
	return s, l
}

func TestEngineTakesConverseNodeAndSpeaksFirst(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	assert.True(t, l.Speak)
	assert.True(t, l.Interruptible)
	assert.Equal(t, "Talk", l.Prompt)
	round, lives := s.RealtimeRound()
	assert.True(t, lives)
	assert.Equal(t, round, l.Round)
	s, commands := stepAll(s, pathway.RealtimeIdle{Round: round})
	assert.Equal(t, []pathway.Command{pathway.CollectInput{Length: 1, Timeout: 3 * time.Second}}, commands, "it is the turn of the caller")
	s, commands = stepAll(s, pathway.Timeout{})
	assert.Equal(t, []pathway.Command{pathway.RequestRealtimeAnswer{Text: "(The caller says nothing.)"}}, commands)
	s, commands = stepAll(s, pathway.RealtimeIdle{Round: round}, pathway.Timeout{})
	assert.Equal(t, []pathway.Command{pathway.Say{Node: "bye", Text: "Bye.", Shown: "Bye."}}, commands, "a caller who stays silent is left")
	_, lives = s.RealtimeRound()
	assert.False(t, lives)
}

func TestEngineMayUseOnlyToolsOfTheNode(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	s, commands := stepAll(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "a", Name: "transfer_call", Arguments: `{"destination":"+1900"}`}}})
	assert.Equal(t, []pathway.Command{
		pathway.ToolCallRefused{Node: "talk", Name: "transfer_call", Why: "there is no such tool here"},
		pathway.SendToolResult{ID: "a", Text: "error: there is no such tool here"},
		pathway.RequestRealtimeAnswer{},
	}, commands)
	s, commands = stepAll(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "b", Name: "orders", Tool: "tool_2", Arguments: `{}`}}})
	assert.IsType(t, pathway.ToolCallRefused{}, commands[0], "also not the tools of another node")
	s, commands = stepAll(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "c", Name: "orders", Tool: "tool_1", Arguments: `{"n":7}`}}})
	require.Len(t, commands, 1)
	act, ok := commands[0].(pathway.ActionRequest)
	require.True(t, ok)
	assert.Equal(t, "tool_1", act.Target)
	s, commands = stepAll(s, pathway.RealtimeIdle{Round: l.Round})
	assert.Empty(t, commands, "it is being done")
	_, commands = stepAll(s, pathway.ActionEnded{Round: act.Round, ID: "c", OK: true, Result: `{"state":"sent"}`})
	assert.Equal(t, []pathway.Command{pathway.SendToolResult{ID: "c", Text: `{"state":"sent"}`}, pathway.RequestRealtimeAnswer{}}, commands)
}

func TestEngineEndsCallAfterGoodbyeWasPlayed(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	s, commands := stepAll(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "a", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}})
	assert.Equal(t, []pathway.Command{pathway.SendToolResult{ID: "a", Text: "done"}}, commands)
	s, commands = stepAll(s, pathway.RealtimeIdle{Round: l.Round - 1})
	assert.Empty(t, commands, "of another round")
	_, commands = stepAll(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeConfirmed}}, commands, "the agreed action is executed although the engine is gone")
	_, commands = stepAll(s, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeConfirmed}}, commands)
}

func TestCallerWordsOrKeyOfEdgeEndRealtimeConversation(t *testing.T) {
	t.Parallel()
	edges := []domain.Edge{
		{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person", Words: []string{"a human"}}},
		{From: "talk", To: "person", When: domain.When{Type: domain.EdgeDTMF, Digits: "0"}},
	}
	person := pathway.Say{Node: "person", Text: "A person.", Shown: "A person."}
	s, l := startRealtime(t, realtimeSession(edges...))
	_, commands := stepAll(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "Give me a human, please."})
	assert.Contains(t, commands, pathway.Command(person))
	s2, commands := stepAll(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByAgent, Text: "Shall a human call?"}, pathway.Digit{Key: '5'})
	assert.Empty(t, commands)
	_, commands = stepAll(s2, pathway.Digit{Key: '0'})
	assert.Equal(t, []pathway.Command{person}, commands)
}

func TestEngineFailureFallsBackToModelOrMessage(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	s, _ = stepAll(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "Hello?"}, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByAgent, Text: pathway.MarkInterrupted("Good", "Good morning")})
	next, commands := stepAll(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	require.Len(t, commands, 1)
	think, ok := commands[0].(pathway.ModelRequest)
	require.True(t, ok)
	assert.Equal(t, []pathway.Message{{By: pathway.ByCaller, Text: "Hello?"}, {By: pathway.ByAgent, Text: "Good —"}}, think.History)
	_, commands = stepAll(next, pathway.ModelSentence{Round: think.Round, Text: "Good morning."})
	assert.IsType(t, pathway.Say{}, commands[0], "the model has taken its place")
	_, commands = stepAll(s, pathway.RealtimeLost{Round: l.Round})
	assert.Equal(t, "bye", commands[0].(pathway.Say).Node, "where there is none, the edge for it")
	alone := pathway.New(domain.Script{Language: "en-US", Pathway: pathway.ModelPathway("", nil, nil)}, nil).WithRealtime(true)
	alone, l = startRealtime(t, alone)
	alone, commands = stepAll(alone, pathway.RealtimeLost{Round: l.Round})
	assert.Equal(t, "I'm sorry, I can't help you right now. Goodbye.", commands[0].(pathway.Say).Text)
	_, commands = stepAll(alone, pathway.PromptDone{})
	assert.Equal(t, "realtime_failed", commands[0].(pathway.End).Reason)
}

func TestFinishedEngineLeavesAfterPlayback(t *testing.T) {
	t.Parallel()
	always := domain.Edge{From: "talk", To: "person", When: domain.When{Type: domain.EdgeAlways}}
	s, l := startRealtime(t, realtimeSession(always))
	s, commands := stepAll(s, pathway.RealtimeDone{Round: l.Round - 1}, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.CollectInput{Length: 1, Timeout: 3 * time.Second}}, commands, "of another round")
	s, commands = stepAll(s, pathway.RealtimeDone{Round: l.Round})
	assert.Empty(t, commands)
	_, commands = stepAll(s, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, "person", commands[0].(pathway.Say).Node)
	s, l = startRealtime(t, realtimeSession())
	_, commands = stepAll(s, pathway.RealtimeDone{Round: l.Round}, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeCompleted}}, commands, "where nothing leads on, the call ends")
}

func TestEngineIsLeftAfterMaxAnswers(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	var commands []pathway.Command
	for range 40 {
		s, commands = stepAll(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "And then?"}, pathway.RealtimeToolCalls{Round: l.Round})
		assert.Empty(t, commands)
	}
	_, commands = stepAll(s, pathway.RealtimeToolCalls{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.Say{Node: "bye", Text: "Bye.", Shown: "Bye."}}, commands)
}
