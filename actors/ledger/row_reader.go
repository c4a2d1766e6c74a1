// Package ledger reads the stored usage of a workspace: the ledger with one row per billed or counted call, the daily usage
// counters, and the tariffs.
package ledger

import (
	"context"
	"iter"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// rowsPerRead is the maximum number of ledger rows per read of the store.
const rowsPerRead = 1000

// Rows returns the ledger rows of calls that were opened on the days from "from" to "to", both included, in order of
// opening. The sequence ends with the first error of the store.
func Rows(ctx context.Context, store commit.Store, workspaceID string, from, to time.Time) iter.Seq2[*domain.LedgerRow, error] {
	return func(yield func(*domain.LedgerRow, error) bool) {
		end := to.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
		for month := FirstOfMonth(from); month.Before(end); month = month.AddDate(0, 1, 0) {
			q := monthQuery(workspaceID, month)
			q.From, q.To = from.UTC().Format("20060102"), end.Format("20060102")
			for more := true; more; more = q.Cursor != "" {
				batch := make([]*domain.LedgerRow, 0, rowsPerRead)
				var err error
				q.Cursor, err = readRows(ctx, store, q, func(l *domain.LedgerRow) { batch = append(batch, l) })
				if err != nil {
					yield(nil, err)
					return
				}
				for _, l := range batch {
					if !yield(l, nil) {
						return
					}
				}
			}
		}
	}
}

// FirstOfMonth returns the start of t's month in UTC.
func FirstOfMonth(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func monthQuery(workspaceID string, month time.Time) commit.Query {
	return commit.Query{Kind: "ledger", Workspace: workspaceID, Index: "month=" + month.UTC().Format("2006-01"), Oldest: true, Limit: rowsPerRead}
}

func readRows(ctx context.Context, store commit.Store, q commit.Query, each func(*domain.LedgerRow)) (next string, err error) {
	return store.List(ctx, q, func() domain.Record { return &domain.LedgerRow{} }, func(r domain.Record) error {
		if l, ok := r.(*domain.LedgerRow); ok {
			each(l)
		}
		return nil
	})
}
