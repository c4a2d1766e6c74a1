package membership

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/redis"
)

const joinAttempts = 5 // attempts to get a lease at a start

// Join calls join until it succeeds, at most joinAttempts times, with a pause after each failure. It returns at once
// if the store of leases is unavailable, because the caller then waits for the store.
func Join(ctx context.Context, cfg *configs.Config, log *slog.Logger, join func(context.Context) error) error {
	for try := 1; ; try++ {
		err := join(ctx)
		refused := new(lease.ParameterMismatchError)
		switch {
		case err == nil, errors.As(err, &refused):
			return err
		case try == joinAttempts, errors.Is(err, lease.ErrMalformed), IsUnavailable(err):
			return fmt.Errorf("open the store of leases: %w", err)
		}
		log.Warn("the store of leases does not answer: trying again", slog.Any("error", err))
		pause := time.NewTimer(cfg.Node.LeaseDuration / 2)
		select {
		case <-ctx.Done():
			pause.Stop()
			return err
		case <-pause.C:
		}
	}
}

// IsUnavailable reports whether an error of the store is temporary, such as a lost connection.
func IsUnavailable(err error) bool {
	_, later := redis.Diagnose(err)
	return later
}
