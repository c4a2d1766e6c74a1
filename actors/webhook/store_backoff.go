package webhook

import (
	"log/slog"
	"time"
)

// storeBackoff is the wait after failures of the store: longer with each failure in a row.
type storeBackoff struct {
	pause time.Duration
	until time.Time
}

func (b *storeBackoff) active(now time.Time) bool { return b.until.After(now) }

func (b *storeBackoff) failed(now time.Time) {
	b.pause = min(max(2*b.pause, minPause), maxPause)
	b.until = now.Add(b.pause)
}

func (b *storeBackoff) succeeded() { b.pause = 0 }

// storeFailed logs a failure of the store, and waits before the store is used again.
func (e *endpoint) storeFailed(what string, err error) {
	e.backoff.failed(time.Now())
	e.log.Warn("the store failed a webhook", slog.String("what", what), slog.Any("error", err), slog.Duration("again_in", e.backoff.pause))
}
