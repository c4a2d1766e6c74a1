package live

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMessageQueuePopsAllMessagesInOrder(t *testing.T) {
	q := newMessageQueue()
	q.push(map[string]int{"n": 1})
	q.push(map[string]int{"n": 2})
	<-q.ready()
	all := q.popAll()
	assert.Len(t, all, 2)
	assert.JSONEq(t, `{"n":1}`, string(all[0]))
	assert.JSONEq(t, `{"n":2}`, string(all[1]))
	assert.Empty(t, q.popAll())
}

func TestMessageQueueDisconnectsSlowClient(t *testing.T) {
	q, slow := newMessageQueue(), 0
	q.disconnectSlow(func() { slow++ })
	for range maxMessages + 2 {
		q.push("x")
	}
	assert.Equal(t, 1, slow)
	assert.Len(t, q.popAll(), maxMessages)
}

func TestNilMessageQueueIsEmpty(t *testing.T) {
	var q *messageQueue
	q.disconnectSlow(func() {})
	assert.Empty(t, q.popAll())
	assert.Nil(t, q.ready())
}
