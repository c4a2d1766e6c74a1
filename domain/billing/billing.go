// Package billing prices the call attempts of a month: what the plan includes
// and what each further attempt costs. It knows no ledger: it is told counts.
package billing

import "github.com/callboard/callboard/domain"

// Terms are the price of attempts within one month.
type Terms struct {
	Included int           // attempts that the plan covers
	Micros   domain.Amount // price of each further one
}

// PlanTerms are the terms of a plan (specification, Limits). Those of enterprise
// are set per account; ok is false for it.
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
