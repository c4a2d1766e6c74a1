package trunk

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// recentCalls sums the live calls of all trunks within a window, one hour at most.
func (t *Trunks) recentCalls(window time.Duration) RecentCalls {
	var sum RecentCalls
	now := time.Now()
	for _, b := range t.trunks {
		if b.trunk.Environment == domain.Live {
			attempts, answered := b.record.Since(now, window)
			sum.Attempts += attempts
			sum.Answered += answered
		}
	}
	return sum
}

// countHeld counts what the actor holds for calls.
func (t *Trunks) countHeld() HeldCounts {
	now := HeldCounts{Holding: len(t.held), WatchedActors: len(t.calls), Meters: len(t.spend.live), Waiting: len(t.waiting)}
	for _, b := range t.trunks {
		now.Channels += b.channels
	}
	return now
}

// states is the state of each trunk by ID, as the API shows it.
func (t *Trunks) states() map[string]State {
	now := time.Now()
	waiting := make(map[*trunkState]int)
	for i := range t.waiting {
		if routes := t.waiting[i].routes; len(routes) > 0 {
			waiting[routes[0]]++
		}
	}
	out := make(map[string]State, len(t.trunks))
	for _, b := range t.trunks {
		out[b.trunk.ID] = b.state(now, waiting[b])
	}
	return out
}
