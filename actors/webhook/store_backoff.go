package webhook

import (
	"log/slog"
	"time"
)

// storeBackoff delays store operations after failures. The delay grows with each failure in a row.
type storeBackoff struct {
	delay time.Duration
	until time.Time
}

func (b *storeBackoff) isActive(now time.Time) bool { return b.until.After(now) }

func (b *storeBackoff) failed(now time.Time) {
	b.delay = min(max(2*b.delay, minBackoff), maxBackoff)
	b.until = now.Add(b.delay)
}

func (b *storeBackoff) succeeded() { b.delay = 0 }

// storeFailed logs a failure of the store and starts the backoff.
func (e *endpoint) storeFailed(what string, err error) {
	e.backoff.failed(time.Now())
	e.log.Warn("store operation of a webhook failed", slog.String("what", what), slog.Any("error", err), slog.Duration("again_in", e.backoff.delay))
}
