package trunk

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain/routing"
)

// routingCall converts the request to the form that package routing uses.
func (w *RequestSlot) routingCall() routing.Call {
	return routing.Call{To: w.To, From: w.From, AnyCallerID: w.AnyCallerID, FromTrunkID: w.FromTrunkID, TrunkID: w.TrunkID, Environment: w.Environment}
}

// nextTarget returns a slot for the next target of the trunk that the call has not tried. If all remaining targets must
// not be tried now, rests is the time at which the first may be tried again.
func (t *Trunks) nextTarget(b *trunkState, w *RequestSlot, now time.Time) (slot Slot, rests time.Time, ok bool) {
	from, err := routing.SelectCallerID(b.trunk, w.routingCall())
	if err != nil {
		return slot, time.Time{}, false // the trunk has changed since the routing decision
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
	i, rests, ok := b.pickTarget(w.Tried, now)
	if ok {
		slot.Target, slot.Key = b.targets[i].to, b.targets[i].key
	}
	return slot, rests, ok
}
