package trunks

import (
	"context"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/routing"
)

// trunksNamed is the maximum number of trunks that a warning names.
const trunksNamed = 5

// escapesSpendCap reports whether daily_spend_cap does not limit all calls over a trunk, because the trunk has no
// configured cost for some numbers.
func escapesSpendCap(w *domain.Workspace, t *domain.Trunk) bool {
	return w != nil && w.Calling.DailySpendCap != nil && t.Environment == domain.Live && !t.Simulator && !routing.HasCostForAllNumbers(t)
}

// spendWarning returns the warning that daily_spend_cap does not limit calls over trunks.
func spendWarning(w *domain.Workspace, param, trunks string) domain.Detail {
	counts := "count nothing"
	if price := billing.CurrentTariff(w).Micros; price > 0 {
		counts = "count only " + domain.Dollars(price).Amount + " dollars an attempt"
	}
	return domain.Detail{
		Code: domain.WarningSpendCap, Param: param,
		Message: fmt.Sprintf("Calls over %s to numbers without a cost %s for daily_spend_cap. Add costs for all numbers that the trunk takes.", trunks, counts),
	}
}

// trunkWarnings returns the spending warnings of one trunk.
func trunkWarnings(w *domain.Workspace, t *domain.Trunk) []domain.Detail {
	if !escapesSpendCap(w, t) {
		return nil
	}
	return []domain.Detail{spendWarning(w, "costs", fmt.Sprintf("the trunk %q", t.Name))}
}

// SpendWarnings returns the spending warning of a workspace. The warning names the trunks that have no configured cost
// for some numbers.
func (s *Service) SpendWarnings(ctx context.Context, w *domain.Workspace) ([]domain.Detail, error) {
	if w.Calling.DailySpendCap == nil {
		return nil, nil
	}
	var names []string
	err := commit.ForEachRow(ctx, s.store, "trunk", w.ID, "env="+string(domain.Live), func(t *domain.Trunk) {
		if escapesSpendCap(w, t) {
			names = append(names, fmt.Sprintf("%q", t.Name))
		}
	})
	if err != nil {
		return nil, commit.StoreError(err)
	}
	if len(names) == 0 {
		return nil, nil
	}
	if more := len(names) - trunksNamed; more > 0 {
		names = append(names[:trunksNamed], fmt.Sprintf("%d more", more))
	}
	return []domain.Detail{spendWarning(w, "calling.daily_spend_cap", "the trunks "+strings.Join(names, ", "))}, nil
}
