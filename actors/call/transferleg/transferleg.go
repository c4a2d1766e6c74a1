// Package transferleg contains the actor of a transfer leg. The actor calls the target of a transfer for a live call. When
// the actor stops, its permit and its trunk slot are released.
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
	byeTimeout  = 40 * time.Second // longer than Timer F of RFC 3261
)

// Request describes the transfer leg that the actor calls.
type Request struct {
	CallID      string
	Key         string // ID under which the leg holds its permit and its trunk slots
	Target      Target
	From        string // the workspace's number
	FromTrunkID string // trunk over which the call to From came in; "": none
	Caller      string // number of the transferred person; "": must not be shown
	Diverted    bool   // the transferred person is the caller: a trunk with a Diversion header shows the number
	Identity    string // Identity header of the caller's call
	Environment domain.Environment
	Replaces    *message.DialogID
	Session     leg.Session // media session of the transferred person
	SameSession bool        // the leg uses Session instead of a session of its own
	RingTimeout time.Duration
}

// Config configures a transfer leg.
type Config struct {
	Workspace     string
	UserAgent     leg.UserAgent
	Media         leg.Media
	Lines         *actor.PID   // grants the permit
	Trunks        *actor.PID   // nil: only phones can be called
	IsListed      leg.IsListed // nil: no do-not-call lists
	BeforeMessage func(actor, callID string, msg any)
	Log           *slog.Logger
}

// transferLeg is the actor of one transfer leg.
type transferLeg struct {
	Request
	cfg          Config
	resources    *leg.Resources
	slot         trunk.Slot
	tried        []string
	leg          int // number of the leg whose INVITE is pending; 0: none
	invites      int // number of INVITEs sent
	answered     bool
	answeredAt   time.Time     // of the answer
	earlyAnswer  *sip.Answered // an answer that arrived before its dialog was known
	previewed    string        // remote tag of the early dialog whose media the session accepted
	ended        bool
	hangUpReason string // reason of HangUpLeg or of a refused answer; "": none
	mediaErr     error  // why the SDP of the answer was refused
	stopClock    func() // cancels the timer of the maximum duration
}

// New returns the actor of a transfer leg. If the actor fails, the call releases the given resources.
func New(cfg Config, o Request, resources *leg.Resources) actor.Actor {
	return &transferLeg{Request: o, cfg: cfg, resources: resources}
}

// Receive dispatches the messages of the actor.
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
		l.endLeg(ctx, string(m.Code), sip.Ended{})
	case lines.LeaseExpired:
		l.endLeg(ctx, "no_line", sip.Ended{})
	case lines.PermitBound:
		l.onPermitBound(ctx)
	case trunk.Slot:
		l.onSlotGranted(ctx, m)
	case trunk.SlotDenied:
		l.endLeg(ctx, m.Reason, sip.Ended{})
	case DialLeg:
		l.dial(ctx, m.Leg)
	case inviteSent:
		l.onInviteSent(ctx, m)
	case dialogEvent:
		l.handleDialogEvent(ctx, m)
	case mediaEvent:
		if m.leg == l.leg && l.answered && !l.ended {
			ctx.Request(ctx.Parent(), MediaEvent{m.event})
		}
	case HangUpLeg:
		l.handleHangUp(ctx, m.Reason)
	case maxDurationReached:
		l.handleHangUp(ctx, string(domain.ReasonMaxDuration))
	case trunk.SpendCapReached:
		l.handleHangUp(ctx, string(domain.ReasonSpendCap))
	case byeTimedOut:
		l.endLeg(ctx, l.hangUpReason, sip.Ended{})
	case mailbox.TaskPanicked:
		panic(m)
	}
}

func (l *transferLeg) onPermitBound(ctx actor.Context) {
	if l.hangUpReason != "" {
		l.endLeg(ctx, l.hangUpReason, sip.Ended{})
		return
	}
	if p := l.Target.Phone; p != nil {
		l.slot = trunk.Slot{CallID: l.Key, Target: p.Contacts[0].Target, Phone: &p.Media}
		ctx.Request(ctx.Parent(), LegPrepared{l.slot})
		return
	}
	if l.cfg.Trunks == nil {
		l.endLeg(ctx, trunk.ReasonNoTrunk, sip.Ended{})
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

func (l *transferLeg) onSlotGranted(ctx actor.Context, m trunk.Slot) {
	if l.hangUpReason != "" || m.Generation != l.invites {
		ctx.Send(l.cfg.Trunks, trunk.ReturnSlot{CallID: m.CallID, Key: m.Key})
		if l.hangUpReason != "" {
			l.endLeg(ctx, l.hangUpReason, sip.Ended{})
		}
		return
	}
	l.slot = m
	l.tried = append(slices.Clip(l.tried), m.Key)
	ctx.Request(ctx.Parent(), LegPrepared{m})
}

// dial opens the media session and sends the INVITE of a committed leg.
func (l *transferLeg) dial(ctx actor.Context, number int) {
	if l.hangUpReason != "" || l.ended {
		l.endLeg(ctx, l.hangUpReason, sip.Ended{})
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
	o.Address, o.SignallingAddress = leg.MediaAddresses(l.cfg.UserAgent, l.slot, in.Contacts)
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

// callerID returns the caller ID for the INVITE. It is the caller's number if the trunk accepts a Diversion header with
// the workspace's number. Otherwise it is the workspace's number.
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

// offer makes the SDP offer. opened is the media session that it opens, or nil if the offer is that of the caller's
// session.
func offer(m leg.Media, order *Request, o media.Options) (opened leg.Session, body []byte, err error) {
	if order.SameSession {
		order.Session.Rekey() // each peer gets its own SRTP key
		return nil, order.Session.Offer(), nil
	}
	if opened, err = m.Open(o); err != nil {
		return nil, nil, err
	}
	return opened, opened.Offer(), nil
}

func (l *transferLeg) onInviteSent(ctx actor.Context, m inviteSent) {
	switch {
	case m.leg != l.leg || l.ended:
	case m.err != nil && l.hangUpReason != "":
		l.endLeg(ctx, l.hangUpReason, sip.Ended{})
	case m.err != nil:
		l.cfg.Log.Warn("transfer leg could not be placed", slog.Any("error", m.err))
		l.endLeg(ctx, leg.FailureReason(m.err), sip.Ended{})
	case l.hangUpReason != "":
		l.sendBye()
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
		l.endLeg(ctx, l.hangUpReason, e)
	case sip.Accepted, sip.Reoffer, sip.InfoDigit, sip.Referred, sip.Replaced:
		ctx.Request(ctx.Parent(), DialogEvent{e})
	}
}

// handleEarly accepts the SDP of a provisional response for early media. The SDP of the final answer replaces it. If the
// leg uses the caller's media session, it does not play early media.
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
	l.answered, l.answeredAt, l.earlyAnswer = true, time.Now(), nil
	if most := l.slot.MaxDuration; most > 0 {
		l.stopClock = mailbox.SendAfter(ctx, most, maxDurationReached{})
	}
	if l.cfg.Trunks != nil && l.slot.Key != "" {
		ctx.Send(l.cfg.Trunks, trunk.LegResult{CallID: l.Key, Key: l.slot.Key, TrunkID: l.slot.Trunk().ID, Answered: true, TransferLeg: true})
	}
	s := l.Session
	if !l.SameSession {
		s = l.resources.Session()
	}
	err := leg.ErrNoSession
	if s != nil && l.hangUpReason == "" {
		err = leg.AcceptAnswer(s, e, l.previewed)
	}
	if err != nil {
		if l.hangUpReason == "" {
			l.cfg.Log.Warn("SDP answer refused", slog.Any("error", err))
			l.hangUpReason, l.mediaErr = string(domain.ReasonMediaRefused), err
		}
		l.sendBye()
		return
	}
	ctx.Request(ctx.Parent(), LegAnswered{e.State, e.PDD})
}

// handleRefusal calls the next trunk target if the response code of the refusal allows it. Otherwise it ends the leg.
func (l *transferLeg) handleRefusal(ctx actor.Context, f outcome.Final) {
	v := outcome.Classify(f)
	if l.cfg.Trunks != nil && l.slot.Key != "" {
		ctx.Send(l.cfg.Trunks, trunk.LegResult{CallID: l.Key, Key: l.slot.Key, TrunkID: l.slot.Trunk().ID, Final: f, Verdict: v, TransferLeg: true})
	}
	l.resources.Close()
	l.leg = 0
	ctx.Request(ctx.Parent(), LegRefused{f, v})
	if l.hangUpReason == "" && v.NextLeg == domain.NextLegOtherTarget && l.Target.Phone == nil && l.invites < maxLegs {
		l.requestSlot(ctx)
		return
	}
	why := l.hangUpReason
	if why == "" {
		why = string(v.Reason)
	}
	l.endLeg(ctx, why, sip.Ended{})
}

// handleHangUp ends the leg. Before the INVITE the leg ends at once, later when the SIP dialog has ended.
func (l *transferLeg) handleHangUp(ctx actor.Context, why string) {
	if l.ended || l.hangUpReason != "" {
		return
	}
	l.hangUpReason = why
	if l.leg == 0 {
		l.endLeg(ctx, why, sip.Ended{})
		return
	}
	l.sendBye()
	mailbox.SendAfter(ctx, byeTimeout, byeTimedOut{})
}

func (l *transferLeg) sendBye() {
	if d := l.resources.Dialog(); d != nil {
		d.Bye(16, l.hangUpReason)
	} else {
		l.resources.CancelInvite()
	}
}

func (l *transferLeg) endLeg(ctx actor.Context, why string, e sip.Ended) {
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

// reportDuration reports the duration of the answered leg to its trunk.
func (l *transferLeg) reportDuration(ctx actor.Context) {
	if l.cfg.Trunks != nil && l.answered && l.slot.Key != "" {
		ctx.Send(l.cfg.Trunks, trunk.CallEnded{CallID: l.Key, TrunkID: l.slot.Trunk().ID, Talked: time.Since(l.answeredAt), TransferLeg: true})
	}
}
