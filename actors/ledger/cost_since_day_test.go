package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
)

func TestSpentSinceAddsTrunkCostsPlanPricesAndSMS(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), pebbletest.Open(t)
	price := domain.Dollars(20_000)
	w := &domain.Workspace{Meta: domain.Meta{ID: "ws_1"}, Plan: domain.Starter, SegmentPrice: &price}
	midnight := time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC)
	row := func(id string, at time.Time, change func(*domain.LedgerRow)) *domain.LedgerRow {
		l := &domain.LedgerRow{AttemptID: id, WorkspaceID: w.ID, Environment: domain.Live, Direction: domain.Outbound, OpenedAt: at, ClosedAt: at}
		if change != nil {
			change(l)
		}
		return l
	}
	sms := &domain.Usage{WorkspaceID: w.ID, Day: "2026-04-10"}
	sms.AddMessage(3)
	earlier := &domain.Usage{WorkspaceID: w.ID, Day: "2026-04-09"}
	earlier.AddMessage(100)
	_, err := store.Apply(ctx, commit.Change{Workspace: w.ID, Adds: []domain.CounterRecord{sms, earlier}, Puts: []domain.Record{
		row("yesterday", midnight.Add(-time.Millisecond), nil),
		row("without_cost", midnight, nil),
		row("priced", midnight.Add(time.Hour), func(l *domain.LedgerRow) { l.Priced, l.CostMicros = true, 7_000 }),
		row("inbound", midnight.Add(time.Hour), func(l *domain.LedgerRow) { l.Direction = domain.Inbound }),
	}})
	require.NoError(t, err)

	spent, err := ledger.SpentSince(ctx, store, w, midnight)
	require.NoError(t, err)
	assert.Equal(t, domain.Amount(100_000+7_000+3*20_000), spent, "the plan's price, the trunk's cost, 3 segments")
}
