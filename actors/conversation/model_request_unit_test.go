package conversation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
)

func TestSpeculativeResponseIsUsedForEqualRequestOnly(t *testing.T) {
	t.Parallel()
	d := pathway.ModelRequest{Round: 7, History: []pathway.Message{{By: pathway.ByCaller, Text: "When are you open?"}}}
	guess := func() (r speculativeRequest, canceled *bool) {
		canceled = new(bool)
		id := r.start(d, "brief")
		r.cancel = func() { *canceled = true }
		assert.Nil(t, r.add(speculativeResult{id, modelSentence{text: "Hello"}}), "it is kept")
		assert.Nil(t, r.add(speculativeResult{id - 1, modelSentence{text: "stale"}}))
		return r, canceled
	}

	r, canceled := guess()
	parts, ok := r.use(&d, "brief")
	assert.True(t, ok)
	assert.Equal(t, []any{modelSentence{round: 7, text: "Hello"}}, parts)
	assert.Equal(t, modelAnswered{round: 7}, r.add(speculativeResult{r.id, modelAnswered{}}), "what follows is of that round")
	made, used := r.end()
	assert.True(t, made)
	assert.True(t, used)
	assert.False(t, *canceled)

	r, canceled = guess()
	_, ok = r.use(&d, "another brief")
	assert.False(t, ok)
	made, used = r.end()
	assert.True(t, made)
	assert.False(t, used)
	assert.True(t, *canceled)
	made, _ = r.end()
	assert.False(t, made, "the next turn has made none")
}

func TestModelRequestIsAttributedToFirstSegment(t *testing.T) {
	t.Parallel()
	var r currentModelRequest
	canceled := 0
	r.beginRound(1)
	r.cancelWork = func() { canceled++ }
	assert.True(t, r.isCurrent(1))
	assert.False(t, r.isCurrent(2))
	r.beginRound(2)
	assert.Equal(t, 1, canceled)
	assert.False(t, r.isCurrent(2), "nothing is asked yet")
}
