package call

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
)

// What a call tells its second leg.
type (
	// dialNow: the leg is durable under this number.
	dialNow struct{ leg int }
	// giveUp ends whatever the leg is doing; asideOver follows.
	giveUp struct{ why string }
)

// What a second leg tells its call.
type (
	// asideOpen asks for a leg to be made durable; dialNow answers.
	asideOpen struct{ slot trunk.Slot }
	// asideRings says that the leg rings; early: its sound can be heard already.
	asideRings struct {
		code  int
		state sip.DialogState
		early bool
	}
	// asideUp says that somebody has answered; the ACK waits.
	asideUp struct {
		state sip.DialogState
		pdd   time.Duration
	}
	// asideRefused says that a leg is over unanswered; another may follow.
	asideRefused struct {
		final   sip.Final
		verdict domain.Verdict
	}
	// asideOver says that nothing of the second leg is left; why is "" where
	// somebody had answered and hung up.
	asideOver struct {
		why     string
		state   sip.Ended
		refusal error // why the SDP of its answer was refused
	}
	// asideHeard is an event of its sound, asideSignal one of its dialog that
	// only concerns an answered call.
	asideHeard  struct{ event media.Event }
	asideSignal struct{ event sip.Event }
)

// What a second leg tells itself.
type (
	asidePlaced struct {
		leg int
		err error
	}
	asideLate  struct{ leg int }
	asideMaxed struct{}
)

// Control: all of these are bound by the call.
func (dialNow) Control()      {}
func (giveUp) Control()       {}
func (asideOpen) Control()    {}
func (asideRings) Control()   {}
func (asideUp) Control()      {}
func (asideRefused) Control() {}
func (asideOver) Control()    {}
func (asideHeard) Control()   {}
func (asideSignal) Control()  {}
func (asidePlaced) Control()  {}
func (asideLate) Control()    {}
func (asideMaxed) Control()   {}

// errand is what a second leg is to do.
type errand struct {
	callID      string
	key         string // of its slots
	way         Way
	from        string // ours
	fromTrunk   string // the trunk over which a call to from came in; "": none did
	caller      string // who is handed on, "" where nobody may see that
	diverted    bool   // he called us: a trunk that knows Diversion shows him
	identity    string // his own signature
	environment domain.Environment
	replaces    *message.DialogID
	beside      Session // the caller's
	shared      bool    // the far end is to be heard by the caller's, and not by one of its own
	ringTimeout time.Duration
}

// aside is the actor of a second leg: it calls somebody for a call that is
// under way. Its death frees the line and the channel that it holds.
type aside struct {
	errand
	cfg     *Config
	log     *slog.Logger
	vessel  *vessel
	slot    trunk.Slot
	tried   []string
	leg     int // number of the leg that is out; 0: none
	legs    int // dialled so far
	up      bool
	upSince time.Time
	told    *sip.Answered // came before its dialog was there
	// previewed is the far end's tag of the early dialog whose sound is heard.
	previewed string
	ended     bool
	ending    string // why it was given up
	refusal   error  // why the answer's SDP was refused
	stop      func() // the clock of the longest talk
}

func newAside(cfg *Config, log *slog.Logger, e errand, v *vessel) actor.Actor {
	return &aside{errand: e, cfg: cfg, log: log, vessel: v}
}

// Receive is the table of contents.
func (a *aside) Receive(ctx actor.Context) {
	if a.cfg.Before != nil {
		a.cfg.Before("aside", a.callID, ctx.Message())
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		ctx.Request(linesOf(a.cfg, false, a.environment), lines.Try{})
	case lines.Permit:
		ctx.Request(linesOf(a.cfg, false, a.environment), lines.Bind{Permit: m, CallID: a.key, Call: ctx.Self()})
	case *domain.Error:
		a.over(ctx, string(m.Code), sip.Ended{})
	case lines.Late:
		a.over(ctx, "no_line", sip.Ended{})
	case lines.Bound:
		a.bound(ctx)
	case trunk.Slot:
		a.slotted(ctx, m)
	case trunk.NoSlot:
		a.over(ctx, m.Reason, sip.Ended{})
	case dialNow:
		a.dial(ctx, m.leg)
	case asidePlaced:
		a.placed(ctx, m)
	case signal:
		a.signal(ctx, m)
	case heard:
		if m.leg == a.leg && a.up && !a.ended {
			ctx.Request(ctx.Parent(), asideHeard{m.event})
		}
	case giveUp:
		a.giveUp(ctx, m.why)
	case asideMaxed:
		a.giveUp(ctx, string(domain.ReasonMaxDuration))
	case trunk.SpendCapReached:
		a.giveUp(ctx, string(domain.ReasonSpendCap))
	case asideLate:
		a.over(ctx, a.ending, sip.Ended{})
	case mailbox.Crashed:
		panic(m)
	}
}

func (a *aside) bound(ctx actor.Context) {
	if a.ending != "" {
		a.over(ctx, a.ending, sip.Ended{})
		return
	}
	if p := a.way.Phone; p != nil {
		a.slot = trunk.Slot{CallID: a.key, Target: p.Contacts[0].Target, Phone: &p.Media}
		ctx.Request(ctx.Parent(), asideOpen{a.slot})
		return
	}
	if a.cfg.Trunks == nil {
		a.over(ctx, trunk.NoTrunk, sip.Ended{})
		return
	}
	ctx.Send(a.cfg.Trunks, trunk.Bind{CallID: a.key, Call: ctx.Self()})
	a.want(ctx)
}

func (a *aside) want(ctx actor.Context) {
	ctx.Request(a.cfg.Trunks, trunk.Want{
		To: a.way.To, From: a.from, AnyCallerID: true, FromTrunkID: a.fromTrunk, Environment: a.environment, Tried: a.tried, CallID: a.key, Generation: a.legs,
	})
}

func (a *aside) slotted(ctx actor.Context, m trunk.Slot) {
	if a.ending != "" || m.Generation != a.legs {
		ctx.Send(a.cfg.Trunks, trunk.Return{CallID: m.CallID, Key: m.Key})
		if a.ending != "" {
			a.over(ctx, a.ending, sip.Ended{})
		}
		return
	}
	a.slot = m
	a.tried = append(slices.Clip(a.tried), m.Key)
	ctx.Request(ctx.Parent(), asideOpen{m})
}

// dial opens the sound and sends the INVITE of a leg that is durable.
func (a *aside) dial(ctx actor.Context, leg int) {
	if a.ending != "" || a.ended {
		a.over(ctx, a.ending, sip.Ended{})
		return
	}
	a.leg, a.previewed = leg, ""
	a.legs++
	root, self := ctx.ActorSystem().Root, ctx.Self()
	in := sip.Invite{
		Attempt: a.callID, Leg: leg, Environment: a.environment, Target: a.slot.Target, To: a.way.To, From: a.from, RingTimeout: a.ringTimeout,
		Replaces: a.replaces, HoldAck: true, Reliable: true, Notify: func(e sip.Event) { root.Send(self, signal{leg, e}) },
	}
	o := media.Options{Notify: func(e media.Event) { root.Send(self, heard{leg, e}) }}
	var refused error
	if p := a.way.Phone; p != nil {
		in.To, in.Contacts = p.To, p.Contacts
		if a.caller != "" {
			in.From = a.caller
		}
		soundOf(&o, a.slot, hostsOf(p.Contacts))
	} else {
		refused = a.slot.Fill(&in, a.way.To, a.shown())
		soundOf(&o, a.slot, nil)
	}
	o.Address, o.Far = hostFor(a.cfg.Phone, a.slot, in.Contacts)
	sound, phone, v, beside, shared := a.cfg.Sound, a.cfg.Phone, a.vessel, a.beside, a.shared
	cfg, to, scrub := a.cfg, a.way, lists.ScrubAll(a.cfg.Workspace, a.environment)
	mailbox.Work(ctx, dialLimit, func(bound context.Context) any {
		if refused != nil {
			return asidePlaced{leg, refused}
		}
		if to.Phone == nil {
			if err := cfg.bars(bound, scrub, to.To); err != nil {
				return asidePlaced{leg, err}
			}
		}
		return placeAside(v, sound, phone, beside, shared, o, in)
	})
}

// shown is who a trunk is told to call: the caller only where the trunk takes
// the word of a Diversion that we hand him on, else we.
func (a *aside) shown() trunk.Caller {
	number := strings.HasPrefix(a.caller, "+") || a.caller == domain.Anonymous
	if a.diverted && number && slices.Contains(a.slot.Trunk().CallerIDHeaders, domain.HeaderDiversion) {
		return trunk.Caller{Number: a.caller, Diversion: a.slot.From, Identity: a.identity}
	}
	return trunk.Caller{Number: a.slot.From}
}

func placeAside(v *vessel, sound Sound, phone Phone, beside Session, shared bool, o media.Options, in sip.Invite) (m asidePlaced) {
	m.leg = in.Leg
	defer func() {
		if r := recover(); r != nil {
			m.err = fmt.Errorf("call: dialling aside panicked: %v", r)
		}
	}()
	opened, body, err := describedFor(sound, beside, shared, o)
	if err != nil {
		return asidePlaced{in.Leg, err}
	}
	if !v.board(in.Leg, opened) {
		if opened != nil {
			opened.Close()
		}
		return asidePlaced{in.Leg, media.ErrClosed}
	}
	in.Body = body
	d, err := phone.Invite(in)
	if err != nil {
		return asidePlaced{in.Leg, err}
	}
	v.dialled(in.Leg, d)
	return asidePlaced{leg: in.Leg}
}

func (a *aside) placed(ctx actor.Context, m asidePlaced) {
	switch {
	case m.leg != a.leg || a.ended:
	case m.err != nil && a.ending != "":
		a.over(ctx, a.ending, sip.Ended{})
	case m.err != nil:
		a.log.Warn("a transfer's leg could not be placed", slogErr(m.err))
		a.over(ctx, whyNot(m.err), sip.Ended{})
	case a.ending != "":
		a.hangUp()
	case a.told != nil:
		a.answered(ctx, *a.told)
	}
}

func (a *aside) signal(ctx actor.Context, m signal) {
	if m.leg != a.leg || a.ended {
		if r, ok := m.event.(sip.Reoffer); ok {
			r.Reply(481, nil)
		}
		return
	}
	switch e := m.event.(type) {
	case sip.Trying:
	case sip.Ringing:
		ctx.Request(ctx.Parent(), asideRings{code: e.Code, state: e.State})
	case sip.Early:
		a.early(ctx, e)
	case sip.Answered:
		a.answered(ctx, e)
	case sip.Refused:
		a.refused(ctx, e.Final)
	case sip.Ended:
		a.over(ctx, a.ending, e)
	case sip.Accepted, sip.Reoffer, sip.InfoDigit, sip.Referred, sip.Replaced:
		ctx.Request(ctx.Parent(), asideSignal{e})
	}
}

// early takes sound before the answer, which decides. Where the far end is to
// be heard by the sound of another one, that one is heard until the answer.
func (a *aside) early(ctx actor.Context, e sip.Early) {
	m := asideRings{code: e.Code, state: e.State}
	if s := a.vessel.sound(); s != nil && !a.shared && s.Accept(e.Body) == nil {
		m.early, a.previewed = true, e.State.RemoteTag
	}
	ctx.Request(ctx.Parent(), m)
}

func (a *aside) answered(ctx actor.Context, e sip.Answered) {
	if a.vessel.line() == nil {
		a.told = &e
		return
	}
	a.up, a.upSince, a.told = true, time.Now(), nil
	if most := a.slot.MaxDuration; most > 0 {
		a.stop = mailbox.After(ctx, most, asideMaxed{})
	}
	if a.cfg.Trunks != nil && a.slot.Key != "" {
		ctx.Send(a.cfg.Trunks, trunk.Result{CallID: a.key, Key: a.slot.Key, TrunkID: a.slot.Trunk().ID, Answered: true, Second: true})
	}
	s := a.beside
	if !a.shared {
		s = a.vessel.sound()
	}
	err := errNoSession
	if s != nil && a.ending == "" {
		err = settle(s, e, a.previewed)
	}
	if err != nil {
		if a.ending == "" {
			a.log.Warn("the answer's SDP was refused", slogErr(err))
			a.ending, a.refusal = string(domain.ReasonMedia), err
		}
		a.hangUp()
		return
	}
	ctx.Request(ctx.Parent(), asideUp{e.State, e.PDD})
}

// refused: another target is tried where the table of final answers allows it.
func (a *aside) refused(ctx actor.Context, f sip.Final) {
	v := sip.Classify(f)
	if a.cfg.Trunks != nil && a.slot.Key != "" {
		ctx.Send(a.cfg.Trunks, trunk.Result{CallID: a.key, Key: a.slot.Key, TrunkID: a.slot.Trunk().ID, Final: f, Verdict: v, Second: true})
	}
	a.vessel.unload()
	a.leg = 0
	ctx.Request(ctx.Parent(), asideRefused{f, v})
	if a.ending == "" && v.NextLeg == domain.NextLegOtherTarget && a.way.Phone == nil && a.legs < maxLegs {
		a.want(ctx)
		return
	}
	why := a.ending
	if why == "" {
		why = string(v.Reason)
	}
	a.over(ctx, why, sip.Ended{})
}

// giveUp ends the leg. Before its INVITE that is at once, afterwards when SIP
// says that nothing can ring any more.
func (a *aside) giveUp(ctx actor.Context, why string) {
	if a.ended || a.ending != "" {
		return
	}
	a.ending = why
	if a.leg == 0 {
		a.over(ctx, why, sip.Ended{})
		return
	}
	a.hangUp()
	mailbox.After(ctx, byeLimit, asideLate{a.leg})
}

func (a *aside) hangUp() {
	if d := a.vessel.line(); d != nil {
		d.Bye(16, a.ending)
	} else {
		a.vessel.hang()
	}
}

func (a *aside) over(ctx actor.Context, why string, e sip.Ended) {
	if a.ended {
		return
	}
	a.ended = true
	if a.stop != nil {
		a.stop()
	}
	a.talked(ctx)
	ctx.Request(ctx.Parent(), asideOver{why, e, a.refusal})
}

// hostFor is our address for the sound of a far end, as its signalling sees it,
// and the address of that: its next hop, where that is no name.
func hostFor(phone Phone, slot trunk.Slot, contacts []registrar.Contact) (ours, far netip.Addr) {
	next := slot.Target
	if p := slot.Trunk().OutboundProxy; p != nil {
		next = resolve.Target{Host: p.Host, Port: p.Port, Transport: p.Transport}
	}
	if len(contacts) > 0 {
		next = contacts[0].Target
	}
	ip, err := netip.ParseAddr(strings.Trim(next.Host, "[]"))
	if err != nil {
		return ours, far
	}
	far = ip.Unmap()
	return phone.Host(next.Transport, netip.AddrPortFrom(far, uint16(next.Port&0xFFFF))), far
}

// soundOf gives a session what its trunk wants.
func soundOf(o *media.Options, slot trunk.Slot, more []string) {
	t := slot.Trunk()
	o.Codecs, o.Networks = codecsOf(t.Codecs), networksOf(slot, more)
	o.KeysInClear, o.Confidential = t.KeysInClear, slot.Target.Transport == "tls"
	if t.OutboundProxy != nil {
		o.Confidential = t.OutboundProxy.Transport == "tls"
	}
	switch t.SRTP {
	case "optional":
		o.SRTP = media.SRTPOptional
	case "required":
		o.SRTP = media.SRTPRequired
	}
	switch t.NAT {
	case domain.NATOn:
		o.NAT = media.NATOn
	case domain.NATOff:
		o.NAT = media.NATOff
	}
	switch t.DTMF {
	case "rfc4733":
		o.DTMF = media.DTMFRFC4733
	case "info":
		o.DTMF = media.DTMFInfo
	case "inband":
		o.DTMF = media.DTMFInband
	}
}
