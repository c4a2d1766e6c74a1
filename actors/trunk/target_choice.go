package trunk

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain/routing"
)

// call is what is wanted, as the choice of a route takes it.
func (w *RequestSlot) call() routing.Call {
	return routing.Call{To: w.To, From: w.From, AnyCallerID: w.AnyCallerID, FromTrunkID: w.FromTrunkID, TrunkID: w.TrunkID, Environment: w.Environment}
}

// target is the trunk's next untried target as a slot of it.
func (t *Trunks) target(b *trunkState, w *RequestSlot, now time.Time) (slot Slot, rests time.Time, ok bool) {
	from, err := routing.SelectCallerID(b.trunk, w.call())
	if err != nil {
		return slot, time.Time{}, false // the trunk was changed meanwhile
	}
	slot = Slot{CallID: w.CallID, Via: b.trunk, From: from, MaxDuration: t.cfg.maxDuration(), Generation: w.Generation}
	if b.trunk.Simulator {
		if t.cfg.TestCarrier == nil {
			return slot, time.Time{}, false
		}
		slot.Target, ok = t.cfg.TestCarrier()
		slot.Target.TrunkID, slot.Key = b.trunk.ID, b.trunk.ID+"|simulator"
		return slot, time.Time{}, ok && !slices.Contains(w.Tried, slot.Key)
	}
	i, rests, ok := b.pick(w.Tried, now)
	if ok {
		slot.Target, slot.Key = b.targets[i].to, b.targets[i].key
	}
	return slot, rests, ok
}
