package domain

// NumberPlan exposes a numberingPlan to tests. Not is the set of first digits that may be a national prefix.
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
