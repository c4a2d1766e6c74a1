package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
)

func TestIsSameIgnoresPunctuationAndCase(t *testing.T) {
	t.Parallel()
	think := func(node string, words ...string) *pathway.ModelRequest {
		out := &pathway.ModelRequest{Round: 3, Node: node, Prompt: "Talk", Offers: []pathway.ToolOffer{{Name: "end_call"}}}
		for i, text := range words {
			out.History = append(out.History, pathway.Message{By: []string{pathway.ByAgent, pathway.ByCaller}[i%2], Text: text})
		}
		return out
	}
	a := think("talk", "Hello.", "Where is my order?")
	assert.True(t, a.IsSame(think("talk", "Hello.", "where is my order")))
	assert.False(t, a.IsSame(think("talk", "Hello.", "where is my order now")))
	assert.False(t, a.IsSame(think("talk", "Hello!", "Where is my order?")), "the history is compared exactly")
	assert.False(t, a.IsSame(think("other", "Hello.", "Where is my order?")))
	later := think("talk", "Hello.", "Where is my order?")
	later.Round++
	assert.False(t, a.IsSame(later))
	assert.False(t, think("talk", "Hello.", "?").IsSame(think("talk", "Hello.", "!")), "no words are no question")
	assert.False(t, think("talk").IsSame(think("talk")))
	assert.False(t, think("talk", "Hello.").IsSame(think("talk", "Hello.")), "nor are our own")
}
