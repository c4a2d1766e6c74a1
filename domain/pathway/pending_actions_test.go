package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// requestBooking makes the realtime engine request an appointment and returns the state with the pending action.
func requestBooking(t *testing.T, s pathway.State, round int) (pathway.State, pathway.ActionRequest) {
	t.Helper()
	s, commands := stepAll(s, pathway.RealtimeTranscript{Round: round, By: pathway.ByCaller, Text: "Book it."},
		pathway.RealtimeToolCalls{Round: round, Calls: []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{"n":7}`}}})
	require.Len(t, commands, 1)
	act, ok := commands[0].(pathway.ActionRequest)
	require.True(t, ok, "%v", commands)
	return s, act
}

func waitPrompt() []pathway.Command {
	return []pathway.Command{pathway.Say{Node: "talk", Text: "One moment, please.", Shown: "One moment, please.", Interruptible: true}}
}

func actionSucceeded(act pathway.ActionRequest) pathway.ActionEnded {
	return pathway.ActionEnded{Round: act.Round, ID: act.ID, OK: true, Result: `{"id":1}`}
}

// bookingHistory returns the conversation history that a model gets after it has booked an appointment.
func bookingHistory(more ...pathway.Message) []pathway.Message {
	return append([]pathway.Message{
		{By: pathway.ByCaller, Text: "Book it."},
		{By: pathway.ByAgent, Calls: []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{"n":7}`}}},
		{By: pathway.ByTool, ID: "c", Text: `{"id":1}`},
	}, more...)
}

func TestModelLearnsPendingActionsAfterEngineFailure(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	s, act := requestBooking(t, s, l.Round)
	s, commands := stepAll(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	assert.Equal(t, waitPrompt(), commands, "the model is not asked before the result")
	s, commands = stepAll(s, pathway.PromptDone{}, pathway.ResponseDelayed{Round: act.Round}, pathway.ActionEnded{Round: act.Round - 1, ID: "c", OK: true})
	assert.Empty(t, commands)
	_, commands = stepAll(s, actionSucceeded(act))
	require.Len(t, commands, 1)
	think, ok := commands[0].(pathway.ModelRequest)
	require.True(t, ok, "%v", commands)
	assert.Equal(t, bookingHistory(), think.History)

	s, l = startRealtime(t, realtimeSession(domain.Edge{From: "talk", To: "person", When: domain.When{Type: domain.EdgeFailure}}))
	s, act = requestBooking(t, s, l.Round)
	s, _ = stepAll(s, pathway.RealtimeLost{Round: l.Round}, pathway.PromptDone{})
	_, commands = stepAll(s, actionSucceeded(act))
	assert.Equal(t, "person", commands[0].(pathway.Say).Node, "no model replaces the engine")
}

func TestCallerReturnsToEngineAfterPendingAction(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	s, act := requestBooking(t, s, l.Round)
	s, commands := stepAll(s, pathway.ResumeNode{})
	assert.Equal(t, waitPrompt(), commands)
	_, commands = stepAll(s, actionSucceeded(act))
	require.Len(t, commands, 1)
	again, ok := commands[0].(pathway.StartRealtime)
	require.True(t, ok, "%v", commands)
	assert.Equal(t, bookingHistory(), again.History)
	assert.True(t, again.Speak)
	assert.Greater(t, again.Round, l.Round)
}

func TestLateResultFollowsItsRequestInHistory(t *testing.T) {
	t.Parallel()
	s, l := startRealtime(t, realtimeSession())
	s, act := requestBooking(t, s, l.Round)
	s, _ = stepAll(s, pathway.RealtimeTranscript{Round: l.Round, By: pathway.ByCaller, Text: "And?"},
		pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "d", Name: "nothing", Arguments: `{}`}}})
	s, _ = stepAll(s, actionSucceeded(act))
	_, commands := stepAll(s, pathway.RealtimeLost{Round: l.Round, HasFallback: true})
	assert.Equal(t, bookingHistory(
		pathway.Message{By: pathway.ByCaller, Text: "And?"},
		pathway.Message{By: pathway.ByAgent, Calls: []pathway.ToolCall{{ID: "d", Name: "nothing", Arguments: `{}`}}},
		pathway.Message{By: pathway.ByTool, ID: "d", Text: "error: there is no such tool here"},
	), commands[0].(pathway.ModelRequest).History)
}

func TestNextSpeakerKnowsPendingActions(t *testing.T) {
	t.Parallel()
	s := realtimeSession(domain.Edge{From: "talk", To: "talk", When: domain.When{Type: domain.EdgeFailure}})
	s, l := startRealtime(t, s)
	s, act := requestBooking(t, s, l.Round)
	var commands []pathway.Command
	for range 40 { // maximum number of answers of the node
		s, commands = stepAll(s, pathway.RealtimeToolCalls{Round: l.Round})
	}
	require.Len(t, commands, 1)
	again := commands[0].(pathway.StartRealtime)
	assert.Equal(t, "c", again.History[2].ID)
	assert.Contains(t, again.History[2].Text, "Do not ask for it again")
	s, commands = stepAll(s, actionSucceeded(act))
	assert.Equal(t, []pathway.Command{pathway.SendToolResult{ID: "c", Text: `{"id":1}`}}, commands, "the current engine receives the result")
	_, commands = stepAll(s, actionSucceeded(act))
	assert.Empty(t, commands, "once")
	_, commands = stepAll(s, pathway.RealtimeLost{Round: again.Round, HasFallback: true})
	assert.Equal(t, bookingHistory(), commands[0].(pathway.ModelRequest).History)
}

func TestKeysAndWordsOfEdgesWaitForPendingActions(t *testing.T) {
	t.Parallel()
	edges := []domain.Edge{
		{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person", Words: []string{"a human"}}},
		{From: "talk", To: "person", When: domain.When{Type: domain.EdgeDTMF, Digits: "0"}},
	}
	person := pathway.Say{Node: "person", Text: "A person.", Shown: "A person."}
	asks := pathway.RealtimeTranscript{By: pathway.ByCaller, Text: "Give me a human."}
	for name, in := range map[string]pathway.Input{"a key": pathway.Digit{Key: '0'}, "words": asks} {
		s, l := startRealtime(t, realtimeSession(edges...))
		if _, words := in.(pathway.RealtimeTranscript); words {
			asks.Round = l.Round
			in = asks
		}
		s, act := requestBooking(t, s, l.Round)
		held, commands := stepAll(s, pathway.Digit{Key: '5'}, in)
		assert.Empty(t, commands, name)
		left, commands := stepAll(held, actionSucceeded(act))
		assert.Contains(t, commands, pathway.Command(person), "%s: it is not lost while something is being done", name)
		assert.NotContains(t, commands, pathway.Command(pathway.RequestRealtimeAnswer{}), name)
		_, lives := left.RealtimeRound()
		assert.False(t, lives, name)
		for _, instead := range []bool{true, false} {
			broken, _ := stepAll(held, pathway.RealtimeLost{Round: l.Round, HasFallback: instead}, pathway.PromptDone{})
			_, commands = stepAll(broken, actionSucceeded(act))
			assert.Contains(t, commands, pathway.Command(person), "%s: also if the engine fails meanwhile", name)
		}
	}
}

func TestResumeNodeExecutesDelayedEnd(t *testing.T) {
	t.Parallel()
	calls := []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{}`}, {ID: "e", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}
	over := []pathway.Command{pathway.End{Outcome: domain.OutcomeConfirmed}}
	s, l := startRealtime(t, realtimeSession())
	s, commands := stepAll(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: calls})
	act, ok := commands[0].(pathway.ActionRequest)
	require.True(t, ok, "%v", commands)
	s, _ = stepAll(s, pathway.PromptCut{}, actionSucceeded(act))
	_, commands = stepAll(s, pathway.ResumeNode{})
	assert.Equal(t, over, commands)

	s, commands = stepAll(realtimeSession().WithRealtime(false), pathway.Started{})
	think, ok := commands[0].(pathway.ModelRequest)
	require.True(t, ok, "%v", commands)
	s, _ = stepAll(s, pathway.ModelSentence{Round: think.Round, Text: "Goodbye then."}, pathway.ModelAnswered{Round: think.Round, Calls: calls[1:]})
	s, _ = stepAll(s, pathway.PromptCut{})
	_, commands = stepAll(s, pathway.ResumeNode{})
	assert.Equal(t, over, commands, "after the last answer of a model")
}

func TestDelayedInputDoesNotInterruptUninterruptiblePrompt(t *testing.T) {
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
		s, commands := stepAll(pathway.New(script, nil), pathway.Started{})
		think, ok := commands[0].(pathway.ModelRequest)
		require.True(t, ok, "%v", commands)
		calls := []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{}`}}
		s, commands = stepAll(s, pathway.ModelSentence{Round: think.Round, Text: "What must be heard."}, pathway.ModelAnswered{Round: think.Round, Calls: calls})
		act, ok := commands[0].(pathway.ActionRequest)
		require.True(t, ok, "%v", commands)
		s, commands = stepAll(s, pathway.Digit{Key: '0'}, actionSucceeded(act))
		if interruptible {
			assert.Equal(t, []pathway.Command{pathway.StopSpeaking{}, person}, commands)
			continue
		}
		assert.Empty(t, commands)
		_, commands = stepAll(s, pathway.PromptDone{})
		assert.Equal(t, []pathway.Command{person}, commands)
	}
}
