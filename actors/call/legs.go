package call

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
)

// options are those of the leg's sound.
func (c *call) options(ctx actor.Context) media.Options {
	root, self, number := ctx.ActorSystem().Root, ctx.Self(), c.leg
	c.soundLeg, c.deaf = number, false
	o := media.Options{Notify: func(e media.Event) { root.Send(self, mediaEvent{number, e}) }}
	leg.SetTrunkOptions(&o, c.slot, c.networks)
	o.Codecs = c.codecs
	if c.survivor != nil {
		o.Confidential, o.Address, o.After = c.survivor.Confidential, c.addressFor(), &c.survivor.Sound
		if c.survivor.Sound.Secure { // it stays so, whatever became of the trunk
			o.SRTP = media.SRTPRequired
		}
	} else if c.in != nil {
		o.Confidential, o.Address, o.Far = c.in.Network == "tls", c.cfg.UserAgent.Host(c.in.Network, c.in.Source), c.in.Source.Addr()
	} else {
		o.Address, o.Far = leg.MediaAddresses(c.cfg.UserAgent, c.slot, c.contacts)
		o.Answerer = c.script.AMD.On()
	}
	c.keysHidden = o.Confidential
	if c.call.Record {
		o.RecordPath = recording.SpoolPath(c.cfg.SpoolDir, c.cfg.Workspace, c.call.ID)
	}
	return o
}

// dial opens the leg's sound and sends its INVITE, beside the actor.
func (c *call) dial(ctx actor.Context) {
	root, self, leg := ctx.ActorSystem().Root, ctx.Self(), c.leg
	in := sip.Invite{
		Attempt: c.call.ID, Leg: leg, Environment: c.call.Environment, Target: c.slot.Target, To: c.call.To, From: c.call.From,
		Contacts: c.contacts, FromName: c.callerName, RingTimeout: c.ringTimeout, HoldAck: true, Reliable: true,
		Notify: func(e sip.Event) { root.Send(self, dialogEvent{leg, e}) },
	}
	refused := c.slot.Fill(&in, c.call.To, trunk.Caller{Number: c.call.From, Name: c.callerName})
	c.detour.takes(&in)
	o, engine, ua, v, may := c.options(ctx), c.cfg.Media, c.cfg.UserAgent, c.resources.Resources, c.mayRingOn()
	c.invitedAt, c.previewed = time.Now(), ""
	c.stage = preparing
	mailbox.Work(ctx, dialLimit, func(bound context.Context) any {
		if refused != nil {
			return prepared{leg: in.Leg, err: refused, reason: domain.ReasonNotSent}
		}
		if may != nil {
			if err := may(bound); err != nil {
				return prepared{leg: in.Leg, err: err}
			}
		}
		return dial(v, engine, ua, o, in)
	})
}

// take opens the sound of a call that came in and describes it.
func (c *call) take(ctx actor.Context) {
	c.reached = true
	o, engine, r, offer := c.options(ctx), c.cfg.Media, c.resources.Resources, c.in.Body
	mailbox.Work(ctx, dialLimit, func(context.Context) any {
		return prepareAnswer(r, engine, o, offer)
	})
}

// levelOf is how loud it is said that a leg could not be placed.
func levelOf(err error) slog.Level {
	switch {
	case errors.Is(err, sip.ErrHeld):
		return slog.LevelInfo // somebody wants it so
	case leg.IsMediaRefusal(err):
		return slog.LevelWarn // the peer's description, and no fault of ours
	}
	return slog.LevelError
}

func (c *call) prepared(ctx actor.Context, m prepared) {
	if m.leg == c.leg && c.stage == talking && c.byeReason != "" && m.err == nil {
		c.sendBye(ctx) // it was answered and over before we held its dialog
		return
	}
	if m.leg != c.leg || c.stage != preparing {
		return
	}
	if _, is := errors.AsType[*leg.BlockedError](m.err); is {
		c.notRungOn(ctx, m.err)
		return
	}
	if m.err != nil && c.in == nil && c.hangup {
		c.over(ctx, cancelled(), byAPI)
		return
	}
	if m.err != nil {
		c.log.Log(context.Background(), levelOf(m.err), "the call's leg was not set up", slog.Any("error", m.err))
		c.mediaRefused(m.err)
		v := domain.Verdict{Outcome: domain.OutcomeFailed, Reason: m.reason}
		if m.reason == domain.ReasonInternal {
			v.RetryOn = "failed"
		}
		if c.hangup {
			v = cancelled()
		}
		if errors.Is(m.err, media.ErrNoPorts) || m.reason == domain.ReasonNotSent {
			c.refuseCaller(503)
		} else {
			c.refuseCaller(488, leg.RefusalWarning(m.err)...)
		}
		c.over(ctx, v, byService)
		return
	}
	if c.in != nil {
		c.letRing(ctx, m.answer)
		return
	}
	c.stage = dialling
	if d := c.resources.Dialog(); c.hangup && d != nil {
		d.Cancel("hangup")
	}
}

func (c *call) signal(ctx actor.Context, m dialogEvent) {
	if _, gone := m.event.(sip.Ended); gone && m.leg != c.leg && c.stage == talking {
		c.formerOver(ctx, m.leg)
		return
	}
	if m.leg != c.leg || c.stage >= closing {
		if r, ok := m.event.(sip.Reoffer); ok {
			r.Reply(481, nil)
		}
		return
	}
	switch e := m.event.(type) {
	case sip.Trying:
		c.reached = true
		c.note()
	case sip.Ringing:
		c.ringing(ctx, e)
	case sip.Early:
		if s := c.resources.Session(); s != nil && s.Accept(e.Body) == nil { // a preview; the answer decides
			c.previewed = e.State.RemoteTag
		}
		c.ringing(ctx, sip.Ringing{Code: e.Code, State: e.State})
	case sip.Answered:
		c.answered(ctx, e)
	case sip.Refused:
		c.refused(ctx, e.Final)
	case sip.Accepted:
		c.accepted(ctx, e)
	case sip.Reoffer:
		c.mediaRefused(leg.AnswerReoffer(c.log, c.resources.Session(), e))
	case sip.InfoDigit:
		if s := c.resources.Session(); s != nil {
			s.Pressed(e.Key, time.Duration(e.DurationMs)*time.Millisecond)
		}
	case sip.Referred:
		c.referredOn(ctx, e)
	case sip.Replaced:
		c.replaced(ctx, e)
	case sip.Ended:
		if !c.handleReferrerBye(ctx, e) {
			c.hungUp(ctx, e)
		}
	}
}

func (c *call) ringing(ctx actor.Context, e sip.Ringing) {
	c.reached = true
	c.keepDialog(e.State)
	l := c.record()
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

// keepDialog stores what a BYE or CANCEL after a crash needs.
func (c *call) keepDialog(s sip.DialogState) {
	if b, err := leg.DialogBytes(s); err == nil {
		c.row().Dialog = b
	}
}

func (c *call) answered(ctx actor.Context, e sip.Answered) {
	if c.stage != preparing && c.stage != dialling {
		return
	}
	c.reached = true
	l := c.record()
	l.Code, l.Reason, l.PDDMs = 200, "OK", e.PDD.Milliseconds()
	if c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.Result{CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID, Answered: true})
	}
	s := c.resources.Session()
	err := leg.ErrNoSession
	if s != nil {
		err = leg.AcceptAnswer(s, e, c.previewed)
	}
	if err != nil {
		c.log.Warn("the answer's SDP was refused", slog.Any("error", err))
		c.mediaRefused(err)
		c.stage = talking
		c.bye(ctx, byService, domain.ReasonMedia)
		return
	}
	c.talk(ctx, e.State)
}

// accepted takes the answer that an ACK brought.
func (c *call) accepted(ctx actor.Context, e sip.Accepted) {
	err := leg.ErrNoSession
	if s := c.resources.Session(); s != nil {
		err = s.Accept(e.Body)
	}
	if err != nil {
		c.log.Warn("the answer's SDP was refused", slog.Any("error", err))
		c.mediaRefused(err)
		c.bye(ctx, byService, domain.ReasonMedia)
	}
}

// talk begins the sound and the conversation; storing that follows.
func (c *call) talk(ctx actor.Context, state sip.DialogState) {
	c.stage = talking
	c.answeredAt = time.Now()
	now := c.answeredAt.UTC()
	c.session = c.resources.Session()
	c.session.Resume()
	c.session.Begin()
	c.converse(ctx, nil)
	c.stopClock = mailbox.After(ctx, c.maxDuration, maxed{})
	c.keepDialog(state)
	c.record().Codec = c.session.Stats().Codec
	c.call.Status, c.call.AnsweredAt = domain.CallInProgress, &now
	c.commit(ctx, event.CallAnswered, event.CallOf(&c.call), func(ctx actor.Context, _ bool) {
		if d := c.resources.Dialog(); d != nil {
			d.Ack() // a crash before it leaves an answer that the far end repeats
		}
		c.keeps.acked = true
	})
	if c.hangup {
		c.bye(ctx, byAPI, c.hangupReason)
	}
}

// ears are those that the agent hears with; nil: none.
func (c *call) ears() speech.Recogniser {
	if c.cfg.Ears == nil {
		return nil
	}
	engine := ""
	if c.script.STT != nil {
		engine = c.script.STT.Engine
	}
	return speech.For(c.cfg.Ears, engine)
}

// ear hears what the far end says, where the pathway listens to words or some
// of them mean no more calls, or an engine hears and speaks by itself.
func (c *call) ear() *speech.Ear {
	ears, language := c.ears(), c.script.Hearing()
	words := ears != nil && slices.ContainsFunc(pathway.Languages(&c.script), ears.Hears) && (pathway.Listens(&c.script.Pathway) || conversation.HearsAside(ears, language, c.optOut))
	if !words && c.script.Realtime == nil {
		return nil
	}
	ear := new(speech.Ear)
	c.session.Hear(ear.Frame)
	return ear
}

func (c *call) beforeConversation() func(any) {
	if c.cfg.Before == nil {
		return nil
	}
	before, id := c.cfg.Before, c.call.ID
	return func(msg any) { before("conversation", id, msg) }
}

// spokenVariables are what the pathway's text may use.
func (c *call) spokenVariables() map[string]string {
	phone := c.call.To
	if c.call.Direction == domain.Inbound {
		phone = c.call.From
	}
	v := pathway.Given(&c.script, c.answeredAt)
	v["phone"], v["caller_number"], v["called_number"] = phone, c.call.From, c.call.To
	maps.Copy(v, c.variables)
	maps.Copy(v, c.call.Variables)
	for name := range c.call.Context {
		if text, ok := c.call.Context.Text(name); ok {
			v[name] = text
		}
	}
	return v
}

func (c *call) heard(ctx actor.Context, m mediaEvent) {
	if hold, held := m.event.(media.Hold); held && m.leg == c.soundLeg {
		c.deaf = hold.Deaf // also before the answer
	}
	if m.leg != c.soundLeg || c.stage != talking {
		return
	}
	switch e := m.event.(type) {
	case media.Vanished:
		if e.Broken {
			c.loseSound(ctx)
		} else {
			c.probe(ctx, c.session, c.resources.Dialog(), nil)
		}
		return
	case media.SendInfo:
		if d := c.resources.Dialog(); d != nil {
			d.Info(e.ContentType, e.Body)
		}
		return
	case media.Hold:
		c.farHeld(ctx, e)
		return
	case media.KeyWorn:
		leg.RenewKey(c.log, c.session, c.resources.Dialog())
		return
	}
	if c.conversation != nil {
		ctx.Send(c.conversation, conversation.Heard{Event: m.event})
	}
}

func (c *call) loseSound(ctx actor.Context) { c.bye(ctx, byService, domain.ReasonMediaLost) }

// hungUp: the answered call is over on both sides.
func (c *call) hungUp(ctx actor.Context, e sip.Ended) {
	done := domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: c.byeReason}
	switch {
	case c.stage == reviving:
		c.tellRevived(ctx, Refused)
		c.over(ctx, interrupted(), byService)
		return
	case c.stage != talking:
		by := byRemote
		if c.hangup {
			by = byAPI
		}
		c.over(ctx, cancelled(), by)
		return
	case c.byeReason == domain.ReasonInternal:
		done.Outcome, done.RetryOn = domain.OutcomeFailed, "failed"
	case c.byeReason == domain.ReasonCancelled:
		done.Outcome = domain.OutcomeCancelled
	case c.byeReason == domain.ReasonMedia, c.byeReason == domain.ReasonAgent:
		done.Outcome = domain.OutcomeFailed
	case c.byeReason == "" && e.Fault:
		done = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonProtocol, RetryOn: "failed"}
		c.byeBy = byRemote
	case c.byeReason == "":
		done.Reason, c.byeBy = domain.ReasonRemoteHangup, byRemote
	}
	c.over(ctx, done, c.byeBy)
}

// mediaRefused notes in the call's record why the peer's SDP was refused.
func (c *call) mediaRefused(err error) {
	if leg.IsMediaRefusal(err) {
		c.call.MediaIssue = "The SDP was refused: " + err.Error() + "."
	}
}
