package trunk

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// holding is what a call has: a channel for each leg that is not over.
type holding struct {
	to       string
	channels []channel
}

// channel is a taken slot.
type channel struct {
	of       *bucket
	trunk    *domain.Trunk // as it was when the slot was granted
	key      string
	reserved domain.Amount // until the leg ends or is answered
}

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

func (t *Trunks) release(call, key string) {
	h := t.held[call]
	if h == nil {
		return
	}
	h.channels = slices.DeleteFunc(h.channels, func(c channel) bool {
		if c.key == key {
			c.of.channels--
			t.purse.unreserve(c.reserved)
		}
		return c.key == key
	})
	if len(h.channels) == 0 {
		delete(t.held, call)
	}
}

// channel is the channel of a call's leg, and the number that the call goes to;
// nil: the leg has none.
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

// forget is for a call that is gone: a slot that it still waits for would be
// nobody's to return.
func (t *Trunks) forget(call string) {
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return w.want.CallID == call })
	t.releaseAll(call)
}

// releaseAll frees all channels of a call. A meter that still runs belongs to a
// call whose actor stopped without a report of its end.
func (t *Trunks) releaseAll(call string) {
	t.purse.lost(call, time.Now())
	if h := t.held[call]; h != nil {
		for _, c := range h.channels {
			c.of.channels--
			t.purse.unreserve(c.reserved)
		}
		delete(t.held, call)
	}
}
