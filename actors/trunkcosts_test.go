package actors_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestCostsTakeAnOperatorAndACapWithoutThemWarns(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	ctx, d := h.Context(), h.desk()
	operator, clerk := h.live, h.live
	operator.Operator, clerk.Operator = true, false
	trunk := func(cost string) *domain.Trunk {
		x := &domain.Trunk{Name: "carrier", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}, NumberFormat: domain.FormatE164, Prefixes: []string{"+44"}}
		if cost != "" {
			x.Costs = []domain.Rate{{Prefix: "+4", Cost: cost}}
		}
		return x
	}
	_, err := d.CreateTrunk(ctx, clerk, trunk("0"))
	require.Equal(t, domain.CodeOperatorRequired, domain.CodeOf(err))
	made, err := d.CreateTrunk(ctx, operator, trunk("0.01"))
	require.NoError(t, err)
	reprice := func(p domain.Principal, costs ...domain.Rate) (*domain.Trunk, error) {
		return d.UpdateTrunk(ctx, p, made.ID, func(x *domain.Trunk) error {
			x.Name, x.Costs = "other", costs
			return nil
		})
	}
	_, err = reprice(clerk)
	require.Equal(t, domain.CodeOperatorRequired, domain.CodeOf(err))
	_, err = reprice(clerk, made.Costs...)
	require.NoError(t, err, "the costs stay as they are")

	w, err := d.UpdateWorkspace(ctx, operator, func(w *domain.Workspace) error {
		w.Calling.DailySpendCap = &domain.Money{Amount: "1.00", Currency: "USD"}
		return nil
	})
	require.NoError(t, err)
	warnings, err := d.SpendWarnings(ctx, w)
	require.NoError(t, err)
	assert.Empty(t, warnings, "each number that the trunk takes has a cost")
	bare, err := reprice(operator)
	require.NoError(t, err)
	require.Len(t, bare.Warnings, 1)
	assert.Equal(t, []any{domain.WarnSpendCap, "costs"}, []any{bare.Warnings[0].Code, bare.Warnings[0].Param})
	warnings, err = d.SpendWarnings(ctx, w)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Equal(t, []any{domain.WarnSpendCap, "calling.daily_spend_cap"}, []any{warnings[0].Code, warnings[0].Param})
	assert.Contains(t, warnings[0].Message, `"other"`)
}
