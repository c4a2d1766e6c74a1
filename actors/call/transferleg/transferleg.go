// Package transferleg is the actor that calls the target of a transfer for a call
// that is under way. Its death frees its permit and its trunk slot.
package transferleg

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

const (
	maxLegs     = 5
	dialTimeout = 15 * time.Second
	byeTimeout  = 40 * time.Second // longer than Timer F
)

// Request is what a transfer leg does.
type Request struct {
	CallID      string
	Key         string // of its permit and its slots
	Target      Target
	From        string // our number
	FromTrunkID string // the trunk over which a call to From came in; "": none
	Caller      string // number of the person who is transferred; "": it must not be shown
	Diverted    bool   // that person called us: a trunk with a Diversion header shows the number
	Identity    string // Identity header of that person's call
	Environment domain.Environment
	Replaces    *message.DialogID
	Session     leg.Session // of the caller
	SameSession bool        // the peer uses the session of the caller, not one of its own
	RingTimeout time.Duration
}

// Config is what a transfer leg needs.
type Config struct {
	Workspace     string
	UserAgent     leg.UserAgent
	Media         leg.Media
	Lines         *actor.PID   // grants its permit
	Trunks        *actor.PID   // nil: only phones can be reached
	IsListed      leg.IsListed // nil: no do-not-call lists
	BeforeMessage func(actor, callID string, msg any)
	Log           *slog.Logger
}

// transferLeg is the actor.
type transferLeg struct {
	Request
	cfg         Config
	resources   *leg.Resources
	slot        trunk.Slot
	tried       []string
	leg         int // number of the leg whose INVITE is out; 0: none
	invites     int // sent so far
	answered    bool
	since       time.Time     // of the answer
	earlyAnswer *sip.Answered // an answer that came before its dialog was known
	previewed   string        // remote tag of the early dialog whose media is heard
	ended       bool
	givenUp     string // reason; "": it was not given up
	mediaErr    error  // why the SDP of the answer was refused
	stopClock   func() // of the longest duration
}

// New makes the actor. resources are released by the call if the actor dies.
func New(cfg Config, o Request, resources *leg.Resources) actor.Actor {
	return &transferLeg{Request: o, cfg: cfg, resources: resources}
}

// Receive is the table of contents.
func (l *transferLeg) Receive(ctx actor.Context) {
	if l.cfg.BeforeMessage != nil {
		l.cfg.BeforeMessage("transferleg", l.CallID, ctx.Message())
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		ctx.Request(l.cfg.Lines, lines.TryPermit{})
	case lines.Permit:
		ctx.Request(l.cfg.Lines, lines.BindPermit{Permit: m, CallID: l.Key, Call: ctx.Self()})
	case *domain.Error:
		l.over(ctx, string(m.Code), sip.Ended{})
	case lines.LeaseExpired:
		l.over(ctx, "no_line", sip.Ended{})
	case lines.PermitBound:
		l.permitBound(ctx)
	case trunk.Slot:
		l.slotGranted(ctx, m)
	case trunk.SlotDenied:
		l.over(ctx, m.Reason, sip.Ended{})
	case DialLeg:
		l.dial(ctx, m.Leg)
	case inviteSent:
		l.inviteSent(ctx, m)
	case dialogEvent:
		l.handleDialogEvent(ctx, m)
	case mediaEvent:
		if m.leg == l.leg && l.answered && !l.ended {
			ctx.Request(ctx.Parent(), MediaEvent{m.event})
		}
	case HangUpLeg:
		l.giveUp(ctx, m.Reason)
	case maxReached:
		l.giveUp(ctx, string(domain.ReasonMaxDuration))
	case trunk.SpendCapReached:
		l.giveUp(ctx, string(domain.ReasonSpendCap))
	case byeTimedOut:
		l.over(ctx, l.givenUp, sip.Ended{})
	case mailbox.TaskPanicked:
		panic(m)
	}
}

func (l *transferLeg) permitBound(ctx actor.Context) {
	if l.givenUp != "" {
		l.over(ctx, l.givenUp, sip.Ended{})
		return
	}
	if p := l.Target.Phone; p != nil {
		l.slot = trunk.Slot{CallID: l.Key, Target: p.Contacts[0].Target, Phone: &p.Media}
		ctx.Request(ctx.Parent(), LegPrepared{l.slot})
		return
	}
	if l.cfg.Trunks == nil {
		l.over(ctx, trunk.ReasonNoTrunk, sip.Ended{})
		return
	}
	ctx.Send(l.cfg.Trunks, trunk.BindCall{CallID: l.Key, Call: ctx.Self()})
	l.requestSlot(ctx)
}

func (l *transferLeg) requestSlot(ctx actor.Context) {
	ctx.Request(l.cfg.Trunks, trunk.RequestSlot{
		To: l.Target.To, From: l.From, AnyCallerID: true, FromTrunkID: l.FromTrunkID, Environment: l.Environment, Tried: l.tried, CallID: l.Key, Generation: l.invites,
	})
}

func (l *transferLeg) slotGranted(ctx actor.Context, m trunk.Slot) {
	if l.givenUp != "" || m.Generation != l.invites {
		ctx.Send(l.cfg.Trunks, trunk.ReturnSlot{CallID: m.CallID, Key: m.Key})
		if l.givenUp != "" {
			l.over(ctx, l.givenUp, sip.Ended{})
		}
		return
	}
	l.slot = m
	l.tried = append(slices.Clip(l.tried), m.Key)
	ctx.Request(ctx.Parent(), LegPrepared{m})
}

// dial opens the media session and sends the INVITE of a durable leg.
func (l *transferLeg) dial(ctx actor.Context, number int) {
	if l.givenUp != "" || l.ended {
		l.over(ctx, l.givenUp, sip.Ended{})
		return
	}
	l.leg, l.previewed = number, ""
	l.invites++
	root, self := ctx.ActorSystem().Root, ctx.Self()
	in := sip.Invite{
		Attempt: l.CallID, Leg: number, Environment: l.Environment, Target: l.slot.Target, To: l.Target.To, From: l.From, RingTimeout: l.RingTimeout,
		Replaces: l.Replaces, HoldAck: true, Reliable: true, Notify: func(e sip.Event) { root.Send(self, dialogEvent{number, e}) },
	}
	o := media.Options{Notify: func(e media.Event) { root.Send(self, mediaEvent{number, e}) }}
	var refused error
	if p := l.Target.Phone; p != nil {
		in.To, in.Contacts = p.To, p.Contacts
		if l.Caller != "" {
			in.From = l.Caller
		}
		leg.SetTrunkOptions(&o, l.slot, leg.ContactHosts(p.Contacts))
	} else {
		refused = l.slot.FillInvite(&in, l.Target.To, l.callerID())
		leg.SetTrunkOptions(&o, l.slot, nil)
	}
	o.Address, o.Far = leg.MediaAddresses(l.cfg.UserAgent, l.slot, in.Contacts)
	cfg, order, resources := l.cfg, l.Request, l.resources
	mailbox.RunTask(ctx, dialTimeout, func(bound context.Context) any {
		if refused != nil {
			return inviteSent{number, refused}
		}
		if order.Target.Phone == nil {
			if err := leg.CheckDoNotCall(bound, cfg.IsListed, dnc.DefaultScrub(cfg.Workspace, order.Environment), order.Target.To); err != nil {
				return inviteSent{number, err}
			}
		}
		return sendInvite(&cfg, &order, resources, o, in)
	})
}

// callerID is the caller ID on the trunk: the caller's number if the trunk accepts a
// Diversion header with ours, else our number.
func (l *transferLeg) callerID() trunk.Caller {
	number := strings.HasPrefix(l.Caller, "+") || l.Caller == domain.Anonymous
	if l.Diverted && number && slices.Contains(l.slot.Trunk().CallerIDHeaders, domain.HeaderDiversion) {
		return trunk.Caller{Number: l.Caller, Diversion: l.slot.From, Identity: l.Identity}
	}
	return trunk.Caller{Number: l.slot.From}
}

func sendInvite(cfg *Config, order *Request, resources *leg.Resources, o media.Options, in sip.Invite) (m inviteSent) {
	m.leg = in.Leg
	defer func() {
		if r := recover(); r != nil {
			m.err = fmt.Errorf("call: calling the transfer target panicked: %v", r)
		}
	}()
	opened, body, err := offer(cfg.Media, order, o)
	if err != nil {
		return inviteSent{in.Leg, err}
	}
	if !resources.SetSession(in.Leg, opened) {
		if opened != nil {
			opened.Close()
		}
		return inviteSent{in.Leg, media.ErrClosed}
	}
	in.Body = body
	d, err := cfg.UserAgent.Invite(in)
	if err != nil {
		return inviteSent{in.Leg, err}
	}
	resources.SetDialog(in.Leg, d)
	return inviteSent{leg: in.Leg}
}

// offer makes the SDP offer: of a session of its own, or of the caller's session.
// Then opened is nil.
func offer(m leg.Media, order *Request, o media.Options) (opened leg.Session, body []byte, err error) {
	if order.SameSession {
		order.Session.Rekey() // another peer gets another key
		return nil, order.Session.Offer(), nil
	}
	if opened, err = m.Open(o); err != nil {
		return nil, nil, err
	}
	return opened, opened.Offer(), nil
}

func (l *transferLeg) inviteSent(ctx actor.Context, m inviteSent) {
	switch {
	case m.leg != l.leg || l.ended:
	case m.err != nil && l.givenUp != "":
		l.over(ctx, l.givenUp, sip.Ended{})
	case m.err != nil:
		l.cfg.Log.Warn("a transfer's leg could not be placed", slog.Any("error", m.err))
		l.over(ctx, leg.FailureReason(m.err), sip.Ended{})
	case l.givenUp != "":
		l.hangUp()
	case l.earlyAnswer != nil:
		l.handleAnswer(ctx, *l.earlyAnswer)
	}
}

func (l *transferLeg) handleDialogEvent(ctx actor.Context, m dialogEvent) {
	if m.leg != l.leg || l.ended {
		if r, ok := m.event.(sip.Reoffer); ok {
			r.Reply(481, nil)
		}
		return
	}
	switch e := m.event.(type) {
	case sip.Trying:
	case sip.Ringing:
		ctx.Request(ctx.Parent(), LegRinging{Code: e.Code, State: e.State})
	case sip.Early:
		l.handleEarly(ctx, e)
	case sip.Answered:
		l.handleAnswer(ctx, e)
	case sip.Refused:
		l.handleRefusal(ctx, e.Final)
	case sip.Ended:
		l.over(ctx, l.givenUp, e)
	case sip.Accepted, sip.Reoffer, sip.InfoDigit, sip.Referred, sip.Replaced:
		ctx.Request(ctx.Parent(), DialogEvent{e})
	}
}

// handleEarly accepts early media; the answer decides. With the session of the caller,
// the peer before the answer is not heard.
func (l *transferLeg) handleEarly(ctx actor.Context, e sip.Early) {
	m := LegRinging{Code: e.Code, State: e.State}
	if s := l.resources.Session(); s != nil && !l.SameSession && s.Accept(e.Body) == nil {
		m.Early, l.previewed = true, e.State.RemoteTag
	}
	ctx.Request(ctx.Parent(), m)
}

func (l *transferLeg) handleAnswer(ctx actor.Context, e sip.Answered) {
	if l.resources.Dialog() == nil {
		l.earlyAnswer = &e
		return
	}
	l.answered, l.since, l.earlyAnswer = true, time.Now(), nil
	if most := l.slot.MaxDuration; most > 0 {
		l.stopClock = mailbox.SendAfter(ctx, most, maxReached{})
	}
	if l.cfg.Trunks != nil && l.slot.Key != "" {
		ctx.Send(l.cfg.Trunks, trunk.LegResult{CallID: l.Key, Key: l.slot.Key, TrunkID: l.slot.Trunk().ID, Answered: true, TransferLeg: true})
	}
	s := l.Session
	if !l.SameSession {
		s = l.resources.Session()
	}
	err := leg.ErrNoSession
	if s != nil && l.givenUp == "" {
		err = leg.AcceptAnswer(s, e, l.previewed)
	}
	if err != nil {
		if l.givenUp == "" {
			l.cfg.Log.Warn("the answer's SDP was refused", slog.Any("error", err))
			l.givenUp, l.mediaErr = string(domain.ReasonMediaRefused), err
		}
		l.hangUp()
		return
	}
	ctx.Request(ctx.Parent(), LegAnswered{e.State, e.PDD})
}

// handleRefusal tries another target if the table of final answers allows it.
func (l *transferLeg) handleRefusal(ctx actor.Context, f outcome.Final) {
	v := outcome.Classify(f)
	if l.cfg.Trunks != nil && l.slot.Key != "" {
		ctx.Send(l.cfg.Trunks, trunk.LegResult{CallID: l.Key, Key: l.slot.Key, TrunkID: l.slot.Trunk().ID, Final: f, Verdict: v, TransferLeg: true})
	}
	l.resources.Close()
	l.leg = 0
	ctx.Request(ctx.Parent(), LegRefused{f, v})
	if l.givenUp == "" && v.NextLeg == domain.NextLegOtherTarget && l.Target.Phone == nil && l.invites < maxLegs {
		l.requestSlot(ctx)
		return
	}
	why := l.givenUp
	if why == "" {
		why = string(v.Reason)
	}
	l.over(ctx, why, sip.Ended{})
}

// giveUp ends the leg. Before its INVITE that is at once, afterwards when SIP
// says that nothing can ring any more.
func (l *transferLeg) giveUp(ctx actor.Context, why string) {
	if l.ended || l.givenUp != "" {
		return
	}
	l.givenUp = why
	if l.leg == 0 {
		l.over(ctx, why, sip.Ended{})
		return
	}
	l.hangUp()
	mailbox.SendAfter(ctx, byeTimeout, byeTimedOut{})
}

func (l *transferLeg) hangUp() {
	if d := l.resources.Dialog(); d != nil {
		d.Bye(16, l.givenUp)
	} else {
		l.resources.CancelInvite()
	}
}

func (l *transferLeg) over(ctx actor.Context, why string, e sip.Ended) {
	if l.ended {
		return
	}
	l.ended = true
	if l.stopClock != nil {
		l.stopClock()
	}
	l.reportDuration(ctx)
	ctx.Request(ctx.Parent(), LegEnded{why, e, l.mediaErr})
}

// reportDuration reports to the trunk how long the answered leg was.
func (l *transferLeg) reportDuration(ctx actor.Context) {
	if l.cfg.Trunks != nil && l.answered && l.slot.Key != "" {
		ctx.Send(l.cfg.Trunks, trunk.CallEnded{CallID: l.Key, TrunkID: l.slot.Trunk().ID, Talked: time.Since(l.since), TransferLeg: true})
	}
}
