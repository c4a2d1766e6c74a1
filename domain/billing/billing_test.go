package billing_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
)

func TestTheMonthIsPricedAsTheSpecificationSays(t *testing.T) {
	t.Parallel()
	type month struct {
		plan     domain.Plan
		attempts int
	}
	want := map[month]billing.Bill{
		{domain.Starter, 0}:         {Amount: usd("0.00")},
		{domain.Starter, 500}:       {Attempts: 500, Included: 500, Amount: usd("0.00")},
		{domain.Starter, 501}:       {Attempts: 501, Included: 500, Overage: 1, Amount: usd("0.10")},
		{domain.Starter, 1234}:      {Attempts: 1234, Included: 500, Overage: 734, Amount: usd("73.40")},
		{domain.Professional, 5000}: {Attempts: 5000, Included: 5000, Amount: usd("0.00")},
		{domain.Professional, 5001}: {Attempts: 5001, Included: 5000, Overage: 1, Amount: usd("0.08")},
		{domain.Professional, 1e6}:  {Attempts: 1e6, Included: 5000, Overage: 995000, Amount: usd("79600.00")},
	}
	got := make(map[month]billing.Bill, len(want))
	for m := range want {
		terms, ok := billing.TermsOf(m.plan)
		assert.True(t, ok)
		got[m] = billing.Of(terms, m.attempts)
	}
	assert.Equal(t, want, got)
	_, ok := billing.TermsOf(domain.Enterprise)
	assert.False(t, ok, "set per account")
	assert.Equal(t, usd("0.0125"), billing.Cost(billing.Terms{Micros: 12_500}, 1))
}

func usd(amount string) domain.Money { return domain.Money{Amount: amount, Currency: "USD"} }

func TestTheBillIsTheSumOfItsAttempts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms := billing.Terms{Included: rapid.IntRange(0, 50).Draw(t, "included"), Micros: rapid.Int64Range(0, 5e6).Draw(t, "micros")}
		n := rapid.IntRange(0, 120).Draw(t, "attempts")
		sum := new(big.Rat)
		for i := range n {
			cost, _ := new(big.Rat).SetString(billing.Cost(terms, i+1).Amount)
			sum.Add(sum, cost)
		}
		b := billing.Of(terms, n)
		got, _ := new(big.Rat).SetString(b.Amount.Amount)
		if sum.Cmp(got) != 0 || b.Included+b.Overage != b.Attempts {
			t.Fatalf("%+v, the sum is %s", b, sum)
		}
	})
}
