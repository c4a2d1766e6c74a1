package trunk

import (
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
)

// channelsOfCall lists the trunk channels that a call occupies: one for each leg that has not ended.
type channelsOfCall struct {
	calledNumber string // E.164
	channels     []channel
}

// channel is the trunk channel that a granted slot occupies. A trunk limits the number of its channels.
type channel struct {
	state    *trunkState
	trunk    *domain.Trunk // settings of the trunk when the slot was granted
	key      string        // key of the target, as in Slot.Key
	reserved domain.Amount // price of the first minute, until the leg ends or is answered
}

// callChannels holds the trunk channels that all calls occupy, and reserves the price of each call.
type callChannels struct {
	byCall map[string]*channelsOfCall // by call ID
	spend  *spendLedger
}

// add adds the channel of a granted slot to its call and reserves the price of the call.
func (all *callChannels) add(call, to string, c channel) {
	of := all.byCall[call]
	if of == nil {
		of = &channelsOfCall{calledNumber: to}
		all.byCall[call] = of
	}
	all.spend.reserve(c.reserved)
	of.channels = append(of.channels, c)
}

// addHeld occupies a channel of a trunk for a call that an earlier process left open. The call has no slot.
func (all *callChannels) addHeld(call string, b *trunkState) {
	b.channels++
	all.add(call, "", channel{state: b, trunk: b.trunk})
}

// release frees the channel of one leg of a call and releases the amount that the leg has reserved.
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

// releaseAll frees all channels of a call. If the cost of the call is still being counted, the call actor has stopped
// without reporting the end of the call.
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

// freeChannel frees a channel of the trunk. If the call was probing whether the trunk works, the probe ends too.
func (b *trunkState) freeChannel(call string) {
	b.channels--
	if b.probe.call == call {
		b.probe.call = ""
	}
}
