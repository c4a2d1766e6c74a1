package live

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// maxMessages is the maximum number of text messages that wait for a client.
const maxMessages = 256

// messageQueue passes text messages from a call to a WebSocket. A client that lets too many messages wait is
// disconnected. A nil queue is always empty.
type messageQueue struct {
	available chan struct{} // receives a signal when a message waits; its buffer holds one signal

	mu      sync.Mutex
	waiting [][]byte
	slow    bool
	onSlow  func() // does not block
}

func newMessageQueue() *messageQueue { return &messageQueue{available: make(chan struct{}, 1)} }

// disconnectSlow sets the function that is called when the client reads too slowly.
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

// push encodes v as JSON and adds it to the queue.
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

// ready returns a channel that receives a signal when messages wait.
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
