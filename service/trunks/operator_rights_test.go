package trunks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestTrunkChangesThatRequireOperator(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after domain.Trunk
		refused       bool
	}{
		"a name":                          {after: domain.Trunk{Name: "a"}},
		"costs":                           {after: domain.Trunk{Costs: []domain.Rate{{}}}, refused: true},
		"the same costs":                  {before: domain.Trunk{Costs: []domain.Rate{{}}}, after: domain.Trunk{Costs: []domain.Rate{{}}}},
		"national numbers of the country": {after: domain.Trunk{NumberFormat: domain.FormatNational, NumberCountry: "us"}},
		"national numbers of another":     {after: domain.Trunk{NumberFormat: domain.FormatNational, NumberCountry: "DE"}, refused: true},
		"number_add":                      {after: domain.Trunk{NumberAdd: "9"}, refused: true},
	} {
		check := func(p domain.Principal) error {
			after := c.after
			if err := checkCostChange(p, &c.before, &after); err != nil {
				return err
			}
			if err := checkForeignNational(p, "US", &c.before, &after); err != nil {
				return err
			}
			return approveNumberRewrite(p, &c.before, &after)
		}
		require.NoError(t, check(domain.Principal{Operator: true}), name)
		assert.Equal(t, c.refused, domain.CodeOf(check(domain.Principal{})) == domain.CodeOperatorRequired, name)
	}
}
