package engines

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// RingKeeps is how many samples of a caller may wait to be sent: two seconds.
const RingKeeps = 2 * 8000

const pingEvery = 5 * time.Second

// Ring keeps a caller's sound, 8 kHz µ-law, until it is sent. Its methods return at once and may be called from any goroutine.
type Ring struct {
	mu    sync.Mutex
	kept  [RingKeeps]byte
	at, n int
	open  bool
}

// Write takes sound. Before Open the newest counts; behind it what does not fit is left out, and fits is false.
func (r *Ring) Write(mu []byte) (fits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open && r.n+len(mu) > RingKeeps {
		return false
	}
	for _, b := range mu {
		r.kept[(r.at+r.n)%RingKeeps] = b
		if r.n < RingKeeps {
			r.n++
		} else {
			r.at = (r.at + 1) % RingKeeps
		}
	}
	return true
}

// Open lets sound be taken.
func (r *Ring) Open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = true
}

// Take takes the oldest sound: none before Open.
func (r *Ring) Take(dst []byte) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open {
		return 0
	}
	want := min(r.n, len(dst))
	n = copy(dst[:want], r.kept[r.at:])
	n += copy(dst[n:want], r.kept[:])
	r.at, r.n = (r.at+n)%RingKeeps, r.n-n
	return n
}

// Ping finds a connection that is gone without a word, until ctx ends. Somebody has to read from it meanwhile.
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
