package sip

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func newEventQueue(panics *[]string) *eventQueue {
	return &eventQueue{recovered: func(where string, _ func()) {
		if recover() != nil {
			*panics = append(*panics, where)
		}
	}}
}

func TestEventQueueDeliversInOrderWithoutLock(t *testing.T) {
	var got []Event
	q := newEventQueue(nil)
	q.notify = func(e Event) {
		assert.True(t, q.mu.TryLock(), "the lock is released")
		q.mu.Unlock()
		if _, first := e.(Trying); first { // an owner may call the dialog within a callback
			q.do(func() { q.emit(Accepted{}) })
			assert.Empty(t, got, "no second event is delivered meanwhile")
		}
		got = append(got, e)
	}
	q.do(func() {
		q.emit(Trying{})
		q.emit(Ringing{Code: 180})
		assert.Empty(t, got)
	})
	assert.Equal(t, []Event{Trying{}, Ringing{Code: 180}, Accepted{}}, got)
}

func TestEventQueueReleasesOwnerAfterLastEvent(t *testing.T) {
	var got []Event
	q := newEventQueue(nil)
	q.notify = func(e Event) { got = append(got, e) }
	q.do(func() {
		q.emitLast(Ended{Q850: 16})
		q.emit(Trying{})
	})
	assert.Equal(t, []Event{Ended{Q850: 16}}, got)
	assert.Nil(t, q.notify)
}

func TestEventQueueRecoversPanicOfCallback(t *testing.T) {
	var panics []string
	q, got := newEventQueue(&panics), 0
	q.do(func() {
		q.later(func() { panic("owner") })
		q.later(func() { got++ })
	})
	q.do(func() {
		q.later(func() { got++ })
		panic("dialog")
	})
	assert.Equal(t, []string{"notify", "dialog"}, panics)
	assert.Equal(t, 2, got)
	assert.True(t, q.mu.TryLock())
}
