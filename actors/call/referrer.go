package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/sip"
)

// handleReferrerBye says whether the far end has asked us by REFER to call somebody,
// and has hung up before anybody answered, as many phones do for a blind
// transfer. The call goes on: whoever answers takes its place.
func (c *call) handleReferrerBye(ctx actor.Context, e sip.Ended) bool {
	t := c.transfer
	if !e.ByRemote || e.Fault || c.stage != talking || c.byeReason != "" || t == nil || t.told == nil || t.stage != calling || t.referrerGone {
		return false
	}
	t.referrerGone = true
	c.log.Info("the far end has hung up before its REFER succeeded")
	c.formerOver(ctx, c.leg)
	return true
}

// endWithoutReferrer ends a call whose far end has hung up after its REFER, and whose
// transfer cannot succeed any more.
func (c *call) endWithoutReferrer(ctx actor.Context) { c.hungUp(ctx, sip.Ended{ByRemote: true}) }
