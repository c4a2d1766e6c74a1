package trunk

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// channelsOfCall lists the channels of a call: one for each leg that has not ended.
type channelsOfCall struct {
	calledNumber string // E.164
	channels     []channel
}

// channel is the channel that a granted slot occupies.
type channel struct {
	state    *trunkState
	trunk    *domain.Trunk // version of the trunk when the slot was granted
	key      string        // of the target, as in Slot
	reserved domain.Amount // price of the first minute, until the leg ends or is answered
}

// callChannels holds the channels of all calls and the money that they reserve.
type callChannels struct {
	byCall map[string]*channelsOfCall // by call ID
	spend  *spendLedger
}

// add adds the channel of a granted slot and reserves its price.
func (all *callChannels) add(call, to string, c channel) {
	of := all.byCall[call]
	if of == nil {
		of = &channelsOfCall{calledNumber: to}
		all.byCall[call] = of
	}
	all.spend.reserve(c.reserved)
	of.channels = append(of.channels, c)
}

// addHeld adds a channel for a call of an earlier process, without a slot.
func (all *callChannels) addHeld(call string, b *trunkState) {
	b.channels++
	all.add(call, "", channel{state: b, trunk: b.trunk})
}

// release frees the channel of one leg and its reservation.
func (all *callChannels) release(call, key string) {
	h := all.byCall[call]
	if h == nil {
		return
	}
	h.channels = slices.DeleteFunc(h.channels, func(c channel) bool {
		if c.key == key {
			c.state.freeChannel(call)
			all.spend.releaseReservation(c.reserved)
		}
		return c.key == key
	})
	if len(h.channels) == 0 {
		delete(all.byCall, call)
	}
}

// find returns the channel of a leg and the called number in E.164. c is nil if the leg has no channel.
func (all *callChannels) find(call, key string) (c *channel, to string) {
	h := all.byCall[call]
	if h == nil {
		return nil, ""
	}
	for i := range h.channels {
		if h.channels[i].key == key {
			return &h.channels[i], h.calledNumber
		}
	}
	return nil, ""
}

// releaseAll frees all channels of a call. A meter that still runs belongs to a call whose actor stopped without
// reporting the end.
func (all *callChannels) releaseAll(call string) {
	all.spend.stopLostMeter(call, time.Now())
	if h := all.byCall[call]; h != nil {
		for _, c := range h.channels {
			c.state.freeChannel(call)
			all.spend.releaseReservation(c.reserved)
		}
		delete(all.byCall, call)
	}
}

// freeChannel frees a channel of the trunk. If the call was the probe, the probe ends too.
func (b *trunkState) freeChannel(call string) {
	b.channels--
	if b.probe.call == call {
		b.probe.call = ""
	}
}
