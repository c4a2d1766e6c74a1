package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/route"
)

// bill tells the trunk how long an answered call over it was, and writes into
// the final record what that cost by the trunk's own word.
func (c *call) bill(ctx actor.Context, e *Ended) {
	if c.inbound || c.slot.Trunk().ID == "" {
		return
	}
	var talked time.Duration
	if e.Call.AnsweredAt != nil {
		talked = max(0, e.Call.EndedAt.Sub(*e.Call.AnsweredAt))
	}
	if perMinute, known := route.Cost(c.slot.Trunk().Costs, e.Call.To); known {
		cost := domain.Dollars(route.Spend(perMinute, talked))
		e.Call.Cost = &cost
	}
	if c.cfg.Trunks != nil && e.Call.AnsweredAt != nil {
		ctx.Send(c.cfg.Trunks, trunk.Ended{CallID: e.CallID, TrunkID: c.slot.Trunk().ID, Talked: talked})
	}
}

// talked tells the trunk how long a second leg over it was.
func (a *aside) talked(ctx actor.Context) {
	if a.cfg.Trunks != nil && a.up && a.slot.Key != "" {
		ctx.Send(a.cfg.Trunks, trunk.Ended{CallID: a.key, TrunkID: a.slot.Trunk().ID, Talked: time.Since(a.upSince), Second: true})
	}
}
