package trunk

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// holding lists the channels of a call: one for each leg that is not over.
type holding struct {
	to       string // E.164
	channels []channel
}

// channel is a granted slot.
type channel struct {
	of       *trunkState
	trunk    *domain.Trunk // as it was when the slot was granted
	key      string        // of the target, as in Slot
	reserved domain.Amount // price of the first minute, until the leg ends or is answered
}

// hold takes a channel for a call of an earlier process, without a slot.
func (t *Trunks) hold(m Hold) {
	b := t.byID(m.TrunkID)
	if b == nil {
		return
	}
	b.channels++
	h := t.held[m.CallID]
	if h == nil {
		h = &holding{}
		t.held[m.CallID] = h
	}
	h.channels = append(h.channels, channel{of: b, trunk: b.trunk})
}

// release frees the channel of one leg and its reservation.
func (t *Trunks) release(call, key string) {
	h := t.held[call]
	if h == nil {
		return
	}
	h.channels = slices.DeleteFunc(h.channels, func(c channel) bool {
		if c.key == key {
			c.of.freeChannel(call)
			t.spend.releaseReservation(c.reserved)
		}
		return c.key == key
	})
	if len(h.channels) == 0 {
		delete(t.held, call)
	}
}

// channel finds the channel of a leg, and the number that is called in E.164. c is
// nil where the leg has no channel.
func (t *Trunks) channel(call, key string) (c *channel, to string) {
	h := t.held[call]
	if h == nil {
		return nil, ""
	}
	for i := range h.channels {
		if h.channels[i].key == key {
			return &h.channels[i], h.to
		}
	}
	return nil, ""
}

// forget frees what a call has and removes its waiting requests: no actor is left
// that could return a slot.
func (t *Trunks) forget(call string) {
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return w.want.CallID == call })
	t.releaseAll(call)
}

// releaseAll frees all channels of a call. A meter that still runs belongs to a
// call whose actor stopped without a report of the end.
func (t *Trunks) releaseAll(call string) {
	t.spend.lost(call, time.Now())
	if h := t.held[call]; h != nil {
		for _, c := range h.channels {
			c.of.freeChannel(call)
			t.spend.releaseReservation(c.reserved)
		}
		delete(t.held, call)
	}
}

// freeChannel notes that a call has one channel less.
func (b *trunkState) freeChannel(call string) {
	b.channels--
	if b.probe.call == call {
		b.probe.call = ""
	}
}
