package live

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// maxMessages bounds the messages that wait for a client.
const maxMessages = 256

// messageQueue holds text messages between a call and a WebSocket. A client with too many waiting messages is too
// slow and is disconnected. A nil queue is always empty.
type messageQueue struct {
	available chan struct{} // has room for one signal

	mu      sync.Mutex
	waiting [][]byte
	slow    bool
	onSlow  func() // does not block
}

func newMessageQueue() *messageQueue { return &messageQueue{available: make(chan struct{}, 1)} }

// disconnectSlow sets the function that disconnects a client that is too slow.
func (q *messageQueue) disconnectSlow(onSlow func()) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.onSlow = onSlow
	if q.slow {
		onSlow()
	}
}

// push adds a message.
func (q *messageQueue) push(v any) {
	text, err := domain.EncodeJSON(v)
	if err != nil {
		return
	}
	q.mu.Lock()
	if len(q.waiting) < maxMessages {
		q.waiting = append(q.waiting, text)
	} else if !q.slow {
		q.slow = true
		if q.onSlow != nil {
			q.onSlow()
		}
	}
	q.mu.Unlock()
	select {
	case q.available <- struct{}{}:
	default:
	}
}

// ready returns a channel that signals waiting messages.
func (q *messageQueue) ready() <-chan struct{} {
	if q == nil {
		return nil
	}
	return q.available
}

// popAll removes and returns all waiting messages.
func (q *messageQueue) popAll() [][]byte {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting
	q.waiting = nil
	return all
}
