package httpapi

import (
	"context"
	"sync"
	"time"
)

// lease is the context of one request: the server's with a deadline and the
// visit. Its timer runs only where somebody waits for its end: most requests
// are answered from memory.
type lease struct {
	context.Context //nolint:containedctx // the server's; from Done on, one with the deadline: the lease is a context itself

	visit    *visit
	deadline time.Time

	mu     sync.Mutex
	timed  bool
	cancel context.CancelFunc // of what Done began
	over   bool
}

// begin makes it one of a visit that ends with the server, or at a time.
func (l *lease) begin(server context.Context, v *visit, deadline time.Time) *lease {
	l.Context, l.visit, l.deadline = server, v, deadline
	return l
}

// end is for the end of the request.
func (l *lease) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.timed {
		l.cancel()
	}
}

// timedLocked is the context with the deadline.
func (l *lease) timedLocked() context.Context {
	if !l.timed {
		l.timed = true
		l.Context, l.cancel = context.WithDeadline(l.Context, l.deadline)
		if l.over {
			l.cancel()
		}
	}
	return l.Context
}

// Deadline is when the answer must be there.
func (l *lease) Deadline() (time.Time, bool) { return l.deadline, true }

// Done is closed at the end of the request, of its time, or of the server.
func (l *lease) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.timedLocked().Done()
}

// Err says why Done is closed; nil: it is open.
func (l *lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.timed && !l.over && l.Context.Err() == nil && time.Now().Before(l.deadline) {
		return nil
	}
	return l.timedLocked().Err()
}

// Value knows the visit, and what the contexts below know.
func (l *lease) Value(key any) any {
	if key == (visitKey{}) {
		return l.visit
	}
	l.mu.Lock()
	below := l.Context
	l.mu.Unlock()
	return below.Value(key)
}
