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

// callChannels are the channels of all calls, with the money that they reserve.
type callChannels struct {
	held  map[string]*holding // by call
	spend *spendLedger
}

// add notes the channel of a granted slot, and reserves its price.
func (all *callChannels) add(call, to string, c channel) {
	of := all.held[call]
	if of == nil {
		of = &holding{to: to}
		all.held[call] = of
	}
	all.spend.reserve(c.reserved)
	of.channels = append(of.channels, c)
}

// hold takes a channel for a call of an earlier process, without a slot.
func (all *callChannels) hold(call string, b *trunkState) {
	b.channels++
	all.add(call, "", channel{of: b, trunk: b.trunk})
}

// release frees the channel of one leg and its reservation.
func (all *callChannels) release(call, key string) {
	h := all.held[call]
	if h == nil {
		return
	}
	h.channels = slices.DeleteFunc(h.channels, func(c channel) bool {
		if c.key == key {
			c.of.freeChannel(call)
			all.spend.releaseReservation(c.reserved)
		}
		return c.key == key
	})
	if len(h.channels) == 0 {
		delete(all.held, call)
	}
}

// find finds the channel of a leg, and the number that is called in E.164. c is
// nil where the leg has no channel.
func (all *callChannels) find(call, key string) (c *channel, to string) {
	h := all.held[call]
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

// releaseAll frees all channels of a call. A meter that still runs belongs to a
// call whose actor stopped without a report of the end.
func (all *callChannels) releaseAll(call string) {
	all.spend.lost(call, time.Now())
	if h := all.held[call]; h != nil {
		for _, c := range h.channels {
			c.of.freeChannel(call)
			all.spend.releaseReservation(c.reserved)
		}
		delete(all.held, call)
	}
}

// freeChannel notes that a call has one channel less.
func (b *trunkState) freeChannel(call string) {
	b.channels--
	if b.probe.call == call {
		b.probe.call = ""
	}
}
