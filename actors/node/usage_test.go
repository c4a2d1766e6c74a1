package node_test

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
	"github.com/callboard/callboard/service/usage"
)

// storeEndedAttempt stores the usage ledger rows of n ended call attempts and adds them to the usage counters.
func (h *fixture) storeEndedAttempt(at time.Time, tariff, n int) {
	h.Helper()
	c := commit.Change{Workspace: h.live.WorkspaceID}
	for i := range n {
		id := at.Format(time.RFC3339Nano) + "/" + strconv.Itoa(i)
		row := &domain.LedgerRow{
			AttemptID: id, WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, CallID: "call_" + strconv.Itoa(i), Direction: domain.Outbound,
			Tariff: tariff, OpenedAt: at, ClosedAt: at.Add(time.Hour), Seconds: 6,
		}
		c.Puts = append(c.Puts, row)
		c.Adds = append(c.Adds, row.Usage())
	}
	_, err := h.store.Apply(context.Background(), c)
	require.NoError(h, err)
}

func (h *fixture) setPlan(p domain.Plan) int {
	h.Helper()
	w, err := h.services().Workspaces.UpdateWorkspace(context.Background(), h.live, func(w *domain.Workspace) error { w.Plan = p; return nil })
	require.NoError(h, err)
	return w.Tariff
}

func usageDays(from, to string) billing.UsageQuery {
	f, _ := time.Parse(time.DateOnly, from)
	t, _ := time.Parse(time.DateOnly, to)
	return billing.UsageQuery{From: f, To: t}
}

func TestAttemptIsBilledByMonthAndPlanOfItsOpening(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	starter := h.setPlan(domain.Starter)
	march := time.Date(2026, 3, 31, 23, 59, 59, 999_000_000, time.UTC)
	h.storeEndedAttempt(march.AddDate(0, 0, -3), starter, 501)
	h.storeEndedAttempt(march, starter, 2) // both attempts end in April
	april := march.Add(time.Millisecond)
	h.storeEndedAttempt(april, starter, 600)
	pro := h.setPlan(domain.Professional)
	require.Equal(t, starter+1, pro)
	h.storeEndedAttempt(april.Add(time.Hour), pro, 4401)
	again := h.setPlan(domain.Starter)
	h.storeEndedAttempt(april.AddDate(0, 0, 9), again, 3)

	u, err := d.Usage.Usage(ctx, h.live, usageDays("2026-03-01", "2026-04-30"))
	require.NoError(t, err)
	brief := map[string][]any{}
	note := func(name string, x billing.UsageTotals) {
		brief[name] = []any{x.Attempts, x.Included, x.Overage, x.Amount.Amount, x.Minutes}
	}
	for _, m := range u.Months {
		note(m.Month, m.UsageTotals)
	}
	for _, m := range u.Days {
		note(m.Day, m.UsageTotals)
	}
	note("total", u.Total)
	assert.Equal(t, map[string][]any{
		"2026-03-28": {501, 500, 1, "0.10", 50.1}, "2026-03-31": {2, 0, 2, "0.20", 0.2}, "2026-03": {503, 500, 3, "0.30", 50.3},
		"2026-04-01": {5001, 4900, 101, "10.08", 500.1}, "2026-04-10": {3, 0, 3, "0.30", 0.3}, "2026-04": {5004, 4900, 104, "10.38", 500.4},
		"total": {5507, 5400, 107, "10.68", 550.7},
	}, brief)
	u, err = d.Usage.Usage(ctx, h.live, usageDays("2026-04-10", "2026-04-10"))
	require.NoError(t, err)
	assert.Equal(t, "0.30", u.Total.Amount.Amount, "the quota was used up on the days before")

	for _, q := range []billing.UsageQuery{usageDays("2026-03-01", "2026-04-30"), usageDays("2026-04-10", "2026-05-02"), usageDays("2026-03-31", "2026-04-01")} {
		u, err := d.Usage.Usage(ctx, h.live, q)
		require.NoError(t, err)
		rows, err := d.Usage.Ledger(ctx, h.live, q)
		require.NoError(t, err)
		var n, included int
		var micros domain.Amount
		last := time.Time{}
		for l, err := range rows {
			require.NoError(t, err)
			m, err := domain.ParseAmount(l.Amount.Amount)
			require.NoError(t, err)
			n, micros = n+1, micros+m
			if l.Included {
				included++
			}
			assert.False(t, l.OpenedAt.Before(last))
			last = l.OpenedAt
		}
		assert.Equal(t, []any{u.Total.Attempts, u.Total.Included, u.Total.Amount}, []any{n, included, domain.Dollars(micros)}, "%v", q)
	}

	for _, p := range []domain.Principal{h.test} {
		u, err := d.Usage.Usage(ctx, p, usageDays("2026-03-01", "2026-04-30"))
		require.NoError(t, err)
		assert.Zero(t, u.Total.Attempts)
		rows, err := d.Usage.Ledger(ctx, p, usageDays("2026-03-01", "2026-04-30"))
		require.NoError(t, err)
		for _, err = range rows {
			require.NoError(t, err)
			t.Fatal("the ledger is the live environment's")
		}
	}
	h.shutdown()
	h.start()
	after, err := h.services().Usage.Usage(ctx, h.live, usageDays("2026-03-01", "2026-04-30"))
	require.NoError(t, err)
	assert.Equal(t, "10.68", after.Total.Amount.Amount, "prices of the past survive")
}

func TestEveryKindOfCallIsBilledAsDocumented(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	_, err := d.Trunks.CreateTrunk(ctx, h.live, &domain.Trunk{Name: "house", Simulator: true})
	require.NoError(t, err)
	id := h.createCampaign(h.live, agent, carrierNumber(1, 1, "11"), carrierNumber(1, 2, "14"), carrierNumber(1, 3, "19"))
	_, err = d.Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	c, err := d.Calls.PlaceCall(ctx, h.live, domain.NewCall{To: carrierNumber(1, 4, "11"), From: "+15005550100", AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	require.NoError(t, err)
	tested, err := d.Calls.PlaceCall(ctx, h.test, domain.NewCall{To: carrierNumber(1, 5, "11"), AgentID: h.createAgent(h.test, keyMenuPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	require.NoError(t, err)
	h.waitUntil(30*time.Second, "all calls have ended", func() bool {
		st, err := d.Campaigns.CampaignStatus(ctx, h.live, id)
		return err == nil && st.Status == domain.CampaignCompleted && h.getCall(h.live, c.ID).Final() && h.getCall(h.test, tested.ID).Final()
	})
	today := time.Now()
	u, err := d.Usage.Usage(ctx, h.live, billing.UsageQuery{From: today.AddDate(0, 0, -1), To: today})
	require.NoError(t, err)
	assert.Equal(t, 4, u.Total.Attempts, "each INVITE that reached the carrier, answered or not")
	assert.Zero(t, u.Total.InboundCalls)
	u, err = d.Usage.Usage(ctx, h.test, billing.UsageQuery{From: today.AddDate(0, 0, -1), To: today})
	require.NoError(t, err)
	assert.Zero(t, u.Total.Attempts, "tests are free")
	r, err := usage.Recount(ctx, h.store, h.live.WorkspaceID, billing.UsageQuery{From: today.AddDate(0, 0, -1), To: today}, false)
	require.NoError(t, err)
	assert.Empty(t, r.Wrong)
	assert.Equal(t, 4, r.Rows)
}
