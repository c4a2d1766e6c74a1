// Package billing prices the call attempts and messages of a month by plan and tariff. It works on counters and
// does not read the ledger.
package billing

import "github.com/callboard/callboard/domain"

// Terms is the price of attempts in one month.
type Terms struct {
	Included int           // attempts that the plan includes
	Micros   domain.Amount // price of each further attempt
}

// PlanTerms returns the terms of a plan (specification, Limits). ok is false for enterprise, whose terms are set
// for each account.
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
