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
	"github.com/callboard/callboard/domain/event"
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
	if errors.Is(err, transport.ErrCallsSuspended) {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonNotSent}
	}
	if err != nil {
		return legPrepared{leg: in.Leg, err: err, reason: domain.ReasonInternal}
	}
	r.SetDialog(in.Leg, d)
	return legPrepared{leg: in.Leg}
}

// sendInvite opens the media session of the current leg and sends its INVITE, outside the actor.
func (c *call) sendInvite(ctx actor.Context) {
	root, self, leg := ctx.ActorSystem().Root, ctx.Self(), c.leg
	in := sip.Invite{
		Attempt: c.call.ID, Leg: leg, Environment: c.call.Environment, Target: c.slot.Target, To: c.call.To, From: c.call.From,
		Contacts: c.contacts, FromName: c.callerName, RingTimeout: c.ringTimeout, HoldAck: true, Reliable: true,
		Notify: func(e sip.Event) { root.Send(self, dialogEvent{leg, e}) },
	}
	refused := c.slot.FillInvite(&in, c.call.To, trunk.Caller{Number: c.call.From, Name: c.callerName})
	c.failover.redirect.applyTo(&in)
	o, engine, ua, v, may := c.options(ctx), c.cfg.Media, c.cfg.UserAgent, c.resources.Resources, c.doNotCallCheck(c.cfg.IsListed, c.leg)
	c.invitedAt, c.audio.previewedTag = time.Now(), ""
	c.stage = preparing
	mailbox.RunTask(ctx, dialTimeout, func(bound context.Context) any {
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

// prepareFailureLevel returns the log level for an error that occurred before the INVITE of a leg was sent.
func prepareFailureLevel(err error) slog.Level {
	switch {
	case errors.Is(err, transport.ErrCallsSuspended):
		return slog.LevelInfo // another process owns the shard
	case leg.IsMediaRefusal(err):
		return slog.LevelWarn // the peer's SDP is unusable; this service is not at fault
	}
	return slog.LevelError
}

func (c *call) onLegPrepared(ctx actor.Context, m legPrepared) {
	if m.leg == c.leg && c.stage == talking && c.hangup.reason != "" && m.err == nil {
		c.sendBye(ctx) // the call was answered and ended before its dialog was known here
		return
	}
	if m.leg != c.leg || c.stage != preparing {
		return
	}
	if _, is := errors.AsType[*leg.BlockedError](m.err); is {
		c.endBlockedCall(ctx, m.err)
		return
	}
	if m.err != nil && c.in == nil && c.hangup.requested {
		c.endCall(ctx, cancelled(), byAPI)
		return
	}
	if m.err != nil {
		c.log.Log(context.Background(), prepareFailureLevel(m.err), "leg of a call was not set up", slog.Any("error", m.err))
		c.recordMediaRefusal(m.err)
		v := domain.Verdict{Outcome: domain.OutcomeFailed, Reason: m.reason}
		if m.reason == domain.ReasonInternal {
			v.RetryOn = "failed"
		}
		if c.hangup.requested {
			v = cancelled()
		}
		if errors.Is(m.err, media.ErrNoPorts) || m.reason == domain.ReasonNotSent {
			c.refuseCaller(503)
		} else {
			c.refuseCaller(488, leg.RefusalWarning(m.err)...)
		}
		c.endCall(ctx, v, byService)
		return
	}
	if c.in != nil {
		c.alertCaller(ctx, m.answer)
		return
	}
	c.stage = dialling
	if d := c.resources.Dialog(); c.hangup.requested && d != nil {
		d.Cancel("hangup")
	}
}

func (c *call) onLegRinging(ctx actor.Context, e sip.Ringing) {
	c.reached = true
	c.setDialog(e.State)
	l := c.legRecord(c.leg)
	l.PDDMs = max(l.PDDMs, time.Since(c.invitedAt).Milliseconds())
	if c.call.RingingAt != nil {
		c.commit(ctx, "", nil, nil)
		return
	}
	if c.slot.Probe && c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.ProbeRinging{CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID})
	}
	now := time.Now().UTC()
	c.call.Status, c.call.RingingAt = domain.CallRinging, &now
	c.commit(ctx, event.CallRinging, event.NewCallData(&c.call), nil)
}

func (c *call) onLegAnswered(ctx actor.Context, e sip.Answered) {
	if c.stage != preparing && c.stage != dialling {
		return
	}
	c.reached = true
	l := c.legRecord(c.leg)
	l.Code, l.Reason, l.PDDMs = 200, "OK", e.PDD.Milliseconds()
	if c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.LegResult{CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID, Answered: true})
	}
	s := c.resources.Session()
	err := leg.ErrNoSession
	if s != nil {
		err = leg.AcceptAnswer(s, e, c.audio.previewedTag)
	}
	if err != nil {
		c.log.Warn("SDP answer refused", slog.Any("error", err))
		c.recordMediaRefusal(err)
		c.stage = talking
		c.endAnswered(ctx, byService, domain.ReasonMediaRefused)
		return
	}
	c.startTalking(ctx, e.State)
}

// answerInAck passes the SDP answer of an ACK to the media session. It ends the call if the answer is not acceptable.
func (c *call) answerInAck(ctx actor.Context, e sip.Accepted) {
	err := leg.ErrNoSession
	if s := c.resources.Session(); s != nil {
		err = s.Accept(e.Body)
	}
	if err != nil {
		c.log.Warn("SDP answer refused", slog.Any("error", err))
		c.recordMediaRefusal(err)
		c.endAnswered(ctx, byService, domain.ReasonMediaRefused)
	}
}

// startTalking starts the media and the conversation of an answered call, and then commits the answer.
func (c *call) startTalking(ctx actor.Context, state sip.DialogState) {
	c.stage = talking
	c.answeredAt = time.Now()
	now := c.answeredAt.UTC()
	c.audio.session = c.resources.Session()
	c.audio.session.Resume()
	c.audio.session.Begin()
	c.startConversation(ctx, nil)
	c.timers.stopClock = mailbox.SendAfter(ctx, c.maxDuration, maxDurationReached{})
	c.setDialog(state)
	c.legRecord(c.leg).Codec = c.audio.session.Stats().Codec
	c.call.Status, c.call.AnsweredAt = domain.CallInProgress, &now
	c.commit(ctx, event.CallAnswered, event.NewCallData(&c.call), func(ctx actor.Context, _ bool) {
		if d := c.resources.Dialog(); d != nil {
			d.Ack() // the ACK follows the commit: after a crash before it the peer repeats its 200
		}
		c.checkpoint.acknowledged = true
	})
	if c.hangup.requested {
		c.endAnswered(ctx, byAPI, c.hangup.requestReason)
	}
}
