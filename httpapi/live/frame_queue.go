package live

import (
	"sync"

	"github.com/callboard/callboard/service/calls"
)

// maxFrames is the maximum number of audio frames that wait for a client: one second of audio.
const maxFrames = 50

// frameQueue passes audio frames from the media clock, which never waits, to a WebSocket. A client that lets too many
// frames wait is disconnected.
type frameQueue struct {
	available chan struct{} // receives a signal when a frame waits; its buffer holds one signal

	mu     sync.Mutex
	frames [maxFrames][calls.ListenFrame]byte
	at, n  int
	ended  bool
	slow   bool
	onSlow func() // does not block
}

func newFrameQueue() *frameQueue { return &frameQueue{available: make(chan struct{}, 1)} }

// disconnectSlow sets the function that is called when the client reads too slowly. It is called at once if this has
// already happened.
func (q *frameQueue) disconnectSlow(onSlow func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.onSlow = onSlow
	if q.slow {
		onSlow()
	}
}

// push adds a frame. nil marks the end of the audio.
func (q *frameQueue) push(frame []byte) {
	q.mu.Lock()
	switch {
	case frame == nil:
		q.ended = true
	case q.n == maxFrames:
		if !q.slow && q.onSlow != nil {
			q.onSlow()
		}
		q.slow = true
	default:
		copy(q.frames[(q.at+q.n)%maxFrames][:], frame)
		q.n++
	}
	q.mu.Unlock()
	select {
	case q.available <- struct{}{}:
	default:
	}
}

// pop removes the oldest frame and copies it. n is 0 if no frame waits. ended reports that no frame will follow.
func (q *frameQueue) pop(into []byte) (n int, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return 0, q.ended
	}
	n = copy(into, q.frames[q.at][:])
	q.at, q.n = (q.at+1)%maxFrames, q.n-1
	return n, false
}
