package call

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

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

// errNoSession says that the media session of a leg is gone.
var errNoSession = errors.New("call: no media session")

// options are those of the leg's sound.
func (c *call) options(ctx actor.Context) media.Options {
	root, self, leg := ctx.ActorSystem().Root, ctx.Self(), c.leg
	c.soundLeg, c.deaf = leg, false
	o := media.Options{Notify: func(e media.Event) { root.Send(self, heard{leg, e}) }}
	soundOf(&o, c.slot, c.networks)
	o.Codecs = c.codecs
	if c.survivor != nil {
		o.Confidential, o.Address, o.After = c.survivor.Confidential, c.addressFor(), &c.survivor.Sound
		if c.survivor.Sound.Secure { // it stays so, whatever became of the trunk
			o.SRTP = media.SRTPRequired
		}
	} else if c.in != nil {
		o.Confidential, o.Address, o.Far = c.in.Network == "tls", c.cfg.Phone.Host(c.in.Network, c.in.Source), c.in.Source.Addr()
	} else {
		o.Address, o.Far = hostFor(c.cfg.Phone, c.slot, c.contacts)
		o.Answerer = c.script.AMD.On()
	}
	c.keysHidden = o.Confidential
	if c.call.Record {
		o.RecordPath = recording.SpoolPath(c.cfg.SpoolDir, c.cfg.Workspace, c.call.ID)
	}
	return o
}

// networksOf are where a trunk's sound may go besides: its own proxies, the
// target and its media networks.
func networksOf(slot trunk.Slot, more []string) []netip.Prefix {
	var out []netip.Prefix
	t := slot.Trunk()
	for _, text := range slices.Concat(t.MediaNetworks, more, []string{strings.Trim(slot.Target.Host, "[]")}) {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p.Masked())
		} else if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
		}
	}
	for _, p := range t.Proxies {
		if a, err := netip.ParseAddr(strings.Trim(p.Host, "[]")); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
		}
	}
	return out
}

func codecsOf(names []string) []media.Codec {
	var out []media.Codec
	for _, n := range names {
		switch strings.ToUpper(n) {
		case "PCMU":
			out = append(out, media.PCMU)
		case "PCMA":
			out = append(out, media.PCMA)
		case "G722":
			out = append(out, media.G722)
		case "OPUS":
			out = append(out, media.Opus)
		}
	}
	if len(out) == 0 {
		return []media.Codec{media.PCMU, media.PCMA}
	}
	return out
}

// otherCodecs are the ones to offer to a target that liked none of these.
func otherCodecs(c []media.Codec) []media.Codec {
	if len(c) == 1 && c[0] == media.PCMU {
		return []media.Codec{media.PCMA}
	}
	if len(c) == 1 {
		return []media.Codec{media.PCMU, media.PCMA}
	}
	other := slices.Clone(c)
	slices.Reverse(other)
	return other
}

// dial opens the leg's sound and sends its INVITE, beside the actor.
func (c *call) dial(ctx actor.Context) {
	root, self, leg := ctx.ActorSystem().Root, ctx.Self(), c.leg
	in := sip.Invite{
		Attempt: c.call.ID, Leg: leg, Environment: c.call.Environment, Target: c.slot.Target, To: c.call.To, From: c.call.From,
		Contacts: c.contacts, FromName: c.callerName, RingTimeout: c.ringTimeout, HoldAck: true, Reliable: true,
		Notify: func(e sip.Event) { root.Send(self, signal{leg, e}) },
	}
	refused := c.slot.Fill(&in, c.call.To, trunk.Caller{Number: c.call.From, Name: c.callerName})
	c.detour.takes(&in)
	o, sound, phone, v, may := c.options(ctx), c.cfg.Sound, c.cfg.Phone, c.vessel, c.mayRingOn()
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
		return dial(v, sound, phone, o, in)
	})
}

// take opens the sound of a call that came in and describes it.
func (c *call) take(ctx actor.Context) {
	c.reached = true
	o, sound, v, offer := c.options(ctx), c.cfg.Sound, c.vessel, c.in.Body
	mailbox.Work(ctx, dialLimit, func(context.Context) any {
		return answer(v, sound, o, offer)
	})
}

// levelOf is how loud it is said that a leg could not be placed.
func levelOf(err error) slog.Level {
	switch {
	case errors.Is(err, sip.ErrHeld):
		return slog.LevelInfo // somebody wants it so
	case isMediaRefusal(err):
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
	if _, is := errors.AsType[*barred](m.err); is {
		c.notRungOn(ctx, m.err)
		return
	}
	if m.err != nil && c.in == nil && c.hangup {
		c.over(ctx, cancelled(), byAPI)
		return
	}
	if m.err != nil {
		c.log.Log(context.Background(), levelOf(m.err), "the call's leg was not set up", slogErr(m.err))
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
			c.refuseCaller(488, warning(m.err)...)
		}
		c.over(ctx, v, byService)
		return
	}
	if c.in != nil {
		c.letRing(ctx, m.answer)
		return
	}
	c.stage = dialling
	if d := c.vessel.line(); c.hangup && d != nil {
		d.Cancel("hangup")
	}
}

func (c *call) signal(ctx actor.Context, m signal) {
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
		if s := c.vessel.sound(); s != nil && s.Accept(e.Body) == nil { // a preview; the answer decides
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
		c.mediaRefused(reoffered(c.log, c.vessel.sound(), e))
	case sip.InfoDigit:
		if s := c.vessel.sound(); s != nil {
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
	if b, err := domain.AppendRow(make([]byte, 0, dialogRoom), &s); err == nil {
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
	s := c.vessel.sound()
	err := errNoSession
	if s != nil {
		err = settle(s, e, c.previewed)
	}
	if err != nil {
		c.log.Warn("the answer's SDP was refused", slogErr(err))
		c.mediaRefused(err)
		c.stage = talking
		c.bye(ctx, byService, domain.ReasonMedia)
		return
	}
	c.talk(ctx, e.State)
}

// accepted takes the answer that an ACK brought.
func (c *call) accepted(ctx actor.Context, e sip.Accepted) {
	err := errNoSession
	if s := c.vessel.sound(); s != nil {
		err = s.Accept(e.Body)
	}
	if err != nil {
		c.log.Warn("the answer's SDP was refused", slogErr(err))
		c.mediaRefused(err)
		c.bye(ctx, byService, domain.ReasonMedia)
	}
}

// settle takes the sound of an answer. Without a description it is that of the
// same dialog's 18x, which was the answer then (RFC 3261 13.2.1).
func settle(s Session, e sip.Answered, previewed string) error {
	if len(e.Body) == 0 && previewed != "" && previewed == e.State.RemoteTag {
		return nil
	}
	return s.Accept(e.Body)
}

// talk begins the sound and the conversation; storing that follows.
func (c *call) talk(ctx actor.Context, state sip.DialogState) {
	c.stage = talking
	c.answeredAt = time.Now()
	now := c.answeredAt.UTC()
	c.session = c.vessel.sound()
	c.session.Resume()
	c.session.Begin()
	c.converse(ctx, nil)
	c.stopClock = mailbox.After(ctx, c.maxDuration, maxed{})
	c.keepDialog(state)
	c.record().Codec = c.session.Stats().Codec
	c.call.Status, c.call.AnsweredAt = domain.CallInProgress, &now
	c.commit(ctx, event.CallAnswered, event.CallOf(&c.call), func(ctx actor.Context, _ bool) {
		if d := c.vessel.line(); d != nil {
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

// reoffered answers a new offer of a peer. An error is why it was refused.
func reoffered(log *slog.Logger, s Session, e sip.Reoffer) error {
	if s == nil {
		e.Reply(500, nil)
		return nil
	}
	if len(e.Body) == 0 {
		e.Reply(200, s.Offer())
		return nil
	}
	body, err := s.Answer(e.Body)
	if err != nil {
		log.Warn("a new offer was refused", slogErr(err))
		e.Reply(488, nil, warning(err)...)
		return err
	}
	e.Reply(200, body)
	return nil
}

func (c *call) heard(ctx actor.Context, m heard) {
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
			c.probe(ctx, c.session, c.vessel.line(), nil)
		}
		return
	case media.SendInfo:
		if d := c.vessel.line(); d != nil {
			d.Info(e.ContentType, e.Body)
		}
		return
	case media.Hold:
		c.farHeld(ctx, e)
		return
	case media.KeyWorn:
		rekey(c.log, c.session, c.vessel.line())
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
