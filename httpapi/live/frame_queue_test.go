package live

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFrameQueuePopsFramesInOrderThenEnd(t *testing.T) {
	q, into := newFrameQueue(), make([]byte, 3)
	n, ended := q.pop(into)
	assert.Zero(t, n)
	assert.False(t, ended)
	for round := range 3 * maxFrames { // beyond the end of the ring buffer
		q.push([]byte{byte(round)})
		q.push([]byte{byte(round), 1})
		for _, size := range []int{1, 2} {
			n, ended = q.pop(into)
			assert.False(t, ended)
			assert.NotZero(t, n)
			assert.Equal(t, byte(round), into[0], size)
		}
	}
	q.push([]byte{7})
	q.push(nil)
	n, ended = q.pop(into)
	assert.NotZero(t, n)
	assert.False(t, ended)
	_, ended = q.pop(into)
	assert.True(t, ended)
}

func TestFrameQueueDisconnectsSlowClientOnce(t *testing.T) {
	q, slow := newFrameQueue(), 0
	q.disconnectSlow(func() { slow++ })
	for range maxFrames {
		q.push([]byte{1})
	}
	assert.Zero(t, slow)
	q.push([]byte{1})
	q.push([]byte{1})
	assert.Equal(t, 1, slow)
}

func TestFrameQueueDisconnectsAlreadySlowClientAtOnce(t *testing.T) {
	q, slow := newFrameQueue(), 0
	for range maxFrames + 1 {
		q.push([]byte{1})
	}
	q.disconnectSlow(func() { slow++ })
	assert.Equal(t, 1, slow)
}
