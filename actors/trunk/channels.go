package trunk

import (
	"slices"
	"time"
)

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
	h.channels = append(h.channels, channel{of: b})
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

// forget is for a call that is gone: a slot that it still waits for would be
// nobody's to return.
func (t *Trunks) forget(call string) {
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return w.want.CallID == call })
	t.releaseAll(call)
}

// releaseAll frees what a call has; its meter stops, unless its end was told:
// then the ledger may know nothing of it.
func (t *Trunks) releaseAll(call string) {
	t.purse.ended(call, -1, false, time.Now())
	if h := t.held[call]; h != nil {
		for _, c := range h.channels {
			c.of.channels--
			t.purse.unreserve(c.reserved)
		}
		delete(t.held, call)
	}
}
