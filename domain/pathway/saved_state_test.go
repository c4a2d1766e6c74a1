package pathway_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func survivor() domain.Script {
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

// elsewhere is a state as another process finds it.
func elsewhere(t *testing.T, s pathway.State) pathway.State {
	t.Helper()
	saved, ok := s.Save(nil)
	require.True(t, ok)
	b, err := json.Marshal(saved)
	require.NoError(t, err)
	var back pathway.SavedState
	require.NoError(t, json.Unmarshal(b, &back))
	out, ok := pathway.Restore(survivor(), back)
	require.True(t, ok)
	return out
}

func TestAConversationGoesOnInAnotherProcess(t *testing.T) {
	s := pathway.New(survivor(), map[string]string{"name": "Ann"})
	s = elsewhere(t, s)
	require.True(t, s.Fresh(), "it may not have begun")
	s, dos := pathway.Step(s, pathway.Started{})
	assert.Equal(t, []string{"Hello Ann."}, saidBy(dos))

	s, dos = pathway.Step(elsewhere(t, s), pathway.Restored{})
	assert.Equal(t, []string{"Hello Ann."}, saidBy(dos), "what was being said is said again")
	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.Timeout{})
	s, dos = pathway.Step(elsewhere(t, s), pathway.Restored{})
	assert.Equal(t, []string{"Once more: one or two?"}, saidBy(dos), "the tries of before count")

	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.Digit{Key: '1'})
	s, dos = pathway.Step(elsewhere(t, s), pathway.Restored{})
	assert.Equal(t, []string{"I could not look."}, saidBy(dos), "what was being done is not done twice")
	assert.Equal(t, map[string]string{"answer": "1"}, s.Result().Variables)
}

func TestWhatWasKeyedInSecretlyIsNotKept(t *testing.T) {
	s := pathway.New(survivor(), map[string]string{"name": "Ann"})
	s, _ = pathway.Step(s, pathway.Started{})
	s, _ = pathway.Step(s, pathway.PromptDone{})
	s, _ = pathway.Step(s, pathway.Digit{Key: '2'})
	s, _ = pathway.Step(s, pathway.PromptDone{})
	_, ok := s.Save(nil)
	require.True(t, ok, "it is asked for, and not known yet")
	s, _ = pathway.Step(s, pathway.Digit{Key: '7'})
	_, ok = s.Save(nil)
	assert.False(t, ok, "nobody else can go on with what must not be stored")
}

func TestAPathwayWithoutTheNodeIsNotGoneOnWith(t *testing.T) {
	_, ok := pathway.Restore(survivor(), pathway.SavedState{Node: "gone", Stands: "speaking"})
	assert.False(t, ok)
	_, ok = pathway.Restore(survivor(), pathway.SavedState{Node: "ask", Stands: "what a later version says"})
	assert.False(t, ok)
}

func saidBy(dos []pathway.Command) (out []string) {
	for _, d := range dos {
		if s, is := d.(pathway.Say); is {
			out = append(out, s.Text)
		}
	}
	return out
}

func TestWhatAToolIsAskedIsKeptWithoutWhatMustNotBe(t *testing.T) {
	s, l := begins(t, lively())
	s, _ = steps(s, pathway.RealtimeToolCalls{Round: l.Round, Calls: []pathway.ToolCall{{ID: "c", Name: "book", Tool: "tool_1", Arguments: `{"card":"4111"}`}}})
	saved, ok := s.Save(domain.Redaction{Patterns: []string{"4111"}}.Redactor())
	require.True(t, ok)
	assert.JSONEq(t, `{"card":"[redacted]"}`, saved.History[0].Calls[0].Arguments)
	saved, ok = s.Save(nil)
	require.True(t, ok)
	assert.JSONEq(t, `{"card":"4111"}`, saved.History[0].Calls[0].Arguments, "who goes on here knows it")
}
