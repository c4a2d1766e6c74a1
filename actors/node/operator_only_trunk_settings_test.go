package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestTrunkCostsRequireAnOperatorAndMissingCostsWarnAboutTheSpendCap(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := h.Context(), h.services()
	operator, clerk := h.live, h.live
	operator.Operator, clerk.Operator = true, false
	trunk := func(cost string) *domain.Trunk {
		x := &domain.Trunk{Name: "carrier", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}, NumberFormat: domain.FormatE164, Prefixes: []string{"+44"}}
		if cost != "" {
			x.Costs = []domain.Rate{{Prefix: "+4", Cost: cost}}
		}
		return x
	}
	_, err := d.Trunks.CreateTrunk(ctx, clerk, trunk("0"))
	require.Equal(t, domain.CodeOperatorRequired, domain.CodeOf(err))
	created, err := d.Trunks.CreateTrunk(ctx, operator, trunk("0.01"))
	require.NoError(t, err)
	reprice := func(p domain.Principal, costs ...domain.Rate) (*domain.Trunk, error) {
		return d.Trunks.UpdateTrunk(ctx, p, created.ID, func(x *domain.Trunk) error {
			x.Name, x.Costs = "other", costs
			return nil
		})
	}
	_, err = reprice(clerk)
	require.Equal(t, domain.CodeOperatorRequired, domain.CodeOf(err))
	_, err = reprice(clerk, created.Costs...)
	require.NoError(t, err, "unchanged costs need no operator")

	w, err := d.Workspaces.UpdateWorkspace(ctx, operator, func(w *domain.Workspace) error {
		w.Calling.DailySpendCap = &domain.Money{Amount: "1.00", Currency: "USD"}
		return nil
	})
	require.NoError(t, err)
	warnings, err := d.Trunks.SpendWarnings(ctx, w)
	require.NoError(t, err)
	assert.Empty(t, warnings, "each number that the trunk takes has a cost")
	bare, err := reprice(operator)
	require.NoError(t, err)
	require.Len(t, bare.Warnings, 1)
	assert.Equal(t, []any{domain.WarningSpendCap, "costs"}, []any{bare.Warnings[0].Code, bare.Warnings[0].Param})
	warnings, err = d.Trunks.SpendWarnings(ctx, w)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Equal(t, []any{domain.WarningSpendCap, "calling.daily_spend_cap"}, []any{warnings[0].Code, warnings[0].Param})
	assert.Contains(t, warnings[0].Message, `"other"`)
}

func TestTrunkNumberRewriteRequiresAnOperatorButAnyoneMayClearIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := h.Context(), h.services()
	operator, clerk := h.live, h.live
	operator.Operator, clerk.Operator = true, false
	trunk := func(strip, add string) *domain.Trunk {
		return &domain.Trunk{
			Name: "carrier", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}},
			NumberFormat: domain.FormatE164, NumberStrip: strip, NumberAdd: add, Prefixes: []string{"+44"},
		}
	}
	refused := func(err error, param string) {
		t.Helper()
		var e *domain.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, []any{domain.CodeOperatorRequired, param}, []any{e.Code, e.Param})
	}
	_, err := d.Trunks.CreateTrunk(ctx, clerk, trunk("+", ""))
	refused(err, "number_strip")
	_, err = d.Trunks.CreateTrunk(ctx, clerk, trunk("", "9"))
	refused(err, "number_add")
	created, err := d.Trunks.CreateTrunk(ctx, operator, trunk("+", "00"))
	require.NoError(t, err)
	assert.True(t, created.RewriteApproved)

	change := func(p domain.Principal, f func(*domain.Trunk)) (*domain.Trunk, error) {
		return d.Trunks.UpdateTrunk(ctx, p, created.ID, func(x *domain.Trunk) error { f(x); return nil })
	}
	stored, err := change(clerk, func(x *domain.Trunk) { x.Name = "other" })
	require.NoError(t, err, "the dialled number is unchanged")
	assert.True(t, stored.RewriteApproved)
	_, err = change(clerk, func(x *domain.Trunk) { x.NumberAdd = "911" })
	refused(err, "number_add")
	_, err = change(clerk, func(x *domain.Trunk) { x.NumberFormat = domain.FormatDigits })
	refused(err, "number_format")
	_, err = change(clerk, func(x *domain.Trunk) { x.NumberCountry = "US" })
	refused(err, "number_country")
	_, err = change(operator, func(x *domain.Trunk) { x.NumberFormat = domain.FormatDigits })
	require.NoError(t, err)

	moved := []domain.Proxy{{Host: "192.0.2.2", Port: 5060, Transport: "udp"}}
	now, err := change(operator, func(x *domain.Trunk) { x.Proxies = moved })
	require.NoError(t, err)
	assert.True(t, now.RewriteApproved)
	for name, edit := range map[string]func(*domain.Trunk){
		"proxies": func(x *domain.Trunk) {
			x.Proxies = append([]domain.Proxy{{Host: "192.0.2.3", Port: 5060, Transport: "udp"}}, x.Proxies...)
		},
		"outbound_proxy": func(x *domain.Trunk) { x.OutboundProxy = &domain.Proxy{Host: "192.0.2.9"} },
	} {
		now, err = change(clerk, edit)
		require.NoError(t, err)
		assert.False(t, now.RewriteApproved, "%s: the prefix was approved for another carrier", name)
		now, err = change(clerk, func(x *domain.Trunk) { x.RewriteApproved = true })
		require.NoError(t, err)
		assert.False(t, now.RewriteApproved, "only operators approve")
		now, err = change(operator, func(x *domain.Trunk) { x.Name = "third" })
		require.NoError(t, err)
		assert.False(t, now.RewriteApproved, "an operator's other changes approve no rewrite")
		now, err = change(operator, func(x *domain.Trunk) { x.RewriteApproved = true })
		require.NoError(t, err)
		assert.True(t, now.RewriteApproved)
	}

	cleared, err := change(clerk, func(x *domain.Trunk) { x.NumberStrip, x.NumberAdd = "", "" })
	require.NoError(t, err)
	assert.False(t, cleared.RewriteApproved)
	_, err = change(clerk, func(x *domain.Trunk) { x.NumberFormat = domain.FormatE164 })
	require.NoError(t, err, "no number is rewritten")
}

func TestTrunkNumberFormatOfAnotherCountryRequiresAnOperator(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil) // default_country is US
	ctx, d := h.Context(), h.services()
	operator, clerk := h.live, h.live
	operator.Operator, clerk.Operator = true, false
	create := func(p domain.Principal, format, country string) (*domain.Trunk, error) {
		return d.Trunks.CreateTrunk(ctx, p, &domain.Trunk{
			Name: "carrier", Proxies: []domain.Proxy{{Host: "192.0.2.1", Port: 5060, Transport: "udp"}}, NumberFormat: format, NumberCountry: country, Prefixes: []string{"+44"},
		})
	}
	refused := func(err error, param string) {
		t.Helper()
		var e *domain.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, []any{domain.CodeOperatorRequired, param}, []any{e.Code, e.Param})
		assert.Contains(t, e.Message, "number_format e164")
	}
	_, err := create(clerk, domain.FormatNational, "CO")
	refused(err, "number_country")
	home, err := create(clerk, domain.FormatNational, "US")
	require.NoError(t, err)
	_, err = create(clerk, domain.FormatE164, "CO")
	require.NoError(t, err, "the country applies to inbound numbers only")

	change := func(p domain.Principal, id string, f func(*domain.Trunk)) error {
		return errorOf(d.Trunks.UpdateTrunk(ctx, p, id, func(x *domain.Trunk) error { f(x); return nil }))
	}
	refused(change(clerk, home.ID, func(x *domain.Trunk) { x.NumberCountry = "CO" }), "number_country")
	require.NoError(t, change(clerk, home.ID, func(x *domain.Trunk) { x.NumberFormat, x.NumberCountry = domain.FormatDigits, "CO" }))
	refused(change(clerk, home.ID, func(x *domain.Trunk) { x.NumberFormat = domain.FormatNational }), "number_format")

	abroad, err := create(operator, domain.FormatNational, "CO")
	require.NoError(t, err)
	require.NoError(t, change(clerk, abroad.ID, func(x *domain.Trunk) { x.Name = "other" }))
	refused(change(clerk, abroad.ID, func(x *domain.Trunk) { x.Proxies = []domain.Proxy{{Host: "192.0.2.2"}} }), "proxies")
	refused(change(clerk, abroad.ID, func(x *domain.Trunk) { x.OutboundProxy = &domain.Proxy{Host: "192.0.2.2"} }), "outbound_proxy")
	require.NoError(t, change(operator, abroad.ID, func(x *domain.Trunk) { x.Proxies = []domain.Proxy{{Host: "192.0.2.2"}} }))
	require.NoError(t, change(clerk, abroad.ID, func(x *domain.Trunk) { x.NumberFormat = domain.FormatE164 }))
}
