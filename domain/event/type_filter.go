package event

import "time"

// MaxDisorder limits how far events are out of order: CreatedAt of an event can be this much earlier than that of an
// event committed before.
const MaxDisorder = 10 * time.Minute

// MatchesTypes reports whether a list of event types, aliases and wildcards includes a type. An empty list includes
// all types.
func MatchesTypes(types []string, t Type) bool {
	if len(types) == 0 {
		return true
	}
	_, ok := MatchSubscription(types, t)
	return ok
}
