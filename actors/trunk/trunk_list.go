package trunk

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

// trunkList are the states of a workspace's trunks, oldest first.
type trunkList struct {
	states  []*trunkState
	records []*domain.Trunk // of states
}

func (l *trunkList) add(b *trunkState) {
	l.states, l.records = append(l.states, b), append(l.records, b.trunk)
}

// byID is the state of a trunk; nil: there is no such trunk.
func (l *trunkList) byID(id string) *trunkState {
	for _, b := range l.states {
		if b.trunk.ID == id {
			return b
		}
	}
	return nil
}

// routes are the trunks that may take the number, the best first. The test
// environment has only the simulator. The error says why a trunk for the number
// cannot be used.
func (l *trunkList) routes(w RequestSlot) ([]*trunkState, error) {
	found, refused := routing.SelectTrunks(l.records, w.call())
	out := make([]*trunkState, len(found))
	for i, n := range found {
		out[i] = l.states[n]
	}
	return out, refused
}

// recentCalls sums the live calls of all trunks within a window, one hour at most.
func (l *trunkList) recentCalls(window time.Duration) RecentCalls {
	var sum RecentCalls
	now := time.Now()
	for _, b := range l.states {
		if b.trunk.Environment == domain.Live {
			attempts, answered := b.record.CountSince(now, window)
			sum.Attempts += attempts
			sum.Answered += answered
		}
	}
	return sum
}

// apiStates is the state of each trunk by ID, as the API shows it, with the requests that wait for it first.
func (l *trunkList) apiStates(requests []waiter) map[string]State {
	now := time.Now()
	waiting := make(map[*trunkState]int)
	for i := range requests {
		if routes := requests[i].routes; len(routes) > 0 {
			waiting[routes[0]]++
		}
	}
	out := make(map[string]State, len(l.states))
	for _, b := range l.states {
		out[b.trunk.ID] = b.state(now, waiting[b])
	}
	return out
}
