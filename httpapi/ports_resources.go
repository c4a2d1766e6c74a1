package httpapi

import (
	"context"

	"github.com/callboard/callboard/domain"
)

// Windows keep what is used of the rate limits beyond the end of the process.
type Windows interface {
	// RateWindows are empty for a workspace of which nothing was kept.
	RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error)
	KeepRateWindows(ctx context.Context, w *domain.RateWindows) error
}
