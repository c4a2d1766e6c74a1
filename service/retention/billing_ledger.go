package retention

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// sweepLedger deletes the ledger rows of call attempts that were opened before the retention period. The usage
// counters per day and month stay.
func (s *Service) sweepLedger(ctx context.Context, workspaceID string, now time.Time) error {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil || w.Retention.LedgerDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.LedgerDays).UTC()
	bound := (&domain.LedgerRow{OpenedAt: before}).Sort()
	created := w.CreatedAt.UTC()
	for month := time.Date(created.Year(), created.Month(), 1, 0, 0, 0, 0, time.UTC); !month.After(before); month = month.AddDate(0, 1, 0) {
		for {
			change := commit.Change{Workspace: workspaceID}
			q := commit.Query{
				Kind: "ledger", Workspace: workspaceID, Index: "month=" + month.Format("2006-01"), Oldest: true, Limit: record.SweepRows, To: bound,
			}
			_, err := s.store.List(ctx, q, func() domain.Record { return &domain.LedgerRow{} }, func(r domain.Record) error {
				change.Deletes = append(change.Deletes, r.Key())
				return nil
			})
			if err != nil {
				return err
			}
			if len(change.Deletes) == 0 {
				break
			}
			if _, err = s.store.Apply(ctx, change); err != nil {
				return err
			}
		}
	}
	return nil
}
