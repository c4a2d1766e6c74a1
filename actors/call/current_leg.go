package call

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// options are those of the leg's sound.
func (c *call) options(ctx actor.Context) media.Options {
	root, self, number := ctx.ActorSystem().Root, ctx.Self(), c.leg
	c.audio.leg, c.audio.held = number, false
	o := media.Options{Notify: func(e media.Event) { root.Send(self, mediaEvent{number, e}) }}
	leg.SetTrunkOptions(&o, c.slot, c.networks)
	o.Codecs = c.failover.codecs
	if c.resumed != nil {
		o.Confidential, o.Address, o.After = c.resumed.Confidential, c.resumedAddress(c.cfg.UserAgent), &c.resumed.Media
		if c.resumed.Media.Secure { // it stays so, whatever became of the trunk
			o.SRTP = media.SRTPRequired
		}
	} else if c.in != nil {
		o.Confidential, o.Address, o.Far = c.in.Network == "tls", c.cfg.UserAgent.Host(c.in.Network, c.in.Source), c.in.Source.Addr()
	} else {
		o.Address, o.Far = leg.MediaAddresses(c.cfg.UserAgent, c.slot, c.contacts)
		o.Answerer = c.script.AMD.On()
	}
	c.audio.confidential = o.Confidential
	if c.call.Record {
		o.RecordPath = recording.SpoolPath(c.cfg.SpoolDir, c.cfg.Workspace, c.call.ID)
	}
	return o
}

func (c *call) legPrepared(ctx actor.Context, m legPrepared) {
	if m.leg == c.leg && c.stage == talking && c.hangup.reason != "" && m.err == nil {
		c.sendBye(ctx) // it was answered and over before we held its dialog
		return
	}
	if m.leg != c.leg || c.stage != preparing {
		return
	}
	if _, is := errors.AsType[*leg.BlockedError](m.err); is {
		c.nextLegBlocked(ctx, m.err)
		return
	}
	if m.err != nil && c.in == nil && c.hangup.requested {
		c.endCall(ctx, cancelled(), byAPI)
		return
	}
	if m.err != nil {
		c.log.Log(context.Background(), levelOf(m.err), "the call's leg was not set up", slog.Any("error", m.err))
		c.mediaRefused(m.err)
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

func (c *call) handleDialogEvent(ctx actor.Context, m dialogEvent) {
	if _, gone := m.event.(sip.Ended); gone && m.leg != c.leg && c.stage == talking {
		c.formerLegEnded(ctx, m.leg)
		return
	}
	if m.leg != c.leg || c.stage >= ending {
		if r, ok := m.event.(sip.Reoffer); ok {
			r.Reply(481, nil)
		}
		return
	}
	switch e := m.event.(type) {
	case sip.Trying:
		c.reached = true
		c.updateResources()
	case sip.Ringing:
		c.legRinging(ctx, e)
	case sip.Early:
		if s := c.resources.Session(); s != nil && s.Accept(e.Body) == nil { // a preview; the answer decides
			c.audio.previewed = e.State.RemoteTag
		}
		c.legRinging(ctx, sip.Ringing{Code: e.Code, State: e.State})
	case sip.Answered:
		c.legAnswered(ctx, e)
	case sip.Refused:
		c.legRefused(ctx, e.Final)
	case sip.Accepted:
		c.answerInAck(ctx, e)
	case sip.Reoffer:
		c.mediaRefused(leg.AnswerReoffer(c.log, c.resources.Session(), e))
	case sip.InfoDigit:
		if s := c.resources.Session(); s != nil {
			s.Pressed(e.Key, time.Duration(e.DurationMs)*time.Millisecond)
		}
	case sip.Referred:
		c.handleRefer(ctx, e)
	case sip.Replaced:
		c.handleReplaces(ctx, e)
	case sip.Ended:
		if !c.handleReferrerBye(ctx, e) {
			c.dialogEnded(ctx, e)
		}
	}
}

func (c *call) legRinging(ctx actor.Context, e sip.Ringing) {
	c.reached = true
	c.setDialog(e.State)
	l := c.legRecord(c.leg)
	l.PDDMs = max(l.PDDMs, time.Since(c.invitedAt).Milliseconds())
	if c.call.RingingAt != nil {
		c.commit(ctx, "", nil, nil)
		return
	}
	if c.slot.Probe && c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.ProbeRang{CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID})
	}
	now := time.Now().UTC()
	c.call.Status, c.call.RingingAt = domain.CallRinging, &now
	c.commit(ctx, event.CallRinging, event.CallOf(&c.call), nil)
}

// setDialog stores what a BYE or CANCEL after a crash needs.
func (c *call) setDialog(s sip.DialogState) {
	if b, err := leg.DialogBytes(s); err == nil {
		c.currentRow().Dialog = b
	}
}

func (c *call) legAnswered(ctx actor.Context, e sip.Answered) {
	if c.stage != preparing && c.stage != dialling {
		return
	}
	c.reached = true
	l := c.legRecord(c.leg)
	l.Code, l.Reason, l.PDDMs = 200, "OK", e.PDD.Milliseconds()
	if c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.Result{CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID, Answered: true})
	}
	s := c.resources.Session()
	err := leg.ErrNoSession
	if s != nil {
		err = leg.AcceptAnswer(s, e, c.audio.previewed)
	}
	if err != nil {
		c.log.Warn("the answer's SDP was refused", slog.Any("error", err))
		c.mediaRefused(err)
		c.stage = talking
		c.endAnswered(ctx, byService, domain.ReasonMedia)
		return
	}
	c.startTalking(ctx, e.State)
}

// answerInAck handles an SDP answer that came with the ACK.
func (c *call) answerInAck(ctx actor.Context, e sip.Accepted) {
	err := leg.ErrNoSession
	if s := c.resources.Session(); s != nil {
		err = s.Accept(e.Body)
	}
	if err != nil {
		c.log.Warn("the answer's SDP was refused", slog.Any("error", err))
		c.mediaRefused(err)
		c.endAnswered(ctx, byService, domain.ReasonMedia)
	}
}

// startTalking begins the media and the conversation. The commit of the answer
// follows.
func (c *call) startTalking(ctx actor.Context, state sip.DialogState) {
	c.stage = talking
	c.answeredAt = time.Now()
	now := c.answeredAt.UTC()
	c.audio.session = c.resources.Session()
	c.audio.session.Resume()
	c.audio.session.Begin()
	c.startConversation(ctx, nil)
	c.timers.stopClock = mailbox.After(ctx, c.maxDuration, maxDurationReached{})
	c.setDialog(state)
	c.legRecord(c.leg).Codec = c.audio.session.Stats().Codec
	c.call.Status, c.call.AnsweredAt = domain.CallInProgress, &now
	c.commit(ctx, event.CallAnswered, event.CallOf(&c.call), func(ctx actor.Context, _ bool) {
		if d := c.resources.Dialog(); d != nil {
			d.Ack() // a crash before it leaves an answer that the far end repeats
		}
		c.checkpoint.acknowledged = true
	})
	if c.hangup.requested {
		c.endAnswered(ctx, byAPI, c.hangup.requestReason)
	}
}

func (c *call) handleMediaEvent(ctx actor.Context, m mediaEvent) {
	if hold, held := m.event.(media.Hold); held && m.leg == c.audio.leg {
		c.audio.held = hold.Deaf // also before the answer
	}
	if m.leg != c.audio.leg || c.stage != talking {
		return
	}
	switch e := m.event.(type) {
	case media.Vanished:
		if e.Broken {
			c.endAnswered(ctx, byService, domain.ReasonMediaLost)
		} else {
			c.probePeer(ctx, c.audio.session, c.resources.Dialog(), nil)
		}
		return
	case media.SendInfo:
		if d := c.resources.Dialog(); d != nil {
			d.Info(e.ContentType, e.Body)
		}
		return
	case media.Hold:
		c.peerHeld(ctx, e)
		return
	case media.KeyWorn:
		leg.RenewKey(c.log, c.audio.session, c.resources.Dialog())
		return
	}
	if c.agent.conversation != nil {
		ctx.Send(c.agent.conversation, conversation.Heard{Event: m.event})
	}
}
