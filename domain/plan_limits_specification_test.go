package domain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
)

// Expected limits of each plan: requests per minute, concurrent calls in each direction, outbound calls per minute, and
// the price of call attempts.
const (
	planTable = `
| Starter | 60 | 5 | 10 |
| Professional | 300 | 25 | 60 |
| Enterprise | custom | custom | custom |`
	priceText = "Starter includes 500 calls per month then costs 0.10 per call; Professional includes 5,000 per month then 0.08 per call; Enterprise is custom."
)

func TestPlanLimitsMatchSpecification(t *testing.T) {
	t.Parallel()
	var table, prices []string
	for _, plan := range []domain.Plan{domain.Starter, domain.Professional, domain.Enterprise} {
		name := strings.ToUpper(string(plan[:1])) + string(plan[1:])
		l, fixed := domain.PlanLimits(plan)
		terms, priced := billing.PlanTerms(plan)
		assert.Equal(t, fixed, priced, name)
		if !fixed {
			table = append(table, fmt.Sprintf("| %s | custom | custom | custom |", name))
			prices = append(prices, name+" is custom.")
			continue
		}
		assert.Equal(t, l.ConcurrentInbound, l.ConcurrentOutbound, "as many in each direction")
		table = append(table, fmt.Sprintf("| %s | %d | %d | %d |", name, l.RequestsPerMinute, l.ConcurrentOutbound, l.CallsPerMinute))
		price := domain.Dollars(terms.Micros)
		assert.Equal(t, "USD", price.Currency)
		prices = append(prices, fmt.Sprint(name, " ", terms.Included, " ", price.Amount))
	}
	assert.Equal(t, strings.TrimSpace(planTable), strings.Join(table, "\n"))
	said := strings.NewReplacer("includes ", "", "calls per month then costs ", "", "per month then ", "", " per call", "", "5,000", "5000").Replace(priceText)
	assert.Equal(t, said, strings.Join(prices, "; "))
}
