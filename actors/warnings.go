package actors

import (
	"context"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/route"
)

// trunksNamed bounds the names in a warning.
const trunksNamed = 5

// uncapped says whether calls over a trunk are not counted by the minute for the
// daily_spend_cap of its workspace.
func uncapped(w *domain.Workspace, t *domain.Trunk) bool {
	return w != nil && w.Calling.DailySpendCap != nil && t.Environment == domain.Live && !t.Simulator && !route.Priced(t)
}

// spendWarning says that daily_spend_cap does not hold for calls over trunks.
func spendWarning(w *domain.Workspace, param, trunks string) domain.Detail {
	counts := "count nothing"
	if price := billing.TariffOf(w).Micros; price > 0 {
		counts = "count only " + domain.Dollars(price).Amount + " dollars an attempt"
	}
	return domain.Detail{
		Code: domain.WarnSpendCap, Param: param,
		Message: fmt.Sprintf("Calls over %s to numbers without a cost %s for daily_spend_cap. Add costs for all numbers that the trunk takes.", trunks, counts),
	}
}

// trunkWarnings are those of one trunk.
func trunkWarnings(w *domain.Workspace, t *domain.Trunk) []domain.Detail {
	if !uncapped(w, t) {
		return nil
	}
	return []domain.Detail{spendWarning(w, "costs", fmt.Sprintf("the trunk %q", t.Name))}
}

// SpendWarnings are those of a workspace: its cap over trunks without costs.
func (d *Desk) SpendWarnings(ctx context.Context, w *domain.Workspace) ([]domain.Detail, error) {
	if w.Calling.DailySpendCap == nil {
		return nil, nil
	}
	trunks, err := d.node.trunksOf(ctx, w.ID)
	if err != nil {
		return nil, storeErr(err)
	}
	var names []string
	for i := range trunks {
		if uncapped(w, &trunks[i]) {
			names = append(names, fmt.Sprintf("%q", trunks[i].Name))
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if more := len(names) - trunksNamed; more > 0 {
		names = append(names[:trunksNamed], fmt.Sprintf("%d more", more))
	}
	return []domain.Detail{spendWarning(w, "calling.daily_spend_cap", "the trunks "+strings.Join(names, ", "))}, nil
}
