package trunk

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

// trunkList holds the states of a workspace's trunks, oldest first.
type trunkList struct {
	states  []*trunkState
	records []*domain.Trunk // settings of the trunks in states, in the same order
}

func (l *trunkList) add(b *trunkState) {
	l.states, l.records = append(l.states, b), append(l.records, b.trunk)
}

// byID returns the state of a trunk. It returns nil if there is no such trunk.
func (l *trunkList) byID(id string) *trunkState {
	for _, b := range l.states {
		if b.trunk.ID == id {
			return b
		}
	}
	return nil
}

// routes returns the trunks that may take the call of a request, best first. The test environment uses only the test
// carrier. The error says why trunks for the number cannot be used.
func (l *trunkList) routes(w RequestSlot) ([]*trunkState, error) {
	found, refused := routing.SelectTrunks(l.records, w.routingCall())
	out := make([]*trunkState, len(found))
	for i, n := range found {
		out[i] = l.states[n]
	}
	return out, refused
}

// recentCalls sums the calls of all trunks of the live environment within a period of at most one hour.
func (l *trunkList) recentCalls(window time.Duration) RecentCalls {
	var sum RecentCalls
	now := time.Now()
	for _, b := range l.states {
		if b.trunk.Environment == domain.Live {
			attempts, answered := b.statistics.CountSince(now, window)
			sum.Attempts += attempts
			sum.Answered += answered
		}
	}
	return sum
}

// apiStates returns the state of each trunk by ID as the API shows it. A waiting request counts as waiting for the
// first of its possible trunks.
func (l *trunkList) apiStates(requests []waitingRequest) map[string]State {
	now := time.Now()
	waiting := make(map[*trunkState]int)
	for i := range requests {
		if routes := requests[i].routes; len(routes) > 0 {
			waiting[routes[0]]++
		}
	}
	out := make(map[string]State, len(l.states))
	for _, b := range l.states {
		out[b.trunk.ID] = b.apiState(now, waiting[b])
	}
	return out
}
