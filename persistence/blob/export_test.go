package blob

import "time"

// CircuitBreaker is circuitBreaker.
type CircuitBreaker struct{ b circuitBreaker }

// NewCircuitBreaker makes one.
func NewCircuitBreaker(least, most time.Duration) *CircuitBreaker {
	return &CircuitBreaker{circuitBreaker{minOpen: least, maxOpen: most}}
}

// Acquire is enter.
func (b *CircuitBreaker) Acquire(now time.Time) (time.Duration, error) {
	_, after, err := b.b.acquire(now, true)
	return after, err
}

// AcquireAndAbandon is enter and leave of one caller.
func (b *CircuitBreaker) AcquireAndAbandon(now time.Time) {
	probes, _, _ := b.b.acquire(now, true)
	b.b.abandon(probes)
}

// Abandon is leave of a caller that does not probe.
func (b *CircuitBreaker) Abandon() { b.b.abandon(false) }

// RecordFailure is failed.
func (b *CircuitBreaker) RecordFailure(now time.Time, err error) time.Duration {
	return b.b.recordFailure(now, err)
}

// RecordSuccess is succeeded.
func (b *CircuitBreaker) RecordSuccess() { b.b.recordSuccess() }
