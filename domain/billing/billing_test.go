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
	return billing.TariffOf(&domain.Workspace{Plan: p})
}

func TestTheMonthIsPricedAsTheSpecificationSays(t *testing.T) {
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
		got[m] = meter.Use(tariff(m.plan), m.attempts)
	}
	assert.Equal(t, want, got)
}

func TestAnAccountOnEnterprisePaysWhatWasAgreed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w := &domain.Workspace{Plan: domain.Enterprise, Tariff: 4, Pricing: &domain.Pricing{IncludedAttempts: 10, PricePerAttempt: domain.Dollars(12_500)}}
	w.ID, w.UpdatedAt = "ws_1", at
	agreed := billing.TariffOf(w)
	assert.Equal(t, 10, agreed.Included)
	assert.Equal(t, domain.Amount(12_500), agreed.Micros)
	assert.Equal(t, 4, agreed.Number)
	w.Plan = domain.Starter
	assert.Equal(t, 500, billing.TariffOf(w).Included, "a plan with a price has no other")
}

func TestAChangeOfPlanHoldsForWhatComesAfterIt(t *testing.T) {
	t.Parallel()
	var up, down billing.Meter
	assert.Equal(t, billing.Charge{Included: 500, Overage: 100, Micros: 10_000_000}, up.Use(tariff(domain.Starter), 600))
	assert.Equal(t, billing.Charge{Included: 4400}, up.Use(tariff(domain.Professional), 4400), "600 of the quota were used before")
	assert.Equal(t, billing.Charge{Overage: 10, Micros: 800_000}, up.Use(tariff(domain.Professional), 10))
	assert.Equal(t, billing.Charge{Included: 3000}, down.Use(tariff(domain.Professional), 3000))
	assert.Equal(t, billing.Charge{Overage: 7, Micros: 700_000}, down.Use(tariff(domain.Starter), 7))
}

func TestHoweverAMonthIsCutItsPriceIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var whole, cut billing.Meter
		var one, parts billing.Charge
		for range rapid.IntRange(1, 4).Draw(t, "tariffs") {
			of := domain.Tariff{Included: rapid.IntRange(0, 50).Draw(t, "included"), Micros: domain.Amount(rapid.Int64Range(0, 5e6).Draw(t, "micros"))}
			n := rapid.IntRange(0, 120).Draw(t, "attempts")
			one.Add(whole.Use(of, n))
			for range n {
				parts.Add(cut.Use(of, 1))
			}
		}
		if one != parts || one.Overage < 0 || one.Included < 0 {
			t.Fatalf("%+v in one, %+v one by one", one, parts)
		}
	})
}
