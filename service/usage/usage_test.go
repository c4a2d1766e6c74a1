package usage_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/usage"
)

// known is a fake of the interface workspaces that holds workspaces by id.
type known map[string]*domain.Workspace

func (k known) Workspace(_ context.Context, p domain.Principal) (*domain.Workspace, error) {
	if w := k[p.WorkspaceID]; w != nil {
		return w, nil
	}
	return nil, domain.NotFound("workspace")
}

func workspace(id string) *domain.Workspace {
	return &domain.Workspace{Meta: domain.Meta{ID: id}, Plan: domain.Starter}
}

func principal(workspaceID string, env domain.Environment) domain.Principal {
	return domain.Principal{WorkspaceID: workspaceID, Environment: env}
}

// storeAttempts commits the ledger rows and usage counts of n call attempts of 6 seconds, as the end of a call does.
func storeAttempts(t *testing.T, store commit.Store, workspaceID string, openedAt time.Time, n int) {
	t.Helper()
	c := commit.Change{Workspace: workspaceID}
	for i := range n {
		row := &domain.LedgerRow{
			AttemptID: openedAt.Format(time.RFC3339Nano) + "/" + strconv.Itoa(i), WorkspaceID: workspaceID, Environment: domain.Live,
			Direction: domain.Outbound, OpenedAt: openedAt, ClosedAt: openedAt.Add(time.Minute), Seconds: 6,
		}
		c.Puts = append(c.Puts, row)
		c.Adds = append(c.Adds, row.Usage())
	}
	_, err := store.Apply(t.Context(), c)
	require.NoError(t, err)
}

func days(from, to string) billing.UsageQuery {
	f, _ := time.Parse(time.DateOnly, from)
	t, _ := time.Parse(time.DateOnly, to)
	return billing.UsageQuery{From: f, To: t}
}

func TestLedgerLinesAddUpToUsage(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), pebbletest.Open(t)
	first := time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC)
	storeAttempts(t, store, "ws_1", first, 499)
	storeAttempts(t, store, "ws_1", first.AddDate(0, 0, 1), 3)
	s := usage.New(store, known{"ws_1": workspace("ws_1")})
	for _, c := range []struct {
		query                        billing.UsageQuery
		attempts, included, overages int
		amount                       string
	}{
		{days("2026-04-01", "2026-04-30"), 502, 500, 2, "0.20"},
		{days("2026-04-02", "2026-04-02"), 3, 1, 2, "0.20"}, // the previous day has used the quota
		{days("2026-04-03", "2026-04-30"), 0, 0, 0, "0.00"},
	} {
		u, err := s.Usage(ctx, principal("ws_1", domain.Live), c.query)
		require.NoError(t, err)
		assert.Equal(t, []any{c.attempts, c.included, c.overages, c.amount}, []any{u.Total.Attempts, u.Total.Included, u.Total.Overage, u.Total.Amount.Amount})
		lines, err := s.Ledger(ctx, principal("ws_1", domain.Live), c.query)
		require.NoError(t, err)
		attempts, included, sum := 0, 0, domain.Amount(0)
		for l, err := range lines {
			require.NoError(t, err)
			micros, err := domain.ParseAmount(l.Amount.Amount)
			require.NoError(t, err)
			attempts, sum = attempts+1, sum.Plus(micros)
			if l.Included {
				included++
			}
		}
		assert.Equal(t, []any{c.attempts, c.included, u.Total.Amount}, []any{attempts, included, domain.Dollars(sum)})
	}
}

func TestUsageExcludesOtherWorkspacesAndTestCalls(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), pebbletest.Open(t)
	storeAttempts(t, store, "ws_1", time.Date(2026, 4, 1, 8, 0, 0, 0, time.UTC), 5)
	s := usage.New(store, known{"ws_1": workspace("ws_1"), "ws_2": workspace("ws_2")})
	q := days("2026-04-01", "2026-04-30")
	for _, p := range []domain.Principal{principal("ws_1", domain.Test), principal("ws_2", domain.Live)} {
		u, err := s.Usage(ctx, p, q)
		require.NoError(t, err)
		assert.Zero(t, u.Total.Attempts)
		assert.Empty(t, u.Days)
		lines, err := s.Ledger(ctx, p, q)
		require.NoError(t, err)
		for _, err := range lines {
			require.NoError(t, err)
			t.Fatal("the workspace and environment have no rows")
		}
	}
	_, err := s.Usage(ctx, principal("ws_3", domain.Live), q)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = s.Ledger(ctx, principal("ws_3", domain.Live), q)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}

func TestRecountReportsAndRepairsWrongUsageCounters(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), pebbletest.Open(t)
	w, live := workspace("ws_1"), principal("ws_1", domain.Live)
	day := time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)
	storeAttempts(t, store, w.ID, day, 20)
	storeAttempts(t, store, w.ID, day.AddDate(0, 0, 1), 5)
	q := days("2026-05-01", "2026-05-31")
	r, err := usage.Recount(ctx, store, w.ID, q, true)
	require.NoError(t, err)
	assert.Equal(t, billing.LedgerCheck{WorkspaceID: w.ID, From: "2026-05-01", To: "2026-05-31", Rows: 25, Days: 2, Wrong: []billing.CounterMismatch{}}, r)

	off := &domain.Usage{WorkspaceID: w.ID, Day: "2026-05-10"}
	off.Counts[0], off.Counts[4] = -3, 7 // messages have no ledger rows, so their counter stays
	ghost := &domain.Usage{WorkspaceID: w.ID, Day: "2026-05-20", Tariff: 2}
	ghost.Counts[0] = 1
	_, err = store.Apply(ctx, commit.Change{Workspace: w.ID, Adds: []domain.CounterRecord{off, ghost}, Deletes: []domain.Key{
		(&domain.Usage{WorkspaceID: w.ID, Day: "2026-05-11"}).Key(),
	}})
	require.NoError(t, err)
	for _, repair := range []bool{false, true} {
		r, err = usage.Recount(ctx, store, w.ID, q, repair)
		require.NoError(t, err)
		assert.Equal(t, repair, r.Repaired)
		assert.Equal(t, []billing.CounterMismatch{
			{Day: "2026-05-10", Counted: []int64{17, 120, 0, 0}, Ledger: []int64{20, 120, 0, 0}},
			{Day: "2026-05-11", Counted: []int64{0, 0, 0, 0}, Ledger: []int64{5, 30, 0, 0}},
			{Day: "2026-05-20", Tariff: 2, Counted: []int64{1, 0, 0, 0}, Ledger: []int64{0, 0, 0, 0}},
		}, r.Wrong)
	}
	r, err = usage.Recount(ctx, store, w.ID, q, false)
	require.NoError(t, err)
	assert.Empty(t, r.Wrong)
	u, err := usage.New(store, known{w.ID: w}).Usage(ctx, live, q)
	require.NoError(t, err)
	assert.Equal(t, 25, u.Total.Attempts)
	assert.Equal(t, 7, u.Total.SMS)
}
