package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/sip"
)

// referrerLeft says whether the far end has asked us by REFER to call somebody,
// and has hung up before anybody answered, as many phones do for a blind
// transfer. The call goes on: whoever answers takes its place.
func (c *call) referrerLeft(ctx actor.Context, e sip.Ended) bool {
	t := c.transfer
	if !e.ByRemote || e.Fault || c.stage != talking || c.byeReason != "" || t == nil || t.told == nil || t.stage != calling || t.alone {
		return false
	}
	t.alone = true
	c.log.Info("the far end has hung up before its REFER succeeded")
	c.formerOver(ctx, c.leg)
	return true
}

// endAlone ends a call whose far end has hung up after its REFER, and whose
// transfer cannot succeed any more.
func (c *call) endAlone(ctx actor.Context) { c.hungUp(ctx, sip.Ended{ByRemote: true}) }
