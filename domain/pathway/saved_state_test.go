package pathway_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func pinScript() domain.Script {
	return domain.Script{Language: "en-US", Pathway: domain.Pathway{
		Start: "hi",
		Nodes: []domain.Node{
			{ID: "hi", Type: domain.NodeSay, Prompt: "Hello {{name}}."},
			{ID: "ask", Type: domain.NodeCollect, Prompt: "One or two?", RetryPrompt: "Once more: one or two?", Retries: 2, SaveAs: "answer", Values: []string{"1", "2"}},
			{ID: "pin", Type: domain.NodeCollect, Prompt: "Your PIN?", SaveAs: "pin", Sensitive: true, Length: 1},
			{ID: "look", Type: domain.NodeTool, ToolID: "tool_x"},
			{ID: "found", Type: domain.NodeSay, Prompt: "It is there, {{answer}}."},
			{ID: "lost", Type: domain.NodeSay, Prompt: "I could not look."},
		},
		Edges: []domain.Edge{
			{From: "hi", To: "ask", When: domain.When{Type: domain.EdgeAlways}},
			{From: "ask", To: "pin", When: domain.When{Type: domain.EdgeDTMF, Digits: "2"}},
			{From: "ask", To: "look", When: domain.When{Type: domain.EdgeDTMF, Digits: "1"}},
			{From: "look", To: "found", When: domain.When{Type: domain.EdgeSuccess}},
			{From: "look", To: "lost", When: domain.When{Type: domain.EdgeFailure}},
			{From: "pin", To: "found", When: domain.When{Type: domain.EdgeAlways}},
		},
	}}
}

// restoredState saves a state and restores it as another process would.
func restoredState(t *testing.T, s pathway.State) pathway.State {
	t.Helper()
	saved, ok := s.Save(nil)
	require.True(t, ok)
	b, err := json.Marshal(saved)
	require.NoError(t, err)
	var back pathway.SavedState
	require.NoError(t, json.Unmarshal(b, &back))
	out, ok := pathway.Restore(pinScript(), back)
	require.True(t, ok)
	return out
}

func TestConversationContinuesFromSavedState(t *testing.T) {
	s := pathway.New(pinScript(), map[string]string{"name": "Ann"})
	s = restoredState(t, s)
	require.True(t, s.Fresh(), "it may not have begun")
	s, commands := pathway.Step(s, pathway.Started{})
	assert.Equal(t, []string{"Hello Ann."}, saidBy(commands))

	s, commands = pathway.Step(restoredState(t, s), pathway.Restored{})
	assert.Equal(t, []string{"Hello Ann."}, saidBy(commands), "the interrupted prompt is repeated")
	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.Timeout{})
	s, commands = pathway.Step(restoredState(t, s), pathway.Restored{})
	assert.Equal(t, []string{"Once more: one or two?"}, saidBy(commands), "the tries of before count")

	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.Digit{Key: '1'})
	s, commands = pathway.Step(restoredState(t, s), pathway.Restored{})
	assert.Equal(t, []string{"I could not look."}, saidBy(commands), "the action is not repeated")
	assert.Equal(t, map[string]string{"answer": "1"}, s.Result().Variables)
}

func TestSecretDigitsAreNotSaved(t *testing.T) {
	s := pathway.New(pinScript(), map[string]string{"name": "Ann"})
	s, _ = pathway.Step(s, pathway.Started{})
	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.Digit{Key: '2'})
	s, _ = pathway.Step(s, pathway.PromptDone{})
	_, ok := s.Save(nil)
	require.True(t, ok, "it is asked for, and not known yet")
	s, _ = pathway.Step(s, pathway.Digit{Key: '7'})
	_, ok = s.Save(nil)
	assert.False(t, ok, "secrets must not be stored, so no other process can continue")
}

func TestSavedStateOfUnknownNodeIsRefused(t *testing.T) {
	_, ok := pathway.Restore(pinScript(), pathway.SavedState{Node: "gone", Phase: "speaking"})
	assert.False(t, ok)
	_, ok = pathway.Restore(pinScript(), pathway.SavedState{Node: "ask", Phase: "unknown fields of a later version"})
	assert.False(t, ok)
}

func saidBy(commands []pathway.Command) (out []string) {
	for _, d := range commands {
		if s, is := d.(pathway.Say); is {
			out = append(out, s.Text)
		}
	}
	return out
}

func TestToolArgumentsAreSavedRedacted(t *testing.T) {
	s, l := startRealtime(t, realtimeSession())
	s, _ = stepAll(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{"card":"4111"}`}}})
	saved, ok := s.Save(domain.Redaction{Patterns: []string{"4111"}}.Redactor())
	require.True(t, ok)
	assert.JSONEq(t, `{"card":"[redacted]"}`, saved.History[0].Calls[0].Arguments)
	saved, ok = s.Save(nil)
	require.True(t, ok)
	assert.JSONEq(t, `{"card":"4111"}`, saved.History[0].Calls[0].Arguments, "without redaction the value is kept")
}
