package ledger

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
)

// Tariffs returns the current and all earlier tariffs of a workspace, keyed by tariff number.
func Tariffs(ctx context.Context, store commit.Store, w *domain.Workspace) (map[int]domain.Tariff, error) {
	out := map[int]domain.Tariff{w.Tariff: billing.CurrentTariff(w)}
	prefix := domain.Key{Kind: "tariff", Workspace: w.ID}
	for after, n := "", rowsPerRead; n == rowsPerRead; {
		n = 0
		err := store.Under(ctx, prefix, after, rowsPerRead, func() domain.Record { return &domain.Tariff{} }, func(r domain.Record) error {
			n++
			if t, ok := r.(*domain.Tariff); ok {
				out[t.Number], after = *t, t.Key().ID
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
