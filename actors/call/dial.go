package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/transport"
)

// dial opens the media session of a leg and sends its INVITE.
func dial(r *leg.Resources, m leg.Media, ua leg.UserAgent, o media.Options, in sip.Invite) (done legPrepared) {
	defer func() {
		if v := recover(); v != nil {
			done = legPrepared{leg: in.Leg, err: fmt.Errorf("call: dialling panicked: %v", v), reason: domain.ReasonInternal}
		}
	}()
	s, err := m.Open(o)
	if err != nil {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if !r.SetSession(in.Leg, s) {
		s.Close()
		return legPrepared{leg: in.Leg, err: media.ErrClosed, reason: domain.ReasonInternal}
	}
	in.Body = s.Offer()
	d, err := ua.Invite(in)
	if errors.Is(err, transport.ErrHeld) {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if err != nil {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonInternal}
	}
	r.SetDialog(in.Leg, d)
	return legPrepared{leg: in.Leg}
}

// sendInvite opens the leg's media session and sends its INVITE, beside the actor.
func (c *call) sendInvite(ctx actor.Context) {
	root, self, leg := ctx.ActorSystem().Root, ctx.Self(), c.leg
	in := sip.Invite{
		Attempt: c.call.ID, Leg: leg, Environment: c.call.Environment, Target: c.slot.Target, To: c.call.To, From: c.call.From,
		Contacts: c.contacts, FromName: c.callerName, RingTimeout: c.ringTimeout, HoldAck: true, Reliable: true,
		Notify: func(e sip.Event) { root.Send(self, dialogEvent{leg, e}) },
	}
	refused := c.slot.Fill(&in, c.call.To, trunk.Caller{Number: c.call.From, Name: c.callerName})
	c.failover.redirect.applyTo(&in)
	o, engine, ua, v, may := c.options(ctx), c.cfg.Media, c.cfg.UserAgent, c.resources.Resources, c.doNotCallCheck(c.cfg.Listed, c.leg)
	c.invitedAt, c.audio.previewed = time.Now(), ""
	c.stage = preparing
	mailbox.Work(ctx, dialLimit, func(bound context.Context) any {
		if refused != nil {
			return legPrepared{leg: in.Leg, err: refused, reason: domain.ReasonNotSent}
		}
		if may != nil {
			if err := may(bound); err != nil {
				return legPrepared{leg: in.Leg, err: err}
			}
		}
		return dial(v, engine, ua, o, in)
	})
}

// levelOf is how loud it is said that a leg could not be placed.
func levelOf(err error) slog.Level {
	switch {
	case errors.Is(err, transport.ErrHeld):
		return slog.LevelInfo // somebody wants it so
	case leg.IsMediaRefusal(err):
		return slog.LevelWarn // the peer's description, and no fault of ours
	}
	return slog.LevelError
}
