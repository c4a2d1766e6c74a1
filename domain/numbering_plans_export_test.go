package domain

// NumberPlan is a plan as a test sees it.
type NumberPlan struct{ Lengths, Not uint16 }

// Plans are those that there are, by country code.
func Plans() map[int]NumberPlan {
	all := make(map[int]NumberPlan)
	for code, p := range numberingPlans {
		if p.lengths != 0 {
			all[code] = NumberPlan{p.lengths, p.prefixDigits}
		}
	}
	return all
}
