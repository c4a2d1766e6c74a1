package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func TestKeysInterruptTheModelAndAreGivenToIt(t *testing.T) {
	t.Parallel()
	w, think := startConversation(t, orderScript(), "where is my order")
	w.step(pathway.ModelSentence{Round: think.Round, Text: "It is a long story."})
	assert.Contains(t, w.step(pathway.Digit{Key: '4'}), pathway.Command(pathway.StopSpeaking{}))
	assert.Contains(t, w.out, pathway.Command(pathway.CancelModelRequest{}))
	w.step(pathway.Digit{Key: '2'}, pathway.Timeout{})
	h := w.modelRequest(t).History
	assert.Equal(t, "(The caller pressed the keys 42.)", h[len(h)-1].Text)
	assert.Equal(t, "It is a long story. —", h[len(h)-2].Text)

	think = w.modelRequest(t)
	w.step(pathway.ModelSentence{Round: think.Round, Text: "Fine."}, pathway.ModelAnswered{Round: think.Round}, pathway.PromptDone{})
	w.step(pathway.Digit{Key: '7'}, pathway.Digit{Key: '#'})
	h = w.modelRequest(t).History
	assert.Equal(t, "(The caller pressed the keys 7.)", h[len(h)-1].Text, "# ends the input")

	think = w.modelRequest(t)
	w.step(pathway.ModelSentence{Round: think.Round, Text: "Fine."}, pathway.ModelAnswered{Round: think.Round}, pathway.PromptDone{})
	w.step(pathway.Digit{Key: '9'}, heard("that is my number"))
	h = w.modelRequest(t).History
	assert.Equal(t, []string{"(The caller pressed the keys 9.)", "that is my number"}, []string{h[len(h)-2].Text, h[len(h)-1].Text})
}

func TestKeysWithAnEdgeLeaveTheModelConversation(t *testing.T) {
	t.Parallel()
	script := orderScript()
	script.Pathway.Edges = append(script.Pathway.Edges, domain.Edge{From: "talk", To: "stop", When: domain.When{Type: domain.EdgeDTMF, Digits: "12"}})
	w, think := startConversation(t, script, "where is my order")
	w.step(pathway.ModelSentence{Round: think.Round, Text: "It is a long story."}, pathway.Digit{Key: '1'})
	assert.Equal(t, []string{"Bye then."}, spokenTexts(w.step(pathway.Digit{Key: '2'})))
}

func TestKeysDuringAnAnswerThatMustNotBeInterruptedAreGivenAfterwards(t *testing.T) {
	t.Parallel()
	script := orderScript()
	script.Pathway.Nodes[1].Interruptible = new(bool)
	w, think := startConversation(t, script, "where is my order")
	w.step(pathway.ModelSentence{Round: think.Round, Text: "It is here."})
	assert.Empty(t, w.step(pathway.Digit{Key: '5'}))
	w.step(pathway.ModelAnswered{Round: think.Round}, pathway.PromptDone{}, pathway.Timeout{})
	h := w.modelRequest(t).History
	assert.Equal(t, "(The caller pressed the keys 5.)", h[len(h)-1].Text)
}

func TestTextSessionGivesPressedKeysToTheModel(t *testing.T) {
	t.Parallel()
	var asked []pathway.ModelRequest
	p := pathway.TextSession{State: pathway.New(orderScript(), map[string]string{"name": "Ada"}), Model: func(r pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
		asked = append(asked, r)
		return []string{"Fine."}, pathway.ModelAnswered{}
	}}
	p.StartSession()
	p.PressKeys("42")
	require.NotEmpty(t, asked)
	h := asked[len(asked)-1].History
	assert.Equal(t, "(The caller pressed the keys 42.)", h[len(h)-1].Text)
}
