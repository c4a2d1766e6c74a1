package pathway_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
)

func TestAModelIsAskedTheSameWhateverTheSigns(t *testing.T) {
	t.Parallel()
	think := func(node string, words ...string) *pathway.Think {
		out := &pathway.Think{Round: 3, Node: node, Prompt: "Talk", Offers: []pathway.Offer{{Name: "end_call"}}}
		for i, text := range words {
			out.History = append(out.History, pathway.Message{By: []string{pathway.ByAgent, pathway.ByCaller}[i%2], Text: text})
		}
		return out
	}
	a := think("talk", "Hello.", "Where is my order?")
	assert.True(t, a.Same(think("talk", "Hello.", "where is my order")))
	assert.False(t, a.Same(think("talk", "Hello.", "where is my order now")))
	assert.False(t, a.Same(think("talk", "Hello!", "Where is my order?")), "what was said before counts as it is written")
	assert.False(t, a.Same(think("other", "Hello.", "Where is my order?")))
	later := think("talk", "Hello.", "Where is my order?")
	later.Round++
	assert.False(t, a.Same(later))
	assert.False(t, think("talk", "Hello.", "?").Same(think("talk", "Hello.", "!")), "no words are no question")
	assert.False(t, think("talk").Same(think("talk")))
	assert.False(t, think("talk", "Hello.").Same(think("talk", "Hello.")), "nor are our own")
}
