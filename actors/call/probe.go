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

// patience is how often a far end that lives by SIP may go on without a packet
// of any kind: with media.Options.IdleAfter of 60 s it has six minutes. Switches
// have five by custom, and no phone is silent in RTCP as well for so long.
const patience = 5

// probed says what a far end answered that had vanished.
type probed struct {
	of    leg.Session // that heard nothing
	aside *actor.PID  // whose leg it is; nil: the call's own
	heard uint64      // packets, when it was asked
	code  int         // 0: it answered nothing
}

// Control admits it always.
func (probed) Control() {}

// probe asks the far end of a leg whether it still knows the call.
func (c *call) probe(ctx actor.Context, s leg.Session, d leg.Dialog, aside *actor.PID) {
	m := probed{of: s, aside: aside, heard: s.Stats().PacketsReceived}
	if d == nil {
		c.probed(ctx, m)
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	d.Probe(func(code int) {
		m.code = code
		root.Send(self, m)
	})
}

func (c *call) probed(ctx actor.Context, m probed) {
	if c.stage != talking {
		return
	}
	gone := m.code == sipNoSuchCall || m.code == sipTimeout
	if m.code == 0 {
		gone = m.of.Stats().PacketsReceived == m.heard
	}
	switch t := c.transfer; {
	case !gone && m.of.Await() <= patience:
	case m.aside == nil && c.session == m.of:
		c.loseSound(ctx)
	case m.aside != nil && t != nil && t.aside != nil && t.aside.Equal(m.aside):
		ctx.Send(t.aside, transferleg.GiveUp{Reason: string(domain.ReasonMediaLost)})
	}
}
