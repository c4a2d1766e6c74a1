package blob

import "time"

// CircuitBreaker gives the tests in package blob_test access to circuitBreaker.
type CircuitBreaker struct{ b circuitBreaker }

// NewCircuitBreaker returns a circuit breaker that allows requests. least and most bound its open period.
func NewCircuitBreaker(least, most time.Duration) *CircuitBreaker {
	return &CircuitBreaker{circuitBreaker{minOpen: least, maxOpen: most}}
}

// Acquire calls acquire for a request that may probe the store.
func (b *CircuitBreaker) Acquire(now time.Time) (time.Duration, error) {
	_, after, err := b.b.acquire(now, true)
	return after, err
}

// AcquireAndAbandon calls acquire, and then abandon as a caller that gives up.
func (b *CircuitBreaker) AcquireAndAbandon(now time.Time) {
	probes, _, _ := b.b.acquire(now, true)
	b.b.abandon(probes)
}

// Abandon calls abandon for a caller that does not probe the store.
func (b *CircuitBreaker) Abandon() { b.b.abandon(false) }

// RecordFailure calls recordFailure.
func (b *CircuitBreaker) RecordFailure(now time.Time, err error) time.Duration {
	return b.b.recordFailure(now, err)
}

// RecordSuccess calls recordSuccess.
func (b *CircuitBreaker) RecordSuccess() { b.b.recordSuccess() }
