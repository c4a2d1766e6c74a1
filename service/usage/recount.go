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

// Recount compares the usage counters of a range of days with the ledger; repair
// corrects the counters. It repeats the comparison if one of the wrong counters has
// changed meanwhile. Errors: unavailable if they keep changing.
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
	return out, domain.Errorf(domain.CodeUnavailable, "calls keep ending meanwhile; try again, or leave today out").With("retry_after", 1)
}

// miscount is the correction of one row of counters.
type miscount struct {
	diff    *domain.Usage // to be added to the row
	version uint64        // of the row that was compared
}

// areUnchanged says whether the wrong counters still have their versions.
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

// findMiscounts returns the counters that differ from the ledger; out gets the report.
func findMiscounts(ctx context.Context, store commit.Store, workspaceID string, q billing.UsageQuery, out *billing.LedgerCheck) ([]miscount, error) {
	counted, err := ledger.Counters(ctx, store, workspaceID, q.From, q.To)
	if err != nil {
		return nil, commit.StoreError(err)
	}
	have := make(map[string]*domain.Usage, len(counted))
	versions := make(map[string]uint64, len(counted))
	for _, u := range counted { // reading the version again: each later count raises it
		if versions[u.Key().ID], err = store.Get(ctx, u); err != nil {
			return nil, commit.StoreError(err)
		}
		have[u.Key().ID] = u
	}
	want := make(map[string]*domain.Usage)
	for l, err := range ledger.Rows(ctx, store, workspaceID, q.From, q.To) {
		if err != nil {
			return nil, commit.StoreError(err)
		}
		out.Rows++
		u := l.Usage()
		if sum := want[u.Key().ID]; sum != nil {
			sum.AddLedgerRow(l)
			continue
		}
		want[u.Key().ID] = u
	}
	for id, u := range have {
		if want[id] == nil {
			want[id] = &domain.Usage{WorkspaceID: u.WorkspaceID, Day: u.Day, Tariff: u.Tariff}
		}
	}
	out.Days = len(want)
	var wrong []miscount
	for id, w := range want {
		is := have[id]
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
