package conversation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
)

func TestCheckpointIsSentAfterChanges(t *testing.T) {
	t.Parallel()
	var p checkpoint
	_, changed := p.update(checkpointState{})
	assert.True(t, changed, "the first one")
	_, changed = p.update(checkpointState{})
	assert.False(t, changed)
	_, changed = p.update(checkpointState{segments: 1})
	assert.True(t, changed)
	p.waiting = []toolCall{{}}
	calls, changed := p.update(checkpointState{segments: 1})
	assert.True(t, changed)
	assert.Equal(t, 1, calls, "a tool waits for it")
	calls, _ = p.update(checkpointState{segments: 2})
	assert.Zero(t, calls, "no more tools")
}

func TestCheckpointReleasesEachToolCallOnce(t *testing.T) {
	t.Parallel()
	named := func(name string) toolCall { return toolCall{act: pathway.ActionRequest{Name: name}} }
	p := checkpoint{waiting: []toolCall{named("a"), named("b"), named("c")}}
	assert.Equal(t, []toolCall{named("a"), named("b")}, p.releaseToolCalls(2))
	assert.Empty(t, p.releaseToolCalls(2), "the timeout of what was stored")
	assert.Equal(t, 3, p.toolCalls())
	assert.Equal(t, []toolCall{named("c")}, p.releaseToolCalls(9))
}

func TestCheckpointReportsBusyWhenItChanges(t *testing.T) {
	t.Parallel()
	var p checkpoint
	assert.False(t, p.setBusy(false))
	assert.True(t, p.setBusy(true))
	assert.False(t, p.setBusy(true))
	assert.True(t, p.setBusy(false))
}
