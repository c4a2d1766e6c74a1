package record

import (
	"context"
	"time"
)

// Sleep sleeps for d. If ctx ends earlier, Sleep returns the error of ctx at once.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
