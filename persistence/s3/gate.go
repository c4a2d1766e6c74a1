package s3

import (
	"sync"
	"time"
)

// gate keeps people from a store that is away: for a while nobody asks, then
// one does, and the others go on when that was answered.
type gate struct {
	least, most time.Duration

	mu    sync.Mutex
	cause error // nil: the store is there
	pause time.Duration
	until time.Time // nobody asks before
	asked bool      // somebody does, on behalf of all
}

// look says how long the store is not asked any more, and why; nil: it may be.
func (g *gate) look(now time.Time) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause == nil || !now.Before(g.until) {
		return 0, nil
	}
	return g.until.Sub(now), g.cause
}

// enter is look by one who asks if he may; the next one has to wait for him.
func (g *gate) enter(now time.Time) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause == nil {
		return 0, nil
	}
	if now.Before(g.until) {
		return g.until.Sub(now), g.cause
	}
	g.until, g.asked = now.Add(g.pause), true
	return 0, nil
}

// leave: nobody knows whether it would have answered. The next one asks.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.until, g.asked = time.Time{}, false
}

func (g *gate) worked() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cause, g.pause, g.until, g.asked = nil, 0, time.Time{}, false
}

// failed says when it is worth asking again. Who asked before the store was
// known to be away lengthens nothing.
func (g *gate) failed(now time.Time, cause error) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause == nil || g.asked {
		g.pause = min(max(2*g.pause, g.least), g.most)
	}
	g.cause, g.until, g.asked = cause, now.Add(g.pause), false
	return g.pause
}
