package ledger

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Counters returns the daily usage counters from the day "from" to the day "to", both included, in order.
func Counters(ctx context.Context, store commit.Store, workspaceID string, from, to time.Time) ([]*domain.Usage, error) {
	var out []*domain.Usage
	prefix, last := domain.Key{Kind: "usage", Workspace: workspaceID}, domain.Day(to)
	after := domain.Day(from.AddDate(0, 0, -1)) + "~" // sorts after every row of the day before
	for n, more := rowsPerRead, true; n == rowsPerRead && more; {
		n = 0
		err := store.Under(ctx, prefix, after, rowsPerRead, func() domain.Record { return &domain.Usage{} }, func(r domain.Record) error {
			n++
			u, ok := r.(*domain.Usage)
			if !ok || u.Day > last {
				more = false
				return nil
			}
			after = u.Key().ID
			if more {
				out = append(out, u)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
