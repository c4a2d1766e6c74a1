package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// wants has the engine want something done that takes its time.
func wants(t *testing.T, s pathway.State, round int) (pathway.State, pathway.ActionRequest) {
	t.Helper()
	s, dos := steps(s, pathway.RealtimeTranscript{Round: round, By: pathway.ByCaller, Text: "Book it."},
		pathway.RealtimeToolCalls{Round: round, Calls: []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{"n":7}`}}})
	require.Len(t, dos, 1)
	act, ok := dos[0].(pathway.ActionRequest)
	require.True(t, ok, "%v", dos)
	return s, act
}

func moment() []pathway.Command {
	return []pathway.Command{pathway.Say{Node: "talk", Text: "One moment, please.", Shown: "One moment, please.", Interruptible: true}}
}

func done(act pathway.ActionRequest) pathway.ActionEnded {
	return pathway.ActionEnded{Round: act.Round, ID: act.ID, OK: true, Result: `{"id":1}`}
}

// booked is what is known once it is done.
func booked(more ...pathway.Message) []pathway.Message {
	return append([]pathway.Message{
		{By: pathway.ByCaller, Text: "Book it."},
		{By: pathway.ByAgent, Calls: []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{"n":7}`}}},
		{By: pathway.ByTool, ID: "c", Text: `{"id":1}`},
	}, more...)
}

func TestWhatIsUnderWayWhenAnEngineBreaksIsKnownToTheModelInItsPlace(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	s, act := wants(t, s, l.Round)
	s, dos := steps(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	assert.Equal(t, moment(), dos, "the model is not asked before it is known")
	s, dos = steps(s, pathway.PromptDone{}, pathway.ResponseDelayed{Round: act.Round}, pathway.ActionEnded{Round: act.Round - 1, ID: "c", OK: true})
	assert.Empty(t, dos)
	_, dos = steps(s, done(act))
	require.Len(t, dos, 1)
	think, ok := dos[0].(pathway.ModelRequest)
	require.True(t, ok, "%v", dos)
	assert.Equal(t, booked(), think.History)

	s, l = begins(t, lively(domain.Edge{From: "talk", To: "person", When: domain.When{Type: domain.EdgeFailure}}))
	s, act = wants(t, s, l.Round)
	s, _ = steps(s, pathway.RealtimeLost{Round: l.Round}, pathway.PromptDone{})
	_, dos = steps(s, done(act))
	assert.Equal(t, "person", dos[0].(pathway.Say).Node, "nobody is there in its place")
}

func TestWhoHadTheCallerMeanwhileHandsHimBackOnceItIsDone(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	s, act := wants(t, s, l.Round)
	s, dos := steps(s, pathway.ResumeNode{})
	assert.Equal(t, moment(), dos)
	_, dos = steps(s, done(act))
	require.Len(t, dos, 1)
	again, ok := dos[0].(pathway.StartRealtime)
	require.True(t, ok, "%v", dos)
	assert.Equal(t, booked(), again.History)
	assert.True(t, again.Speak)
	assert.Greater(t, again.Round, l.Round)
}

func TestAResultStandsBehindWhatWantedItHoweverLateItComes(t *testing.T) {
	t.Parallel()
	s, l := begins(t, lively())
	s, act := wants(t, s, l.Round)
	s, _ = steps(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "And?"},
		pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "d", Name: "nothing", Arguments: `{}`}}})
	s, _ = steps(s, done(act))
	_, dos := steps(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	assert.Equal(t, booked(
		pathway.Message{By: pathway.ByCaller, Text: "And?"},
		pathway.Message{By: pathway.ByAgent, Calls: []pathway.ToolCall{{ID: "d", Name: "nothing", Arguments: `{}`}}},
		pathway.Message{By: pathway.ByTool, ID: "d", Text: "error: there is no such tool here"},
	), dos[0].(pathway.ModelRequest).History)
}

func TestWhoeverGoesOnKnowsWhatIsStillBeingDone(t *testing.T) {
	t.Parallel()
	s := lively(domain.Edge{From: "talk", To: "talk", When: domain.When{Type: domain.EdgeFailure}})
	s, l := begins(t, s)
	s, act := wants(t, s, l.Round)
	var dos []pathway.Command
	for range 40 { // as many answers as the node has
		s, dos = steps(s, pathway.RealtimeToolCalls{Round: l.Round})
	}
	require.Len(t, dos, 1)
	again := dos[0].(pathway.StartRealtime)
	assert.Equal(t, "c", again.History[2].ID)
	assert.Contains(t, again.History[2].Text, "Do not ask for it again")
	s, dos = steps(s, done(act))
	assert.Equal(t, []pathway.Command{pathway.SendToolResult{ID: "c", Text: `{"id":1}`}}, dos, "the engine that has the caller now is told")
	_, dos = steps(s, done(act))
	assert.Empty(t, dos, "once")
	_, dos = steps(s, pathway.RealtimeLost{Round: again.Round, HasFallback: true})
	assert.Equal(t, booked(), dos[0].(pathway.ModelRequest).History)
}

func TestKeysAndWordsThatEdgesNameWaitForWhatIsBeingDone(t *testing.T) {
	t.Parallel()
	edges := []domain.Edge{
		{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person", Words: []string{"a human"}}},
		{From: "talk", To: "person", When: domain.When{Type: domain.EdgeDTMF, Digits: "0"}},
	}
	person := pathway.Say{Node: "person", Text: "A person.", Shown: "A person."}
	asks := pathway.RealtimeTranscript{By: pathway.ByCaller, Text: "Give me a human."}
	for name, in := range map[string]pathway.Input{"a key": pathway.Digit{Key: '0'}, "words": asks} {
		s, l := begins(t, lively(edges...))
		if _, words := in.(pathway.RealtimeTranscript); words {
			asks.Round = l.Round
			in = asks
		}
		s, act := wants(t, s, l.Round)
		held, dos := steps(s, pathway.Digit{Key: '5'}, in)
		assert.Empty(t, dos, name)
		left, dos := steps(held, done(act))
		assert.Contains(t, dos, pathway.Command(person), "%s: it is not lost while something is being done", name)
		assert.NotContains(t, dos, pathway.Command(pathway.RequestRealtimeAnswer{}), name)
		_, lives := left.RealtimeRound()
		assert.False(t, lives, name)
		for _, instead := range []bool{true, false} {
			broken, _ := steps(held, pathway.RealtimeLost{Round: l.Round, HasFallback: instead}, pathway.PromptDone{})
			_, dos = steps(broken, done(act))
			assert.Contains(t, dos, pathway.Command(person), "%s: nor where the engine breaks meanwhile", name)
		}
	}
}

func TestWhatWasToFollowIsNotLostWhereSomebodyElseHadTheCallerMeanwhile(t *testing.T) {
	t.Parallel()
	calls := []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{}`}, {ID: "e", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}
	over := []pathway.Command{pathway.End{Outcome: domain.OutcomeConfirmed}}
	s, l := begins(t, lively())
	s, dos := steps(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: calls})
	act, ok := dos[0].(pathway.ActionRequest)
	require.True(t, ok, "%v", dos)
	s, _ = steps(s, pathway.PromptCut{}, done(act))
	_, dos = steps(s, pathway.ResumeNode{})
	assert.Equal(t, over, dos)

	s, dos = steps(lively().WithRealtime(false), pathway.Started{})
	think, ok := dos[0].(pathway.ModelRequest)
	require.True(t, ok, "%v", dos)
	s, _ = steps(s, pathway.ModelSentence{Round: think.Round, Text: "Goodbye then."}, pathway.ModelAnswered{Round: think.Round, Calls: calls[1:]})
	s, _ = steps(s, pathway.PromptCut{})
	_, dos = steps(s, pathway.ResumeNode{})
	assert.Equal(t, over, dos, "a model had said its last")
}

func TestWhatIsHeldDoesNotCutShortWhatMustBeHeard(t *testing.T) {
	t.Parallel()
	person := pathway.Say{Node: "person", Text: "A person.", Shown: "A person."}
	for _, interruptible := range []bool{false, true} {
		script := domain.Script{Language: "en-US", Pathway: domain.Pathway{
			Start: "talk",
			Nodes: []domain.Node{
				{ID: "talk", Type: domain.NodeConverse, Prompt: "Talk", Tools: []string{"tool_1"}, Interruptible: &interruptible},
				{ID: "person", Type: domain.NodeEnd, Prompt: "A person."},
			},
			Edges: []domain.Edge{{From: "talk", To: "person", When: domain.When{Type: domain.EdgeDTMF, Digits: "0"}}},
		}}
		s, dos := steps(pathway.New(script, nil), pathway.Started{})
		think, ok := dos[0].(pathway.ModelRequest)
		require.True(t, ok, "%v", dos)
		calls := []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{}`}}
		s, dos = steps(s, pathway.ModelSentence{Round: think.Round, Text: "What must be heard."}, pathway.ModelAnswered{Round: think.Round, Calls: calls})
		act, ok := dos[0].(pathway.ActionRequest)
		require.True(t, ok, "%v", dos)
		s, dos = steps(s, pathway.Digit{Key: '0'}, done(act))
		if interruptible {
			assert.Equal(t, []pathway.Command{pathway.StopSpeaking{}, person}, dos)
			continue
		}
		assert.Empty(t, dos)
		_, dos = steps(s, pathway.PromptDone{})
		assert.Equal(t, []pathway.Command{person}, dos)
	}
}
