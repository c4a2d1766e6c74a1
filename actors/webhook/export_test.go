package webhook

import "github.com/asynkron/protoactor-go/actor"

// Held is how many retries an endpoint's actor has in memory.
func Held(a actor.Actor) int {
	e, ok := a.(*endpoint)
	if !ok {
		return -1
	}
	return len(e.q.retries)
}
