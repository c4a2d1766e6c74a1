package call

import (
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/sip"
)

// The ways to take a call (domain.AgentInbound).
const (
	answerRing   = "ring"
	answerDirect = "direct"
	answerEarly  = "early"
)

// earlyFor is how long a caller hears it ring by early media where the agent
// does not say.
const earlyFor = 3 * time.Second

// answerNow ends the ringing of a call that came in.
type answerNow struct{ body []byte }

// Control admits it always.
func (answerNow) Control() {}

// letRing answers a call that came in once it has rung as long as its agent
// wants, by 180 or by a sound of ours.
func (c *call) letRing(ctx actor.Context, body []byte) {
	wait := time.Duration(c.script.Inbound.RingSeconds) * time.Second
	switch s := c.resources.Session(); {
	case c.script.Inbound.Answer == answerDirect || c.hangup:
		wait = 0
	case c.script.Inbound.Answer == answerRing || c.script.Inbound.Answer == "":
		c.in.Ring() // whose offer is refused hears no ringing
	case c.script.Inbound.Answer == answerEarly && s != nil:
		s.Hold(c.cfg.ringback)
		s.Early()
		c.early = true
		c.in.Progress(183, body)
		if wait == 0 {
			wait = earlyFor
		}
	}
	if wait == 0 {
		c.pickUp(ctx, body)
		return
	}
	c.rung = true
	mailbox.After(ctx, wait, answerNow{body})
}

// pickUp answers a call that came in.
func (c *call) pickUp(ctx actor.Context, body []byte) {
	if c.hangup {
		c.refuseCaller(480)
		c.over(ctx, cancelled(), byAPI)
		return
	}
	d, gaveUp := c.answerTo(ctx, c.in, 1, body)
	c.resources.SetDialog(1, d)
	if gaveUp {
		c.over(ctx, cancelled(), byRemote)
		return
	}
	c.talk(ctx, d.State())
}

// answerTo answers somebody who calls as a leg; gaveUp: he does so no more.
func (c *call) answerTo(ctx actor.Context, in *sip.Incoming, leg int, body []byte) (d *sip.Dialog, gaveUp bool) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	var gone atomic.Bool
	d = in.Answer(body, func(e sip.Event) {
		if end, ended := e.(sip.Ended); ended && end.GaveUp {
			gone.Store(true) // told within Answer; a BYE may come that early too
		}
		root.Send(self, dialogEvent{leg, e})
	})
	return d, gone.Load()
}
