package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

// bill tells the trunk how long an answered call over it was, and writes into
// the final record what that cost by the trunk's own word.
func (c *call) bill(ctx actor.Context, e *Ended) {
	trunkID := c.trunkID()
	if c.inbound || trunkID == "" {
		return
	}
	var talked time.Duration
	if e.Call.AnsweredAt != nil {
		talked = max(0, e.Call.EndedAt.Sub(*e.Call.AnsweredAt))
	}
	if perMinute, known := c.pricePerMinute(); known {
		cost := domain.Dollars(routing.Spend(perMinute, talked))
		e.Call.Cost = &cost
	}
	if c.cfg.Trunks != nil && e.Call.AnsweredAt != nil {
		ctx.Send(c.cfg.Trunks, trunk.Ended{CallID: e.CallID, TrunkID: trunkID, Talked: talked})
	}
}

// trunkID is the ID of the trunk of the call's leg; "": it goes to a phone. A
// resumed call knows it also after the trunk was deleted.
func (c *call) trunkID() string {
	id := c.slot.Trunk().ID
	if id == "" && c.survivor != nil && c.survivor.Leg <= len(c.attempt.Legs) { // an inbound call has no legs there
		id = c.attempt.Legs[c.survivor.Leg-1].TrunkID
	}
	return id
}

// pricePerMinute is the price of a minute by the call's trunk as it was when the
// slot was granted; known is false where the trunk names none.
func (c *call) pricePerMinute() (perMinute domain.Amount, known bool) {
	if c.survivor != nil && c.survivor.PerMinute != nil {
		return *c.survivor.PerMinute, true
	}
	return routing.Cost(c.slot.Trunk().Costs, c.call.To)
}
