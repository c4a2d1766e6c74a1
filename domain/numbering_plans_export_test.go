package domain

// NumberPlan is a numbering plan for tests.
type NumberPlan struct{ Lengths, Not uint16 }

// Plans returns all numbering plans by country code.
func Plans() map[int]NumberPlan {
	all := make(map[int]NumberPlan)
	for code, p := range numberingPlans {
		if p.lengths != 0 {
			all[code] = NumberPlan{p.lengths, p.prefixDigits}
		}
	}
	return all
}
