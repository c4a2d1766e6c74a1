package blob

import "time"

// CircuitBreaker is circuitBreaker.
type CircuitBreaker struct{ b circuitBreaker }

// NewCircuitBreaker makes one.
func NewCircuitBreaker(least, most time.Duration) *CircuitBreaker {
	return &CircuitBreaker{circuitBreaker{least: least, most: most}}
}

// Enter is enter.
func (b *CircuitBreaker) Enter(now time.Time) (time.Duration, error) {
	return b.b.enter(now, true)
}

// Failed is failed.
func (b *CircuitBreaker) Failed(now time.Time, err error) time.Duration { return b.b.failed(now, err) }

// Succeeded is succeeded.
func (b *CircuitBreaker) Succeeded() { b.b.succeeded() }
