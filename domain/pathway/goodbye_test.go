package pathway_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

const silentGoodbye = "I can't hear you, so I'll hang up now. Goodbye."

// waitingModel returns a conversation with a model, without edges, that waits for the caller to speak.
func waitingModel(t *testing.T) *conversation {
	t.Helper()
	script := domain.Script{Language: "en-US", Pathway: pathway.ModelPathway("Hello.", []string{"end"}, nil)}
	w := &conversation{s: pathway.New(script, nil)}
	w.step(pathway.Started{}, pathway.PromptDone{}, heard("what are your hours"))
	return w
}

// endedByModel returns a conversation in which the model says goodbye and ends the call.
func endedByModel(t *testing.T) *conversation {
	t.Helper()
	w := waitingModel(t)
	think := w.modelRequest(t)
	w.step(pathway.ModelSentence{Round: think.Round, Text: "Nine to five. Goodbye."}, pathway.ModelAnswered{Round: think.Round, Calls: []pathway.ToolCall{{ID: "1", Name: "end_call", Arguments: "{}"}}})
	return w
}

func TestSilentCallerHearsGoodbye(t *testing.T) {
	t.Parallel()
	w := waitingModel(t)
	think := w.modelRequest(t)
	w.step(pathway.ModelSentence{Round: think.Round, Text: "Nine to five."}, pathway.ModelAnswered{Round: think.Round}, pathway.PromptDone{})
	for range 2 {
		w.step(pathway.Timeout{})
		think = w.modelRequest(t)
		w.step(pathway.ModelSentence{Round: think.Round, Text: "Are you there?"}, pathway.ModelAnswered{Round: think.Round}, pathway.PromptDone{})
	}
	assert.Equal(t, []string{silentGoodbye}, spokenTexts(w.step(pathway.Timeout{})))
	assert.True(t, w.s.EndsAfterPrompt())
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeCompleted}}, w.step(pathway.PromptDone{}))

	menu := domain.Pathway{Start: "ask", Nodes: []domain.Node{{ID: "ask", Type: domain.NodeCollect, Prompt: "One or two?", Values: []string{"1"}}}}
	m := &conversation{s: pathway.New(domain.Script{Language: "de-DE", Pathway: menu}, nil)}
	m.step(pathway.Started{}, pathway.PromptDone{})
	assert.Equal(t, []string{"Ich kann Sie nicht hören und lege jetzt auf. Auf Wiederhören."}, spokenTexts(m.step(pathway.Timeout{})))
}

func TestSilenceLimitEndsWithGoodbye(t *testing.T) {
	t.Parallel()
	w := waitingModel(t)
	assert.Equal(t, []string{silentGoodbye}, spokenTexts(w.step(pathway.SilenceLimit{})))
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeCompleted}}, w.step(pathway.PromptDone{}))
}

func TestWordsDuringGoodbyeAreAnswered(t *testing.T) {
	t.Parallel()
	for text, answered := range map[string]bool{
		"what about sunday": true, "wait": true, "thank you bye": false, "okay": false, "you too, have a nice day": false, "no": true,
	} {
		w := endedByModel(t)
		assert.True(t, w.s.EndsAfterPrompt())
		w.step(pathway.PromptHeard{Text: "Nine to"})
		w.step(heard(text))
		assert.Equal(t, answered, !w.s.EndsAfterPrompt(), text)
		if answered {
			h := w.modelRequest(t).History
			assert.Equal(t, pathway.Message{By: pathway.ByCaller, Text: text}, h[len(h)-1])
			continue
		}
		assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeCompleted}}, w.step(pathway.PromptDone{}), text)
	}
}

func TestAnswerDuringGoodbyeAfterSilenceCounts(t *testing.T) {
	t.Parallel()
	s := atQuestion(t, domain.Node{})
	s, commands := pathway.Step(s, pathway.SilenceLimit{})
	assert.Equal(t, []string{silentGoodbye}, spokenTexts(commands))
	s, commands = pathway.Step(s, heard("yes"))
	assert.Contains(t, commands, pathway.StopSpeaking{})
	_, commands = pathway.Step(s, pathway.PromptDone{})
	assert.Empty(t, commands)
	assert.True(t, s.Over())
}

func TestWordsDuringLastPromptFollowEdgesFromAnyNode(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "bye", Nodes: []domain.Node{{ID: "bye", Type: domain.NodeEnd, Prompt: "See you tomorrow."}, {ID: "person", Type: domain.NodeTransfer, Destination: "+12025550123"}},
		Edges: []domain.Edge{{From: "*", To: "person", When: domain.When{Type: domain.EdgeIntent, Intent: "person", Words: []string{"a person"}}}},
	}
	w := &conversation{s: pathway.New(domain.Script{Language: "en-US", Pathway: p}, nil)}
	w.step(pathway.Started{})
	phrases, hears := w.s.ExpectedPhrases()
	assert.True(t, hears)
	assert.Contains(t, phrases, "a person")
	assert.Empty(t, w.step(heard("thank you")))
	commands := w.step(heard("a person"))
	assert.Contains(t, commands, pathway.StopSpeaking{})
	assert.IsType(t, pathway.Transfer{}, commands[len(commands)-1])
}

func TestConversationEndsWithGoodbyeAfterMaxTurns(t *testing.T) {
	t.Parallel()
	script := domain.Script{Language: "en-US", Limits: domain.AgentLimits{MaxTurns: 3}, Pathway: pathway.ModelPathway("Hello.", nil, nil)}
	w := &conversation{s: pathway.New(script, nil)}
	w.step(pathway.Started{}, pathway.PromptDone{})
	for range 3 {
		w.step(heard("go on"))
		think := w.modelRequest(t)
		w.step(pathway.ModelSentence{Round: think.Round, Text: "Yes."}, pathway.ModelAnswered{Round: think.Round}, pathway.PromptDone{})
	}
	saved, ok := w.s.Save(nil)
	assert.True(t, ok)
	w.s, ok = pathway.Restore(script, saved)
	assert.True(t, ok)
	w.step(pathway.Restored{})
	assert.Equal(t, []string{"I have to end our conversation here. Thank you, and goodbye."}, spokenTexts(w.step(heard("go on"))))
	w.step(heard("one more question"))
	assert.Equal(t, []pathway.Command{pathway.End{Outcome: domain.OutcomeCompleted, Reason: "too_many_turns"}}, w.step(pathway.PromptDone{}))
}

func TestKeyDuringGoodbyeAfterSilenceCounts(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "ask", Nodes: []domain.Node{{ID: "ask", Type: domain.NodeCollect, Prompt: "One?", Values: []string{"1"}, Retries: 1}, {ID: "yes", Type: domain.NodeEnd, Prompt: "Yes."}},
		Edges: []domain.Edge{edge("ask", "yes", domain.EdgeDTMF, "1")},
	}
	w := &conversation{s: pathway.New(domain.Script{Language: "en-US", Pathway: p}, nil)}
	w.step(pathway.Started{}, pathway.PromptDone{})
	assert.Equal(t, []string{silentGoodbye}, spokenTexts(w.step(pathway.SilenceLimit{})))
	commands := w.step(pathway.Digit{Key: '5'})
	assert.Contains(t, commands, pathway.StopSpeaking{})
	assert.Equal(t, []string{"One?"}, spokenTexts(commands), "a key without an edge")
	w.step(pathway.PromptDone{})
	assert.Equal(t, []string{silentGoodbye}, spokenTexts(w.step(pathway.SilenceLimit{})))
	assert.Equal(t, []string{"Yes."}, spokenTexts(w.step(pathway.Digit{Key: '1'})))
}

func TestKeyDuringGoodbyeOfModelReachesModel(t *testing.T) {
	t.Parallel()
	w := endedByModel(t)
	w.step(pathway.Digit{Key: '4'})
	assert.False(t, w.s.EndsAfterPrompt())
	w.step(pathway.Timeout{})
	h := w.modelRequest(t).History
	assert.Equal(t, "(The caller pressed the keys 4.)", h[len(h)-1].Text)
}

func TestKeyDuringLastPromptFollowsEdgeFromAnyNode(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "bye", Nodes: []domain.Node{{ID: "bye", Type: domain.NodeEnd, Prompt: "See you."}, {ID: "more", Type: domain.NodeEnd, Prompt: "More."}},
		Edges: []domain.Edge{edge("*", "more", domain.EdgeDTMF, "0")},
	}
	w := &conversation{s: pathway.New(domain.Script{Language: "en-US", Pathway: p}, nil)}
	w.step(pathway.Started{})
	assert.Empty(t, w.step(pathway.Digit{Key: '5'}))
	assert.Equal(t, []string{"More."}, spokenTexts(w.step(pathway.Digit{Key: '0'})))
}

// A node that is left because its model failed may have been speaking. The goodbye at the next node is spoken all the same.
func TestGoodbyeIsSpokenAfterModelFailedWhileSpeaking(t *testing.T) {
	t.Parallel()
	p := pathway.ModelPathway("Hello.", nil, nil)
	p.Nodes = append(p.Nodes, domain.Node{ID: "keys", Type: domain.NodeCollect, Prompt: "Press one.", Values: []string{"1"}})
	p.Edges = append(p.Edges, edge("converse", "keys", domain.EdgeElse))
	p.Nodes[0].MaxTurns = 1
	w := &conversation{s: pathway.New(domain.Script{Language: "en-US", Pathway: p}, nil)}
	w.step(pathway.Started{}, pathway.PromptDone{}, heard("go on"))
	think := w.modelRequest(t)
	w.step(pathway.ModelSentence{Round: think.Round, Text: "One moment."}, pathway.ModelAnswered{Round: think.Round, Calls: []pathway.ToolCall{{ID: "1", Name: "no_such"}}})
	for i := 0; i < 10 && !slices.Contains(spokenTexts(w.out), "Press one."); i++ {
		w.step(pathway.PromptDone{})
	}
	assert.Contains(t, spokenTexts(w.out), "Press one.")
	w.step(pathway.PromptDone{})
	failed := *w
	assert.Equal(t, []string{silentGoodbye}, spokenTexts(w.step(pathway.Timeout{})))
	assert.NotEmpty(t, spokenTexts(failed.step(pathway.AgentFailed{})))
}

// The caller is silent while a model selects an edge for their words. Words during the goodbye count as an answer.
func TestWordsDuringGoodbyeCountWhileModelSelectsEdge(t *testing.T) {
	t.Parallel()
	p := domain.Pathway{
		Start: "ask", Nodes: []domain.Node{{ID: "ask", Type: domain.NodeCollect, Input: "speech", Prompt: "What is it about?"}, {ID: "bill", Type: domain.NodeEnd, Prompt: "Bills."}},
		Edges: []domain.Edge{
			{From: "ask", To: "bill", When: domain.When{Type: domain.EdgeIntent, Intent: "a question about a bill"}},
			{From: "ask", To: "bill", When: domain.When{Type: domain.EdgeIntent, Intent: "yes"}},
		},
	}
	w := &conversation{s: pathway.New(domain.Script{Language: "en-US", Pathway: p}, nil)}
	w.step(pathway.Started{}, pathway.PromptDone{}, heard("you charged me twice"))
	assert.True(t, w.modelRequest(t).Choose)
	assert.Equal(t, []string{silentGoodbye}, spokenTexts(w.step(pathway.SilenceLimit{})))
	assert.Equal(t, []string{"Bills."}, spokenTexts(w.step(heard("yes"))))
}

// A realtime engine goes on when the caller speaks or presses a key during the goodbye after silence. No model is requested.
func TestCallerContinuesRealtimeConversationDuringGoodbye(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   pathway.Input
		edge string
	}{"words": {heard("are you there"), ""}, "key": {pathway.Digit{Key: '4'}, ""}, "key with an edge": {pathway.Digit{Key: '1'}, "A person."}} {
		s, _ := startRealtime(t, realtimeSession(edge("talk", "person", domain.EdgeDTMF, "1")))
		s, commands := pathway.Step(s, pathway.SilenceLimit{})
		assert.Equal(t, []string{silentGoodbye}, spokenTexts(commands), name)
		s, commands = pathway.Step(s, c.in)
		assert.Contains(t, commands, pathway.StopSpeaking{}, name)
		if c.edge != "" {
			assert.Equal(t, []string{c.edge}, spokenTexts(commands), name)
			continue
		}
		assert.IsType(t, pathway.StartRealtime{}, commands[len(commands)-1], name)
		_, lives := s.RealtimeRound()
		assert.True(t, lives, name)
	}
}
