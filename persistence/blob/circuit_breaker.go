package blob

import (
	"sync"
	"time"
)

// circuitBreaker keeps callers from a store that is away. After a failure nobody
// asks for a while, then one caller does, and an answer to that one lets all in.
type circuitBreaker struct {
	least, most time.Duration // of the time without requests; it doubles with each failure

	mu     sync.Mutex
	cause  error // nil: the store is there
	pause  time.Duration
	until  time.Time // nobody asks before
	trying bool      // one caller does, for all
}

// enter returns how long requests are still refused and the failure that caused it; nil:
// a request may be sent. After the pause one caller with willAsk sends a request, for
// which probes is true, and the others are refused until it has its answer.
func (b *circuitBreaker) enter(now time.Time, willAsk bool) (probes bool, after time.Duration, cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.cause == nil:
	case now.Before(b.until):
		return false, b.until.Sub(now), b.cause
	case willAsk:
		b.until, b.trying = now.Add(b.pause), true
		return true, 0, nil
	}
	return false, 0, nil
}

// leave is for a caller that gave up. If it was the one that probes, the next caller
// does so instead.
func (b *circuitBreaker) leave(probes bool) {
	if !probes {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.until, b.trying = time.Time{}, false
}

func (b *circuitBreaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause, b.pause, b.until, b.trying = nil, 0, time.Time{}, false
}

// failed returns after which time the store may be asked again. Requests that
// were under way at the first failure do not lengthen it.
func (b *circuitBreaker) failed(now time.Time, cause error) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil || b.trying {
		b.pause = min(max(2*b.pause, b.least), b.most)
	}
	b.cause, b.until, b.trying = cause, now.Add(b.pause), false
	return b.pause
}
