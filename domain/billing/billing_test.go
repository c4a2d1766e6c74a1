package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
)

func tariff(p domain.Plan) domain.Tariff {
	return billing.CurrentTariff(&domain.Workspace{Plan: p})
}

func TestMonthPriceMatchesSpecification(t *testing.T) {
	t.Parallel()
	type month struct {
		plan     domain.Plan
		attempts int
	}
	want := map[month]billing.Charge{
		{domain.Starter, 0}:         {},
		{domain.Starter, 500}:       {Included: 500},
		{domain.Starter, 501}:       {Included: 500, Overage: 1, Micros: 100_000},
		{domain.Starter, 1234}:      {Included: 500, Overage: 734, Micros: 73_400_000},
		{domain.Professional, 5000}: {Included: 5000},
		{domain.Professional, 5001}: {Included: 5000, Overage: 1, Micros: 80_000},
		{domain.Professional, 1e6}:  {Included: 5000, Overage: 995000, Micros: 79_600_000_000},
		{domain.Enterprise, 1e6}:    {Overage: 1e6},
	}
	got := make(map[month]billing.Charge, len(want))
	for m := range want {
		var meter billing.Meter
		got[m] = meter.Price(tariff(m.plan), m.attempts)
	}
	assert.Equal(t, want, got)
}

func TestEnterpriseAccountPaysAgreedPrice(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w := &domain.Workspace{Plan: domain.Enterprise, Tariff: 4, Pricing: &domain.Pricing{IncludedAttempts: 10, PricePerAttempt: domain.Dollars(12_500)}}
	w.ID, w.UpdatedAt = "ws_1", at
	agreed := billing.CurrentTariff(w)
	assert.Equal(t, 10, agreed.Included)
	assert.Equal(t, domain.Amount(12_500), agreed.Micros)
	assert.Equal(t, 4, agreed.Number)
	w.Plan = domain.Starter
	assert.Equal(t, 500, billing.CurrentTariff(w).Included, "a plan with a price has no other")
}

func TestPlanChangeAppliesToLaterUsage(t *testing.T) {
	t.Parallel()
	var up, down billing.Meter
	assert.Equal(t, billing.Charge{Included: 500, Overage: 100, Micros: 10_000_000}, up.Price(tariff(domain.Starter), 600))
	assert.Equal(t, billing.Charge{Included: 4400}, up.Price(tariff(domain.Professional), 4400), "600 of the quota were used before")
	assert.Equal(t, billing.Charge{Overage: 10, Micros: 800_000}, up.Price(tariff(domain.Professional), 10))
	assert.Equal(t, billing.Charge{Included: 3000}, down.Price(tariff(domain.Professional), 3000))
	assert.Equal(t, billing.Charge{Overage: 7, Micros: 700_000}, down.Price(tariff(domain.Starter), 7))
}

func TestMonthPriceIsIndependentOfSplitting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var whole, cut billing.Meter
		var one, parts billing.Charge
		for range rapid.IntRange(1, 4).Draw(t, "tariffs") {
			of := domain.Tariff{Included: rapid.IntRange(0, 50).Draw(t, "included"), Micros: domain.Amount(rapid.Int64Range(0, 5e6).Draw(t, "micros"))}
			n := rapid.IntRange(0, 120).Draw(t, "attempts")
			one.Add(whole.Price(of, n))
			for range n {
				parts.Add(cut.Price(of, 1))
			}
		}
		if one != parts || one.Overage < 0 || one.Included < 0 {
			t.Fatalf("%+v in one, %+v one by one", one, parts)
		}
	})
}

func TestChangedPriceGetsTheNextTariffNumber(t *testing.T) {
	t.Parallel()
	created, at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	before := domain.Workspace{Meta: domain.Meta{ID: "ws_1", CreatedAt: created, UpdatedAt: created}, Plan: domain.Starter}
	renamed := before
	renamed.Name, renamed.UpdatedAt = "acme", at
	assert.Empty(t, billing.ChangeTariff(&before, &renamed))
	assert.Zero(t, renamed.Tariff)

	upgraded := before
	upgraded.Plan, upgraded.UpdatedAt = domain.Professional, at
	assert.Equal(t, []*domain.Tariff{
		{WorkspaceID: "ws_1", Number: 1, Plan: domain.Professional, Included: 5000, Micros: 80_000, From: at},
		{WorkspaceID: "ws_1", Number: 0, Plan: domain.Starter, Included: 500, Micros: 100_000, From: created},
	}, billing.ChangeTariff(&before, &upgraded))
	assert.Equal(t, 1, upgraded.Tariff)

	back := upgraded
	back.Plan = domain.Starter
	assert.Len(t, billing.ChangeTariff(&upgraded, &back), 1, "the tariff before is stored already")
	assert.Equal(t, 2, back.Tariff)
}

func TestSummarizeSkipsDaysBeforeRange(t *testing.T) {
	t.Parallel()
	row := func(day string, attempts, seconds int64) *domain.Usage {
		u := &domain.Usage{WorkspaceID: "ws_1", Day: day}
		u.Counts[0], u.Counts[1] = attempts, seconds
		return u
	}
	rows := billing.PriceUsage([]*domain.Usage{row("2026-03-30", 400, 0), row("2026-03-31", 200, 90), row("2026-04-01", 10, 60)},
		map[int]domain.Tariff{0: tariff(domain.Starter)})
	u := billing.Usage{From: "2026-03-31", To: "2026-04-01"}
	u.Summarize(rows)
	assert.Equal(t, []any{210, 110, 100, 2.5}, []any{u.Total.Attempts, u.Total.Included, u.Total.Overage, u.Total.Minutes})
	assert.Len(t, u.Days, 2)
	assert.Equal(t, "2026-03", u.Months[0].Month)
	assert.Equal(t, []any{200, 100}, []any{u.Months[0].Attempts, u.Months[0].Included}, "the day before has used 400 of the quota")
	assert.Equal(t, []any{10, 10}, []any{u.Months[1].Attempts, u.Months[1].Included}, "the quota is the month's")
}
