package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func TestCompletenessOfWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, text string
		want           pathway.TurnCompleteness
	}{
		{"en-US", "", pathway.CompletenessUnknown},
		{"en-US", "I would like to", pathway.Incomplete},
		{"en-US", "I would like to.", pathway.Incomplete},
		{"en-US", "My name is", pathway.Incomplete},
		{"en-US", "Well, um", pathway.Incomplete},
		{"en-US", "yes but I", pathway.Incomplete},
		{"en-US", "I live at 12,", pathway.Incomplete},
		{"en-US", "Where are you from?", pathway.CompletenessUnknown},
		{"en-US", "Could you please?", pathway.Incomplete},
		{"de-DE", "Könnten Sie bitte", pathway.Incomplete},
		{"en-US", "yes it is", pathway.Complete},
		{"en-US", "I want to book an appointment", pathway.CompletenessUnknown},
		{"en-US", "yes", pathway.Complete},
		{"en-US", "No, thanks.", pathway.Complete},
		{"en-US", "five five five", pathway.Incomplete},
		{"en-US", "my number is 202 555", pathway.Incomplete},
		{"en-US", "202-555-0123", pathway.CompletenessUnknown},
		{"en-US", "in 2026", pathway.CompletenessUnknown},
		{"en-US", "at ten", pathway.CompletenessUnknown},
		{"de-DE", "Ich möchte", pathway.Incomplete},
		{"de-DE", "null drei null", pathway.Incomplete},
		{"de-DE", "Morgen um zehn", pathway.CompletenessUnknown},
		{"es-ES", "Quisiera una cita para", pathway.Incomplete},
		{"fr-FR", "Je voudrais", pathway.Incomplete},
		{"it-IT", "Vorrei", pathway.Incomplete},
		{"pt-BR", "Eu gostaria de", pathway.Incomplete},
		{"nl-NL", "Ik wil", pathway.Incomplete},
		{"sv-SE", "i would like to", pathway.Incomplete},
	} {
		assert.Equal(t, c.want, atQuestion(t, domain.Node{}).Completeness(c.text, c.language), "%s: %q", c.language, c.text)
	}
}

func TestCompletenessOfDigitsWithKnownLength(t *testing.T) {
	t.Parallel()
	s := atQuestion(t, domain.Node{Length: 4})
	for text, want := range map[string]pathway.TurnCompleteness{"one two": pathway.Incomplete, "12": pathway.Incomplete, "one two three four": pathway.Complete, "1234": pathway.Complete, "yes": pathway.Complete} {
		assert.Equal(t, want, s.Completeness(text, "en-US"), text)
	}
}

// atQuestion returns the state in which a caller is asked a yes-or-no question, with settings of the node.
func atQuestion(t *testing.T, n domain.Node) pathway.State {
	t.Helper()
	n.ID, n.Type, n.Prompt, n.Input = "ask", domain.NodeCollect, "Will you come?", "both"
	p := domain.Pathway{
		Name: "question", Start: "ask",
		Nodes: []domain.Node{n, {ID: "comes", Type: domain.NodeEnd}, {ID: "stays", Type: domain.NodeEnd}},
		Edges: []domain.Edge{
			{From: "ask", To: "comes", When: domain.When{Type: domain.EdgeIntent, Intent: "yes", Words: []string{"yes", "yes it is"}}},
			{From: "ask", To: "stays", When: domain.When{Type: domain.EdgeIntent, Intent: "no"}},
			edge("ask", "stays", domain.EdgeElse),
		},
	}
	require.NoError(t, pathway.Validate(&p))
	s, _ := pathway.Step(pathway.New(domain.Script{Language: "en-US", Pathway: p}, nil), pathway.Started{})
	s, _ = pathway.Step(s, pathway.PromptDone{})
	return s
}
