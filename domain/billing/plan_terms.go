// Package billing prices the call attempts and messages of a month by plan and tariff. It uses the daily usage counters
// and does not read the usage ledger.
package billing

import "github.com/callboard/callboard/domain"

// Terms holds the number of included call attempts per month and the price of each further attempt.
type Terms struct {
	Included int           // attempts that the plan includes
	Micros   domain.Amount // price of each further attempt
}

// PlanTerms returns the terms of a plan. ok is false for the enterprise plan, whose terms are set for each account.
func PlanTerms(p domain.Plan) (t Terms, ok bool) {
	switch p {
	case domain.Starter:
		return Terms{Included: 500, Micros: 100_000}, true
	case domain.Professional:
		return Terms{Included: 5000, Micros: 80_000}, true
	case domain.Enterprise:
		return Terms{}, false
	}
	return Terms{}, false
}
