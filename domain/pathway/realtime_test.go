package pathway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// lively is a conversation whose one node is an engine's that hears and speaks
// by itself.
func lively(edges ...domain.Edge) pathway.State {
	return pathway.New(domain.Script{Language: "en-US", Pathway: domain.Pathway{
		Start: "talk",
		Nodes: []domain.Node{
			{ID: "talk", Type: domain.NodeConverse, Prompt: "Talk", Tools: []string{"end", "tool_1"}, TimeoutSeconds: 3, Retries: 1},
			{ID: "bye", Type: domain.NodeEnd, Prompt: "Bye."},
			{ID: "person", Type: domain.NodeEnd, Prompt: "A person."},
		},
		Edges: append([]domain.Edge{{From: "talk", To: "bye", When: domain.When{Type: domain.EdgeTimeout}}}, edges...),
	}}, nil).WithRealtime(true)
}

// steps feeds a state and returns what the last input asks for.
func steps(s pathway.State, all ...pathway.Input) (pathway.State, []pathway.Command) {
	var dos []pathway.Command
	for _, in := range all {
		s, dos = pathway.Step(s, in)
	}
	return s, dos
}

func begins(t *testing.T, s pathway.State) (pathway.State, pathway.StartRealtime) {
	t.Helper()
	s, dos := pathway.Step(s, pathway.Started{})
	require.Len(t, dos, 1)
	l, ok := dos[0].(pathway.StartRealtime)
	require.True(t, ok, "%v", dos)
	return s, l
}

func TestAnEngineHasTheCallerAtAConverseNodeAndSpeaksFirstWhereNobodyHas(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	assert.True(t, l.Speak)
	assert.True(t, l.Interruptible)
	assert.Equal(t, "Talk", l.Prompt)
	round, lives := s.RealtimeRound()
	assert.True(t, lives)
	assert.Equal(t, round, l.Round)
	s, dos := steps(s, pathway.RealtimeIdle{Round: round})
	assert.Equal(t, []pathway.Command{pathway.CollectInput{Length: 1, Timeout: 3 * time.Second}}, dos, "the caller has the word")
	s, dos = steps(s, pathway.Timeout{})
	assert.Equal(t, []pathway.Command{pathway.RequestRealtimeAnswer{Text: "(The caller says nothing.)"}}, dos)
	s, dos = steps(s, pathway.RealtimeIdle{Round: round}, pathway.Timeout{})
	assert.Equal(t, []pathway.Command{pathway.Say{Node: "bye", Text: "Bye.", Shown: "Bye."}}, dos, "who is silent too often is left")
	_, lives = s.RealtimeRound()
	assert.False(t, lives)
}

func TestWhatAnEngineWantsIsDoneOnlyWhereTheNodeOffersIt(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	s, dos := steps(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "a", Name: "transfer_call", Arguments: `{"destination":"+1900"}`}}})
	assert.Equal(t, []pathway.Command{
		pathway.ToolCallRefused{Node: "talk", Name: "transfer_call", Why: "there is no such tool here"},
		pathway.SendToolResult{ID: "a", Text: "error: there is no such tool here"},
		pathway.RequestRealtimeAnswer{},
	}, dos)
	s, dos = steps(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "b", Name: "orders", Tool: "tool_2", Arguments: `{}`}}})
	assert.IsType(t, pathway.ToolCallRefused{}, dos[0], "nor what another node may use")
	s, dos = steps(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "c", Name: "orders", Tool: "tool_1", Arguments: `{"n":7}`}}})
	require.Len(t, dos, 1)
	act, ok := dos[0].(pathway.ActionRequest)
	require.True(t, ok)
	assert.Equal(t, "tool_1", act.Target)
	s, dos = steps(s, pathway.RealtimeIdle{Round: l.Round})
	assert.Empty(t, dos, "it is being done")
	_, dos = steps(s, pathway.ActionEnded{Round: act.Round, ID: "c", OK: true, Result: `{"state":"sent"}`})
	assert.Equal(t, []pathway.Command{pathway.SendToolResult{ID: "c", Text: `{"state":"sent"}`}, pathway.RequestRealtimeAnswer{}}, dos)
}

func TestAnEngineEndsTheCallOnceItsGoodbyeWasHeard(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	s, dos := steps(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "a", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}})
	assert.Equal(t, []pathway.Command{pathway.SendToolResult{ID: "a", Text: "done"}}, dos)
	s, dos = steps(s, pathway.RealtimeIdle{Round: l.Round - 1})
	assert.Empty(t, dos, "of another round")
	_, dos = steps(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeConfirmed}}, dos, "what was agreed is done, also where the engine is gone")
	_, dos = steps(s, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeConfirmed}}, dos)
}

func TestWordsAndKeysThatEdgesNameTakeTheCallerFromTheEngine(t *testing.T) {
	t.Parallel()
	edges := []domain.Edge{
		{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person", Words: []string{"a human"}}},
		{From: "talk", To: "person", When: domain.When{Type: domain.EdgeDTMF, Digits: "0"}},
	}
	person := pathway.Say{Node: "person", Text: "A person.", Shown: "A person."}
	s, l := begins(t, lively(edges...))
	_, dos := steps(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "Give me a human, please."})
	assert.Contains(t, dos, pathway.Command(person))
	s2, dos := steps(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByAgent, Text: "Shall a human call?"}, pathway.Digit{Key: '5'})
	assert.Empty(t, dos)
	_, dos = steps(s2, pathway.Digit{Key: '0'})
	assert.Equal(t, []pathway.Command{person}, dos)
}

func TestWhereAnEngineBreaksTheOthersGoOnOrTheCallerHearsAWord(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	s, _ = steps(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "Hello?"}, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByAgent, Text: pathway.MarkInterrupted("Good")})
	next, dos := steps(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	require.Len(t, dos, 1)
	think, ok := dos[0].(pathway.ModelRequest)
	require.True(t, ok)
	assert.Equal(t, []pathway.Message{{By: pathway.ByCaller, Text: "Hello?"}, {By: pathway.ByAgent, Text: "Good —"}}, think.History)
	_, dos = steps(next, pathway.ModelSentence{Round: think.Round, Text: "Good morning."})
	assert.IsType(t, pathway.Say{}, dos[0], "the model has taken its place")
	_, dos = steps(s, pathway.RealtimeLost{Round: l.Round})
	assert.Equal(t, "bye", dos[0].(pathway.Say).Node, "where there is none, the edge for it")
	alone := pathway.New(domain.Script{Language: "en-US", Pathway: pathway.ModelPathway("", nil, nil)}, nil).WithRealtime(true)
	alone, l = begins(t, alone)
	alone, dos = steps(alone, pathway.RealtimeLost{Round: l.Round})
	assert.Equal(t, "I'm sorry, I can't help you right now. Goodbye.", dos[0].(pathway.Say).Text)
	_, dos = steps(alone, pathway.PromptDone{})
	assert.Equal(t, "realtime_failed", dos[0].(pathway.End).Reason)
}

func TestAnEngineThatIsDoneLeavesTheCallerOnceHeHasHeardIt(t *testing.T) {
	t.Parallel()
	always := domain.Edge{From: "talk", To: "person", When: domain.When{Type: domain.EdgeAlways}}
	s, l := begins(t, lively(always))
	s, dos := steps(s, pathway.RealtimeDone{Round: l.Round - 1}, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.CollectInput{Length: 1, Timeout: 3 * time.Second}}, dos, "of another round")
	s, dos = steps(s, pathway.RealtimeDone{Round: l.Round})
	assert.Empty(t, dos)
	_, dos = steps(s, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, "person", dos[0].(pathway.Say).Node)
	s, l = begins(t, lively())
	_, dos = steps(s, pathway.RealtimeDone{Round: l.Round}, pathway.RealtimeIdle{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeCompleted}}, dos, "where nothing leads on, the call ends")
}

func TestAnEngineIsLeftAfterAsManyAnswersAsTheNodeHas(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	var dos []pathway.Command
	for range 40 {
		s, dos = steps(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "And then?"}, pathway.RealtimeToolCalls{Round: l.Round})
		assert.Empty(t, dos)
	}
	_, dos = steps(s, pathway.RealtimeToolCalls{Round: l.Round})
	assert.Equal(t, []pathway.Command{pathway.Say{Node: "bye", Text: "Bye.", Shown: "Bye."}}, dos)
}
