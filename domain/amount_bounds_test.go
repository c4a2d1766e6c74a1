package domain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
)

func TestAmountBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := domain.Amount(rapid.Int64().Draw(t, "a")), domain.Amount(rapid.Int64().Draw(t, "b"))
		for _, got := range []domain.Amount{a.Plus(b), a.Minus(b), a.Times(rapid.Int().Draw(t, "n"))} {
			if got < 0 || got > domain.MaxAmount {
				t.Fatalf("%d and %d lead to %d", a, b, got)
			}
		}
	})
	assert.Equal(t, []domain.Amount{5, 1, 0, 12, domain.MaxAmount, domain.MaxAmount}, []domain.Amount{
		domain.Amount(3).Plus(2), domain.Amount(3).Minus(2), domain.Amount(2).Minus(3), domain.Amount(4).Times(3),
		domain.MaxAmount.Plus(1), domain.Amount(math.MaxInt64).Times(math.MaxInt),
	})
}
