package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/sip"
)

// handleReferrerBye takes a BYE of a peer that has sent a REFER whose target has not
// answered yet, as many phones do for a blind transfer. It reports true if the call
// goes on: the target takes the place of the peer.
func (c *call) handleReferrerBye(ctx actor.Context, e sip.Ended) bool {
	t := c.transfer
	if !e.ByRemote || e.Fault || c.stage != talking || c.byeReason != "" || t == nil || t.told == nil || t.stage != calling || t.referrerGone {
		return false
	}
	t.referrerGone = true
	c.log.Info("the peer hung up before its REFER succeeded")
	c.formerOver(ctx, c.leg)
	return true
}

// endWithoutReferrer ends a call whose peer has hung up after its REFER, and whose
// transfer has failed.
func (c *call) endWithoutReferrer(ctx actor.Context) { c.hungUp(ctx, sip.Ended{ByRemote: true}) }
