package trunk

import (
	"time"

	"github.com/callboard/callboard/domain"
)

func (t *Trunks) lately(window time.Duration) LatelyNow {
	var sum LatelyNow
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

func (t *Trunks) census() CensusNow {
	now := CensusNow{Holding: len(t.held), Bound: len(t.calls), Meters: len(t.purse.live), Waiting: len(t.waiting)}
	for _, b := range t.trunks {
		now.Channels += b.channels
	}
	return now
}

func (t *Trunks) states() map[string]State {
	now := time.Now()
	waiting := make(map[*bucket]int)
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
