package call

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
)

// Bounds of a transfer.
const (
	reachLimit   = 5 * time.Second
	summaryLimit = 20 * time.Second // a summary that is longer is cut
	dropLimit    = 5 * time.Second  // a call that is over waits so long for the end of its second leg
	maxClip      = 30 * time.Second
)

// Why the agent is silent.
const (
	awayTransfer = 1 << iota
	awayHeld
)

// byOwn is the id of what the call itself plays; the conversation counts from 1.
const byOwn = 1 << 62

type handover uint8

// The stages of a transfer.
const (
	storing   handover = iota // its beginning is being committed
	referring                 // a REFER is out
	calling                   // a second leg is being dialled
	briefing                  // whoever answered hears the summary
	bridged                   // both hear each other
	leaving                   // the second leg is being ended
)

// What a call tells itself of its transfers.
type (
	// reached answers Config.Reach.
	reached struct {
		generation int
		way        transferleg.Target
		err        error
		wish       wish
	}
	// referred is what came of our REFER.
	referred struct {
		generation int
		progress   sip.ReferProgress
	}
	// summed is the summary, spoken.
	summed struct {
		generation int
		clip       media.Clip
		err        error
	}
	// briefed ends a summary that takes too long.
	briefed struct{ generation int }
)

// Control: all of these are bound by the call.
func (reached) Control()  {}
func (referred) Control() {}
func (summed) Control()   {}
func (briefed) Control()  {}

// wish is what somebody wants done with the caller.
type wish struct {
	mode    domain.TransferMode
	summary string
	kept    string // summary as the record shows it
	by      string
	refer   *sip.Referred // by the far end
}

// transfer is the one under way.
type transfer struct {
	wish
	way          transferleg.Target
	at           int // index in the call's record
	stage        handover
	aside        *actor.PID
	resources    *leg.Resources // of the second leg
	leg          int            // number of the second leg that is out; 0: none
	undo         func()         // of the bridge, or of what is heard before the answer
	told         func(code int, phrase string, final bool)
	clip         media.Clip
	spoken       bool // the summary is there, or never will be
	answered     bool
	accepted     bool // the peer accepted our REFER
	referrerGone bool // the peer has hung up after its own REFER
	deaf         bool // whoever answered holds us
}

// handOn begins a transfer; the error is that of the API.
func (c *call) handOn(ctx actor.Context, way transferleg.Target, w wish) error {
	switch {
	case c.stage != talking || c.byeReason != "":
		return domain.Errorf(domain.CodeInvalidState, "only an answered call can be transferred").With("current_status", c.call.Status)
	case c.transfer != nil:
		return domain.Errorf(domain.CodeInvalidState, "the call is being transferred already").With("current_status", c.call.Status)
	case len(c.call.Transfers) >= domain.MaxTransfers:
		return domain.Errorf(domain.CodeInvalidState, "the call has been transferred %d times already", domain.MaxTransfers)
	case way.Phone != nil && w.mode != domain.TransferBridge && w.refer == nil:
		return domain.Errorf(domain.CodeInvalidState, "a phone is reached in mode bridge only")
	}
	if way.Mode != "" && w.refer == nil {
		w.mode = way.Mode
	}
	c.asked++
	c.transfer = &transfer{wish: w, way: way, at: len(c.call.Transfers)}
	t := domain.Transfer{
		To: way.To, Name: way.Name, Mode: w.mode, Status: domain.TransferStarted, By: w.by, Summary: w.kept, StartedAt: time.Now().UTC(),
	}
	c.call.Transfers = append(append([]domain.Transfer(nil), c.call.Transfers...), t)
	if w.refer == nil {
		c.leave(ctx, awayTransfer)
	}
	c.call.Status = domain.CallTransferring
	c.transferred(ctx, func(ctx actor.Context, durable bool) { c.beginHandover(ctx, durable) })
	return nil
}

// beginHandover: the transfer is in the record; now it may be seen on the wire.
func (c *call) beginHandover(ctx actor.Context, durable bool) {
	t := c.transfer
	if t == nil || t.stage != storing || c.stage != talking {
		return
	}
	if !durable {
		c.failTransfer(ctx, string(domain.ReasonInternal))
		return
	}
	if t.mode == domain.TransferBlind && t.refer == nil {
		c.referOn(ctx)
		return
	}
	t.stage = calling
	if t.refer != nil {
		if t.told = t.refer.Accept(); t.told == nil { // too late: it was refused
			c.failTransfer(ctx, "refused")
			return
		}
	} else if c.ringsBack() {
		c.session.Hold(c.cfg.ringback)
	} else {
		c.session.Hold(c.music)
	}
	c.prepareMusic(ctx)
	c.prepareSummary(ctx)
	order := transferleg.Order{
		CallID: c.call.ID, Key: fmt.Sprintf("%s/%d", c.call.ID, t.at+1), Target: t.way, From: c.shownToHuman(), FromTrunkID: c.inboundTrunk(),
		Caller: c.person(), Diverted: c.call.Direction == domain.Inbound,
		Environment: c.call.Environment, RingTimeout: c.ringTimeout, Session: c.session,
	}
	if c.call.Caller != nil {
		order.Identity = c.call.Caller.Identity
	}
	if t.refer != nil {
		order.SameSession, order.Replaces = true, t.refer.Replaces
	}
	r := leg.NewResources(nil)
	t.resources = r
	cfg, log := transferleg.Config{
		Workspace: c.cfg.Workspace, UserAgent: c.cfg.UserAgent, Media: c.cfg.Media, Lines: linesOf(c.cfg, false, c.call.Environment), Trunks: c.cfg.Trunks,
		Listed: c.cfg.Listed, Before: c.cfg.Before, Log: c.log,
	}, c.log
	t.aside = ctx.SpawnPrefix(mailbox.Props(func() actor.Actor { return transferleg.New(cfg, order, r) }, mailboxSize,
		actor.WithSupervisor(mailbox.Stop(log, nil))), "aside")
	c.resources.addTransferLeg(transferLegResources{r, order.Key, t.aside})
}

// inboundTrunk is the trunk over which an inbound call came; "": it is none, or
// came from a phone.
func (c *call) inboundTrunk() string {
	if c.call.Direction != domain.Inbound || c.slot.Via == nil {
		return ""
	}
	return c.slot.Via.ID
}

// shownToHuman is the number that whoever is called sees: ours. The trunk
// would not let us show a caller's.
func (c *call) shownToHuman() string {
	if c.call.Direction == domain.Inbound {
		return c.call.To
	}
	return c.call.From
}

// person is the number of whoever is handed on.
func (c *call) person() string {
	if c.call.Direction == domain.Inbound {
		return c.call.From
	}
	return c.call.To
}

// prepareSummary has the summary spoken while it rings.
func (c *call) prepareSummary(ctx actor.Context) {
	t := c.transfer
	if t.summary == "" || t.refer != nil {
		t.spoken = true
		return
	}
	generation, speaker := c.asked, c.cfg.Speaker
	r := speech.Request{Text: pathway.Pronounce(t.summary, c.script.Voice.Pronunciations), Voice: c.script.Voice.Name}
	if r.Voice == "" {
		r.Voice = c.script.Language
	}
	mailbox.Work(ctx, reachLimit, func(bound context.Context) any {
		return sum(bound, speaker, r, generation)
	})
}

func sum(ctx context.Context, speaker speech.Speaker, r speech.Request, generation int) (m summed) {
	m.generation = generation
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: speaking a summary panicked: %v", v)
		}
	}()
	m.clip, m.err = speaker.Speak(ctx, r)
	return m
}

func (c *call) summed(ctx actor.Context, m summed) {
	t := c.transfer
	if t == nil || m.generation != c.asked {
		return
	}
	if m.err != nil {
		c.log.Warn("a summary could not be spoken", slog.Any("error", m.err))
	}
	t.spoken, t.clip = true, m.clip
	if t.answered && t.stage == calling {
		c.brief(ctx)
	}
}

// refer asks the far end to call somebody else.
func (c *call) refer(ctx actor.Context, to sip.ReferTo) {
	t := c.transfer
	t.stage = referring
	d := c.resources.Dialog()
	if d == nil {
		c.failTransfer(ctx, string(domain.ReasonInternal))
		return
	}
	to.ReferredBy = d.State().LocalURI
	root, self, generation := ctx.ActorSystem().Root, ctx.Self(), c.asked
	d.Refer(to, func(p sip.ReferProgress) { root.Send(self, referred{generation, p}) })
}

func (c *call) referProgress(ctx actor.Context, m referred) {
	t, p := c.transfer, m.progress
	if t == nil || m.generation != c.asked || t.stage != referring {
		return
	}
	method := "NOTIFY"
	if !p.Notify {
		method = "REFER"
	}
	c.evidence(method, p.Code, p.Phrase)
	t.accepted = t.accepted || p.Notify || p.Code >= 200 && p.Code < 300
	switch {
	case !p.Final:
		c.note()
	case p.Failed:
		why := "refused"
		switch {
		case p.Code >= 300:
			why = fmt.Sprintf("sip_%d", p.Code)
		case t.accepted:
			why = "unconfirmed" // the peer accepted the REFER and sent no final NOTIFY
		}
		c.failTransfer(ctx, why)
	default:
		c.gone(ctx)
	}
}

// gone: the far end speaks with somebody else now.
func (c *call) gone(ctx actor.Context) {
	c.finishTransfer(ctx, domain.TransferCompleted, "")
	c.bye(ctx, byAgent, domain.ReasonTransferred)
}

// brief tells the summary to whoever answered, or goes on at once.
func (c *call) brief(ctx actor.Context) {
	t := c.transfer
	s := t.resources.Session()
	if t.refer != nil {
		c.adopt(ctx)
		return
	}
	if s == nil {
		return
	}
	s.Begin()
	t.stage = briefing
	if len(t.clip) == 0 {
		c.connect(ctx)
		return
	}
	if t.clip.Duration() > maxClip {
		t.clip = t.clip[:maxClip/time.Second*8000]
	}
	s.Play(byOwn, t.clip)
	mailbox.After(ctx, t.clip.Duration()+summaryLimit, briefed{c.asked})
}

// connect joins both, or lets the far end take the second call over.
func (c *call) connect(ctx actor.Context) {
	t := c.transfer
	if t == nil || t.stage != briefing {
		return
	}
	d, s := t.resources.Dialog(), t.resources.Session()
	if d == nil || s == nil {
		return
	}
	if t.mode == domain.TransferAttended {
		id := d.ID()
		c.refer(ctx, sip.ReferTo{URI: targetURI(d.State()), Replaces: &id})
		return
	}
	t.stage = bridged
	c.session.Resume()
	t.undo = c.cfg.Media.Bridge(c.session, s)
	if t.deaf {
		c.amuse(c.session, true)
	}
	if c.deaf {
		c.amuse(s, true)
	}
	if c.conversation != nil {
		ctx.Send(c.conversation, conversation.Human{On: true})
	}
	c.call.Status = domain.CallInProgress
	c.handed().Status = domain.TransferConnected
	c.transferred(ctx, nil)
}

// failTransfer returns the caller to the agent; what is left of the second leg
// is ended.
func (c *call) failTransfer(ctx actor.Context, why string) {
	t := c.transfer
	if t == nil {
		return
	}
	if t.told != nil {
		code, phrase := 503, "Service Unavailable"
		if h := c.handed(); len(h.SIP) > 0 && h.SIP[len(h.SIP)-1].Code >= 300 {
			code, phrase = h.SIP[len(h.SIP)-1].Code, h.SIP[len(h.SIP)-1].Phrase
		}
		t.told(code, phrase, true)
	}
	if t.refer != nil && t.told == nil {
		t.refer.Refuse(503)
	}
	c.finishTransfer(ctx, domain.TransferFailed, why)
	if t.referrerGone {
		c.endWithoutReferrer(ctx)
		return
	}
	c.comeBack(ctx, awayTransfer, false)
}

// finishTransfer closes the record of the transfer under way and lets go of
// the second leg.
func (c *call) finishTransfer(ctx actor.Context, s domain.TransferStatus, why string) {
	t := c.transfer
	t.unjoin()
	if c.session != nil {
		c.session.Resume()
	}
	now := time.Now().UTC()
	h := c.handed()
	h.Status, h.Reason, h.EndedAt = s, why, &now
	if c.call.Status == domain.CallTransferring {
		c.call.Status = domain.CallInProgress
	}
	c.transferred(ctx, nil)
	c.transfer = nil
	c.asked++
	if t.aside != nil {
		c.letGo(ctx, t, why)
	}
}

// letGo ends a second leg; the call is not over before that is.
func (c *call) letGo(ctx actor.Context, t *transfer, why string) {
	if why == "" {
		why = string(domain.ReasonTransferred)
	}
	if c.leavers == nil {
		c.leavers = make(map[string]*transfer)
	}
	t.stage = leaving
	c.leavers[t.aside.Id] = t
	ctx.Send(t.aside, transferleg.GiveUp{Reason: why})
}

// handed is the record of the transfer under way; its slice is never shared.
func (c *call) handed() *domain.Transfer {
	c.call.Transfers = append([]domain.Transfer(nil), c.call.Transfers...)
	return &c.call.Transfers[c.transfer.at]
}

// evidence keeps an answer in the transfer's record.
func (c *call) evidence(method string, code int, phrase string) {
	h := c.handed()
	if len(h.SIP) < domain.MaxSIPSteps {
		h.SIP = append(slices.Clip(h.SIP), domain.SIPStep{At: time.Now().UTC(), Method: method, Code: code, Phrase: phrase})
	}
}

// transferred commits where the transfer stands, and tells it.
func (c *call) transferred(ctx actor.Context, then func(actor.Context, bool)) {
	t := &c.call.Transfers[c.transfer.at]
	c.log.Info("call transfer", slog.String("mode", string(t.Mode)), slog.String("status", string(t.Status)), slog.String("reason", t.Reason))
	c.commit(ctx, event.CallTransferred, event.TransferredData{
		CallRef: event.RefOf(&c.call), To: t.To, Mode: t.Mode, Status: t.Status, Reason: t.Reason, SIP: slices.Clone(t.SIP),
	}, then)
}

// leave keeps the agent silent for a reason; comeBack ends that.
func (c *call) leave(ctx actor.Context, why uint8) {
	if c.away == 0 && c.conversation != nil {
		ctx.Send(c.conversation, conversation.Away{})
	}
	c.away |= why
}

func (c *call) comeBack(ctx actor.Context, why uint8, ok bool) {
	if c.away&why == 0 {
		return
	}
	c.away &^= why
	if why == awayTransfer {
		c.wasReached = ok
	}
	if c.away == 0 && c.conversation != nil {
		ctx.Send(c.conversation, conversation.Back{OK: c.wasReached})
		c.wasReached = false
	}
}
