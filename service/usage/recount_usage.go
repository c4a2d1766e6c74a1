package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Recount compares the usage counters of a range of days with the ledger. With repair it corrects the counters. If a
// wrong counter changes at the same time, Recount repeats the comparison. Errors: unavailable if counters keep changing.
func Recount(ctx context.Context, store commit.Store, workspaceID string, q billing.UsageQuery, repair bool) (billing.LedgerCheck, error) {
	out := billing.LedgerCheck{WorkspaceID: workspaceID, From: domain.Day(q.From), To: domain.Day(q.To), Wrong: []billing.CounterMismatch{}}
	for range record.MaxTries {
		out.Rows, out.Days, out.Wrong = 0, 0, []billing.CounterMismatch{}
		wrong, err := findMiscounts(ctx, store, workspaceID, q, &out)
		if err != nil || len(wrong) == 0 {
			return out, err
		}
		if !repair {
			same, errRead := areUnchanged(ctx, store, wrong)
			if errRead != nil || same {
				return out, commit.StoreError(errRead)
			}
			continue
		}
		change := commit.Change{Workspace: workspaceID}
		for _, m := range wrong {
			change.Guards = append(change.Guards, commit.Guard{Key: m.diff.Key(), Version: m.version})
			change.Adds = append(change.Adds, m.diff)
		}
		_, err = store.Apply(ctx, change)
		if out.Repaired = err == nil; !errors.Is(err, domain.ErrConflict) {
			return out, commit.StoreError(err)
		}
	}
	return out, domain.Errorf(domain.CodeUnavailable, "the counters keep changing, because calls end at the same time; try again, or exclude today").With("retry_after", 1)
}

// miscount is a database row of usage counters that differs from the ledger.
type miscount struct {
	diff    *domain.Usage // correction to add to the row
	version uint64        // version of the compared row
}

// areUnchanged reports whether no wrong counter was changed in the store since the comparison with the ledger.
func areUnchanged(ctx context.Context, store commit.Store, wrong []miscount) (bool, error) {
	for _, m := range wrong {
		now := *m.diff
		version, err := store.Get(ctx, &now)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return false, err
		}
		if version != m.version {
			return false, nil
		}
	}
	return true, nil
}

// findMiscounts returns the counters that differ from the ledger, and fills out with the totals and the differences.
func findMiscounts(ctx context.Context, store commit.Store, workspaceID string, q billing.UsageQuery, out *billing.LedgerCheck) ([]miscount, error) {
	counted, err := ledger.Counters(ctx, store, workspaceID, q.From, q.To)
	if err != nil {
		return nil, commit.StoreError(err)
	}
	counters := make(map[string]*domain.Usage, len(counted))
	versions := make(map[string]uint64, len(counted))
	for _, u := range counted { // read each version again, because every new count raises it
		if versions[u.Key().ID], err = store.Get(ctx, u); err != nil {
			return nil, commit.StoreError(err)
		}
		counters[u.Key().ID] = u
	}
	ledgerSums := make(map[string]*domain.Usage)
	for l, err := range ledger.Rows(ctx, store, workspaceID, q.From, q.To) {
		if err != nil {
			return nil, commit.StoreError(err)
		}
		out.Rows++
		u := l.Usage()
		if sum := ledgerSums[u.Key().ID]; sum != nil {
			sum.AddLedgerRow(l)
			continue
		}
		ledgerSums[u.Key().ID] = u
	}
	for id, u := range counters {
		if ledgerSums[id] == nil {
			ledgerSums[id] = &domain.Usage{WorkspaceID: u.WorkspaceID, Day: u.Day, Tariff: u.Tariff}
		}
	}
	out.Days = len(ledgerSums)
	var wrong []miscount
	for id, w := range ledgerSums {
		is := counters[id]
		if is == nil {
			is = &domain.Usage{WorkspaceID: w.WorkspaceID, Day: w.Day, Tariff: w.Tariff}
		}
		diff := w.LedgerDifference(is)
		if diff == nil {
			continue
		}
		wrong = append(wrong, miscount{diff, versions[id]})
		out.Wrong = append(out.Wrong, billing.CounterMismatch{Day: w.Day, Tariff: w.Tariff, Counted: is.LedgerCounters(), Ledger: w.LedgerCounters()})
	}
	slices.SortFunc(out.Wrong, func(a, b billing.CounterMismatch) int {
		return cmp.Compare(fmt.Sprint(a.Day, a.Tariff), fmt.Sprint(b.Day, b.Tariff))
	})
	return wrong, nil
}
