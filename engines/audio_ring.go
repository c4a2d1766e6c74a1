package engines

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// RingSamples is the capacity of a Ring: two seconds of 8 kHz audio.
const RingSamples = 2 * 8000

const pingEvery = 5 * time.Second

// Ring buffers the caller's audio, 8 kHz µ-law, until it is sent. Its methods never block and may be called from any
// goroutine.
type Ring struct {
	mu         sync.Mutex
	samples    [RingSamples]byte
	at, length int
	open       bool
}

// Write adds audio. Before Open, new audio replaces the oldest audio of a full Ring. After Open, audio that does not
// fit is discarded, and fits is false.
func (r *Ring) Write(mu []byte) (fits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open && r.length+len(mu) > RingSamples {
		return false
	}
	for _, b := range mu {
		r.samples[(r.at+r.length)%RingSamples] = b
		if r.length < RingSamples {
			r.length++
		} else {
			r.at = (r.at + 1) % RingSamples
		}
	}
	return true
}

// Open allows Take to return audio. It is called when the receiver accepts audio.
func (r *Ring) Open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = true
}

// Take moves the oldest audio to dst and returns the number of bytes. It returns 0 before Open.
func (r *Ring) Take(dst []byte) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open {
		return 0
	}
	want := min(r.length, len(dst))
	n = copy(dst[:want], r.samples[r.at:])
	n += copy(dst[n:want], r.samples[:])
	r.at, r.length = (r.at+n)%RingSamples, r.length-n
	return n
}

// Ping sends WebSocket pings until ctx ends. If a pong does not arrive in time, it calls gone and returns. Another
// goroutine must read from the connection meanwhile.
func Ping(ctx context.Context, conn *websocket.Conn, gone func()) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		bound, cancel := context.WithTimeout(ctx, pingEvery)
		err := conn.Ping(bound)
		cancel()
		if err != nil && ctx.Err() == nil {
			gone()
			return
		}
	}
}
