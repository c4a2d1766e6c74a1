package blob

import "time"

// CircuitBreaker is circuitBreaker.
type CircuitBreaker struct{ b circuitBreaker }

// NewCircuitBreaker makes one.
func NewCircuitBreaker(least, most time.Duration) *CircuitBreaker {
	return &CircuitBreaker{circuitBreaker{minOpen: least, maxOpen: most}}
}

// Enter is enter.
func (b *CircuitBreaker) Enter(now time.Time) (time.Duration, error) {
	_, after, err := b.b.acquire(now, true)
	return after, err
}

// GiveUp is enter and leave of one caller.
func (b *CircuitBreaker) GiveUp(now time.Time) {
	probes, _, _ := b.b.acquire(now, true)
	b.b.abandon(probes)
}

// Leave is leave of a caller that does not probe.
func (b *CircuitBreaker) Leave() { b.b.abandon(false) }

// Failed is failed.
func (b *CircuitBreaker) Failed(now time.Time, err error) time.Duration {
	return b.b.recordFailure(now, err)
}

// Succeeded is succeeded.
func (b *CircuitBreaker) Succeeded() { b.b.recordSuccess() }
