package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
)

// A far end of which nothing is heard may only have nothing to say, and send
// none of it: a gateway that suppresses silence, or one that lost its sound on
// the way. It is asked by SIP before its call is ended.

// maxSilences is how often a peer that answers by SIP may go on without a packet
// of any kind: with media.Options.IdleAfter of 60 s it has six minutes. Switches
// have five by custom, and no phone is silent in RTCP as well for so long.
const maxSilences = 5

// peerProbed is the answer of a silent peer to a SIP request.
type peerProbed struct {
	session     leg.Session // that heard nothing
	transferLeg *actor.PID  // whose leg it is; nil: the call's own
	packets     uint64      // packets, when it was asked
	code        int         // 0: it answered nothing
}

// Control admits it always.
func (peerProbed) Control() {}

// probePeer asks the peer of a leg by SIP whether it still has the call.
func (c *call) probePeer(ctx actor.Context, s leg.Session, d leg.Dialog, transferLeg *actor.PID) {
	m := peerProbed{session: s, transferLeg: transferLeg, packets: s.Stats().PacketsReceived}
	if d == nil {
		c.peerProbed(ctx, m)
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	d.Probe(func(code int) {
		m.code = code
		root.Send(self, m)
	})
}

func (c *call) peerProbed(ctx actor.Context, m peerProbed) {
	if c.stage != talking {
		return
	}
	gone := m.code == sipNoSuchCall || m.code == sipTimeout
	if m.code == 0 {
		gone = m.session.Stats().PacketsReceived == m.packets
	}
	switch t := c.transfers.current; {
	case !gone && m.session.Await() <= maxSilences:
	case m.transferLeg == nil && c.audio.session == m.session:
		c.endAnswered(ctx, byService, domain.ReasonMediaLost)
	case m.transferLeg != nil && t != nil && t.pid != nil && t.pid.Equal(m.transferLeg):
		ctx.Send(t.pid, transferleg.HangUpLeg{Reason: string(domain.ReasonMediaLost)})
	}
}
