package record

import (
	"context"
	"time"
)

// Wait waits for d, or returns the error of ctx when that ends before.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
