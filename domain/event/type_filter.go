package event

import "time"

// MaxDisorder is how much older an event may be than one that was committed before
// it.
const MaxDisorder = 10 * time.Minute

// MatchesTypes reports whether a type is among names, twins or wildcards; every type is
// where there are none.
func MatchesTypes(types []string, t Type) bool {
	if len(types) == 0 {
		return true
	}
	_, ok := MatchSubscription(types, t)
	return ok
}
