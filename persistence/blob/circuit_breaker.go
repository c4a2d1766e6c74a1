package blob

import (
	"sync"
	"time"
)

// circuitBreaker stops requests to a store that is unavailable. After a failure, all requests are refused for
// openPeriod. Then one request probes the store. When the store answers that request, all requests are allowed again.
type circuitBreaker struct {
	minOpen, maxOpen time.Duration // bounds of openPeriod, which doubles with each failure

	mu         sync.Mutex
	cause      error // the last failure; nil: the circuit is closed
	openPeriod time.Duration
	openUntil  time.Time // no request is sent before this time
	probing    bool      // one request probes the store
}

// acquire asks for permission to send a request. If requests are refused, it returns the last failure and the time
// after which to try again. After the open period, the first caller with willAsk gets probes = true and sends a request.
// Other callers stay refused until the store answers that request.
func (b *circuitBreaker) acquire(now time.Time, willAsk bool) (probes bool, after time.Duration, cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.cause == nil:
	case now.Before(b.openUntil):
		return false, b.openUntil.Sub(now), b.cause
	case willAsk:
		b.openUntil, b.probing = now.Add(b.openPeriod), true
		return true, 0, nil
	}
	return false, 0, nil
}

// abandon records that the caller gave up before the store answered. If the caller was to probe the store, the next
// caller probes instead.
func (b *circuitBreaker) abandon(probes bool) {
	if !probes {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.openUntil, b.probing = time.Time{}, false
}

func (b *circuitBreaker) recordSuccess() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cause, b.openPeriod, b.openUntil, b.probing = nil, 0, time.Time{}, false
}

// recordFailure opens the circuit and returns the time after which requests are allowed again. If a request that was
// already running fails too, openPeriod does not double again.
func (b *circuitBreaker) recordFailure(now time.Time, cause error) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cause == nil || b.probing {
		b.openPeriod = min(max(2*b.openPeriod, b.minOpen), b.maxOpen)
	}
	b.cause, b.openUntil, b.probing = cause, now.Add(b.openPeriod), false
	return b.openPeriod
}
