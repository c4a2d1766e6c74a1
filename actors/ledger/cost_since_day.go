package ledger

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
)

// SpentSince returns the cost of a workspace's outbound calls and SMS messages since the start of a day in the current month.
// If a call has no trunk price, it costs the plan's price of a call attempt.
func SpentSince(ctx context.Context, store commit.Store, w *domain.Workspace, since time.Time) (domain.Amount, error) {
	attempt := billing.CurrentTariff(w).Micros
	sum, err := spentOnSMS(ctx, store, w, since)
	if err != nil {
		return 0, err
	}
	q := monthQuery(w.ID, since)
	q.From = since.UTC().Format("20060102T150405.000000000")
	for {
		next, err := readRows(ctx, store, q, func(l *domain.LedgerRow) {
			if l.Direction == domain.Inbound {
				return
			}
			if sum = sum.Plus(l.CostMicros); !l.Priced {
				sum = sum.Plus(attempt)
			}
		})
		if err != nil || next == "" {
			return sum, err
		}
		q.Cursor = next
	}
}

// spentOnSMS returns the cost of the SMS messages of a day.
func spentOnSMS(ctx context.Context, store commit.Store, w *domain.Workspace, day time.Time) (sum domain.Amount, err error) {
	tariffs, err := Tariffs(ctx, store, w)
	if err != nil {
		return 0, err
	}
	rows, err := Counters(ctx, store, w.ID, day, day)
	for _, u := range rows {
		sum = sum.Plus(tariffs[u.Tariff].Segment.Times(u.Segments()))
	}
	return sum, err
}
