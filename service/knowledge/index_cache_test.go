package knowledge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/knowledge"
)

// testIndex returns an index of a version that contains one passage with this number of words.
func testIndex(version uint64, words int) *baseIndex {
	x := &baseIndex{index: new(knowledge.Index), version: version}
	x.index.Add(0, 0, knowledge.Passage{Text: strings.Repeat("word ", words)}, nil)
	return x
}

func TestIndexCacheReturnsOnlyRequestedVersion(t *testing.T) {
	t.Parallel()
	var c indexCache
	one := testIndex(1, 10)
	c.add("ws/kb", one)
	assert.Same(t, one, c.get("ws/kb", 1))
	assert.Nil(t, c.get("ws/kb", 2))
	c.add("ws/kb", testIndex(2, 10))
	assert.Nil(t, c.get("ws/kb", 1))
	assert.Equal(t, c.all["ws/kb"].index.Bytes(), c.bytes)
	c.forgetWorkspace("ws")
	assert.Nil(t, c.get("ws/kb", 2))
	assert.Zero(t, c.bytes)
}

func TestConcurrentSearchesShareIndexBuild(t *testing.T) {
	t.Parallel()
	var c indexCache
	b, first := c.join("ws/kb", 1)
	assert.True(t, first)
	same, first := c.join("ws/kb", 1)
	assert.False(t, first)
	assert.Same(t, b, same)
	c.finish("ws/kb", 1)
	_, first = c.join("ws/kb", 1)
	assert.True(t, first)
}
