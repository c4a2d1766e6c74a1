package commit

import (
	"context"
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// StoreError converts an error of the store to an error for the API: the disk is full, or the store is unavailable.
// Errors with an API code and errors of the context are returned unchanged.
func StoreError(err error) error {
	if err == nil || domain.CodeOf(err) != "" {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, domain.ErrStoreFull) {
		return fmt.Errorf("%w: %w", domain.StoreFull(), err)
	}
	return fmt.Errorf("%w: %w", domain.Errorf(domain.CodeUnavailable, "the store cannot be reached; try again").With("retry_after", 1), err)
}
