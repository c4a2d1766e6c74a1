package event

import "time"

// MaxDisorder is how much older an event may be than an event that was committed before it.
const MaxDisorder = 10 * time.Minute

// MatchesTypes reports whether a list of types, aliases and wildcards includes a type. An empty list includes all
// types.
func MatchesTypes(types []string, t Type) bool {
	if len(types) == 0 {
		return true
	}
	_, ok := MatchSubscription(types, t)
	return ok
}
