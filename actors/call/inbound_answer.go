package call

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// The values of domain.AgentInbound.Answer.
const (
	answerRing   = "ring"
	answerDirect = "direct"
	answerEarly  = "early"
)

// earlyMediaDuration is how long a caller hears ringback as early media if the agent sets no duration.
const earlyMediaDuration = 3 * time.Second

// answerCaller is the timer message that ends the alerting of an inbound call and answers it.
type answerCaller struct{ body []byte }

// Control implements mailbox.Control: a full mailbox accepts this message.
func (answerCaller) Control() {}

// alertCaller alerts the caller with 180 or with early media for the time that the agent sets, and then answers the
// call.
func (c *call) alertCaller(ctx actor.Context, body []byte) {
	wait := time.Duration(c.script.Inbound.RingSeconds) * time.Second
	switch s := c.resources.Session(); {
	case c.script.Inbound.Answer == answerDirect || c.hangup.requested:
		wait = 0
	case c.script.Inbound.Answer == answerRing || c.script.Inbound.Answer == "":
		c.in.Ring() // sent after the SDP was accepted: a refused offer gets no 180
	case c.script.Inbound.Answer == answerEarly && s != nil:
		s.Hold(c.cfg.ringback)
		s.Early()
		c.audio.early = true
		c.in.Progress(183, body)
		if wait == 0 {
			wait = earlyMediaDuration
		}
	}
	if wait == 0 {
		c.answerCaller(ctx, body)
		return
	}
	c.alerting = true
	mailbox.SendAfter(ctx, wait, answerCaller{body})
}

// answerCaller answers an inbound call with 200, unless a hang-up was requested.
func (c *call) answerCaller(ctx actor.Context, body []byte) {
	if c.hangup.requested {
		c.refuseCaller(480)
		c.endCall(ctx, cancelled(), byAPI)
		return
	}
	d, gaveUp := c.acceptInvite(ctx, c.in, 1, body)
	c.resources.SetDialog(1, d)
	if gaveUp {
		c.endCall(ctx, cancelled(), byRemote)
		return
	}
	c.startTalking(ctx, d.State())
}

// acceptInvite answers an inbound INVITE with 200 and an SDP body. gaveUp reports that the caller has cancelled the
// INVITE.
func (c *call) acceptInvite(ctx actor.Context, in *sip.Incoming, leg int, body []byte) (d *sip.Dialog, gaveUp bool) {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	var gone atomic.Bool
	d = in.Answer(body, func(e sip.Event) {
		if end, ended := e.(sip.Ended); ended && end.CancelledByCaller {
			gone.Store(true) // set before Answer returns; a BYE can arrive that early too
		}
		root.Send(self, dialogEvent{leg, e})
	})
	return d, gone.Load()
}

// prepareInbound opens the media session of an inbound call and makes the SDP for its answer, outside the actor.
func (c *call) prepareInbound(ctx actor.Context) {
	c.reached = true
	o, engine, r, offer := c.options(ctx), c.cfg.Media, c.resources.Resources, c.in.Body
	mailbox.RunTask(ctx, dialTimeout, func(context.Context) any {
		return prepareAnswer(r, engine, o, offer)
	})
}

// prepareAnswer opens the media session of an inbound call and makes its SDP answer, or an SDP offer if the INVITE
// has none.
func prepareAnswer(r *leg.Resources, m leg.Media, o media.Options, offer []byte) (done legPrepared) {
	defer func() {
		if v := recover(); v != nil {
			done = legPrepared{leg: 1, err: fmt.Errorf("call: answering panicked: %v", v), reason: domain.ReasonInternal}
		}
	}()
	s, err := m.Open(o)
	if err != nil {
		return legPrepared{leg: 1, err: err, reason: domain.ReasonNotSent}
	}
	if !r.SetSession(1, s) {
		s.Close()
		return legPrepared{leg: 1, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	if len(offer) == 0 {
		return legPrepared{leg: 1, answer: s.Offer()}
	}
	body, err := s.Answer(offer)
	if err != nil {
		return legPrepared{leg: 1, err: err, reason: domain.ReasonMediaRefused}
	}
	return legPrepared{leg: 1, answer: body}
}
