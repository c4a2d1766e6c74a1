package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

// reportCost reports the duration of an answered outbound call to its trunk. It also writes the price of the call into
// the final record, if the trunk defines a price.
func (c *call) reportCost(ctx actor.Context, e *Ended) {
	trunkID := c.trunkID()
	if c.inbound || trunkID == "" {
		return
	}
	var talked time.Duration
	if e.Call.AnsweredAt != nil {
		talked = max(0, e.Call.EndedAt.Sub(*e.Call.AnsweredAt))
	}
	if perMinute, known := c.pricePerMinute(); known {
		cost := domain.Dollars(routing.CallCost(perMinute, talked))
		e.Call.Cost = &cost
	}
	if c.cfg.Trunks != nil && e.Call.AnsweredAt != nil {
		ctx.Send(c.cfg.Trunks, trunk.CallEnded{CallID: e.CallID, TrunkID: trunkID, Talked: talked})
	}
}

// trunkID returns the ID of the trunk of the call's leg, or "" if the leg goes to a phone. A resumed call keeps the ID
// even if the trunk was deleted.
func (o *callSetup) trunkID() string {
	id := o.slot.Trunk().ID
	if id == "" && o.resumed != nil && o.resumed.Leg <= len(o.attempt.Legs) { // an inbound call has no legs there
		id = o.attempt.Legs[o.resumed.Leg-1].TrunkID
	}
	return id
}

// pricePerMinute returns the price per minute of the call's trunk at the time when the trunk slot was granted. known is
// false if the trunk defines no price.
func (o *callSetup) pricePerMinute() (perMinute domain.Amount, known bool) {
	if o.resumed != nil && o.resumed.PerMinute != nil {
		return *o.resumed.PerMinute, true
	}
	return routing.CostPerMinute(o.slot.Trunk().Costs, o.call.To)
}
