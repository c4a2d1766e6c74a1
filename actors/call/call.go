package call

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
)

// How long a call waits for others, and its bounds.
const (
	bindLimit    = 5 * time.Second
	dialLimit    = 15 * time.Second
	rerouteLimit = 20 * time.Second
	rerouteWait  = 15 * time.Second // for the next target's turn
	throttleWait = 30 * time.Second // for trunks that want no calls now, of a call that no campaign takes back
	finishLimit  = 3 * time.Second
	leaveLimit   = time.Second
	byeLimit     = 40 * time.Second // longer than Timer F
	repeatEvery  = 2 * time.Second
	longest      = 30 * time.Minute
	maxLegs      = 5
	mailboxSize  = 1024
	opened       = 1 // the version of an attempt's row as whoever starts its call has committed it
)

type stage uint8

// The stages of a call, in order. Fail-over goes back from dialling.
const (
	binding   stage = iota // waits for its line
	preparing              // opens its sound, sends its INVITE
	dialling               // an INVITE is out
	rerouting              // a leg was refused; the next one is being found and stored
	reviving               // it was answered in a process that is gone, and its far end is asked to go on here
	talking                // answered
	closing                // the dialog is over; the conversation sums up
	flushing               // what happened is being stored
	telling                // the owner is told, until it acknowledges
)

// What a call tells itself.
type (
	dialogEvent struct {
		leg   int
		event sip.Event
	}
	mediaEvent struct {
		leg   int
		event media.Event
	}
	prepared struct { // the leg's sound is open and its INVITE is out, or err
		leg    int
		answer []byte // inbound: our description
		err    error
		reason domain.Reason
	}
	late struct { // something did not come in time
		stage stage
		leg   int
	}
	maxed  struct{}
	repeat struct{}
	begin  struct{}
)

// Control admits it always.
func (dialogEvent) Control() {}

// Control admits it always.
func (mediaEvent) Control() {}

// Control admits it always.
func (prepared) Control() {}

// Control admits it always.
func (late) Control() {}

// Control admits it always.
func (maxed) Control() {}

// Control admits it always.
func (repeat) Control() {}

// Control admits it always.
func (begin) Control() {}

// order is what a call was started with, inbound or outbound.
type order struct {
	call        domain.Call
	attempt     domain.Attempt
	script      domain.Script
	variables   map[string]string
	callerID    string // asked for by whoever placed the call; "": one of the trunk
	callerName  string
	optOut      []string
	scrub       lists.Scrub
	permit      lines.Permit
	slot        trunk.Slot
	contacts    []registrar.Contact // of a phone of the workspace; then there is no trunk
	in          *sip.Incoming
	inbound     bool
	survivor    *kept // of a process that is gone
	dialog      sip.DialogState
	before      []byte // what its dialogs had said
	networks    []string
	ringTimeout time.Duration
	maxDuration time.Duration
	owner       *actor.PID
}

func (o *order) lines(cfg *Config) *actor.PID { return linesOf(cfg, o.inbound, o.call.Environment) }

func linesOf(cfg *Config, inbound bool, env domain.Environment) *actor.PID {
	switch {
	case inbound:
		return cfg.LinesIn
	case env == domain.Test && cfg.LinesTest != nil:
		return cfg.LinesTest
	}
	return cfg.LinesOut
}

// call is the actor of one call. Its order is its own from the start on.
type call struct {
	*order
	cfg          *Config
	log          *slog.Logger
	resources    *callResources
	save         saver
	stage        stage
	leg          int // number of the leg that counts now, from 1
	tried        []string
	codecs       []media.Codec
	recoded      bool      // other codecs were offered already
	detour       *detour   // that the leg takes; nil: it goes to its trunk
	moves        int       // how often a 3xx has sent the call on
	waitsTill    time.Time // for trunks that want no calls now; zero: none has said so
	reached      bool
	hangup       bool // the API wants it ended
	hangupReason domain.Reason
	leaving      bool // the agent does, once the answer is stored
	unable       bool // the agent leaves because it cannot speak, hear or think
	byeBy        string
	byeReason    domain.Reason
	byeSent      bool // until then it waits, or was not wanted
	invitedAt    time.Time
	session      leg.Session
	conversation *actor.PID
	stopClock    func()
	stopRepeat   func()
	timers       []func()       // that stop the others
	verdict      domain.Verdict // of the leg refused last, then of the call
	untaken      int            // legs that no target took: the connection failed, nobody answered at all, or 503
	endedBy      string
	endedAt      time.Time
	answeredAt   time.Time     // by the clock that nobody sets
	lasted       time.Duration // since then, once it is over
	stopping     bool
	transfer     *transfer            // the one under way
	leavers      map[string]*transfer // second legs that are being ended, by actor
	adopted      *actor.PID           // whose leg has become ours
	asked        int                  // generation of what is asked about transfers
	away         uint8                // why the agent is silent
	wasReached   bool
	rung         bool // a call that came in rings until it is answered
	early        bool // and hears our sound meanwhile
	soundLeg     int  // the leg whose sound is heard
	keysHidden   bool // its signalling is encrypted
	summedUp     bool // nothing but second legs is waited for
	ended        *Ended
	segments     []domain.Segment
	appointments booking.Made // by the agent, in this call
	paused       bool         // nothing is recorded
	deaf         bool         // the far end holds us
	music        media.Clip   // what a party hears that waits; nil: not read, or none
	musicAsked   bool
	keeps        keeps
	revival      revival
	previewed    string // the far end's tag of the early dialog whose sound is heard
}

func newCall(cfg *Config, o *order, r *callResources) actor.Actor {
	if o.survivor == nil {
		o.maxDuration = o.script.Limits.Longest(o.maxDuration, longest)
	}
	log := cfg.Log.With(slog.String("call_id", o.call.ID))
	if span := (*tracing.SpanContexts)(nil).Call(o.call.ID, o.call.TraceParent); span.IsValid() {
		log = log.With(slog.String("trace_id", span.TraceID().String()))
	}
	c := &call{order: o, cfg: cfg, log: log, resources: r, save: saver{cfg: cfg, log: log, version: opened}}
	if o.survivor != nil {
		c.save.version, c.stage, c.leg = 0, reviving, o.survivor.Leg // the version is read
	}
	return c
}

// Receive is the table of contents.
func (c *call) Receive(ctx actor.Context) { //nolint:funlen // the table of contents
	if c.cfg.Before != nil {
		c.cfg.Before("call", c.call.ID, ctx.Message())
	}
	switch m := ctx.Message().(type) {
	case begin:
		c.begin(ctx)
	case lines.Bound:
		c.bound(ctx)
	case lines.Late:
		c.late(ctx, late{stage: binding})
	case prepared:
		c.prepared(ctx, m)
	case dialogEvent:
		c.signal(ctx, m)
	case mediaEvent:
		c.heard(ctx, m)
	case trunk.Slot:
		c.slotted(ctx, m)
	case trunk.NoSlot:
		c.unslotted(ctx, m)
	case conversation.Over:
		c.agentLeaves(ctx, m)
	case conversation.Fault:
		c.fault(ctx, m)
	case conversation.OptedOut:
		c.optedOut(m)
	case conversation.Finished:
		c.finished(ctx, m)
	case Hangup:
		c.hangUp(ctx, m)
	case late:
		c.late(ctx, m)
	case maxed:
		c.bye(ctx, byService, domain.ReasonMaxDuration)
	case trunk.SpendCapReached:
		c.bye(ctx, byService, domain.ReasonSpendCap)
	case saved:
		c.saved(ctx, m)
	case repeat:
		c.tell(ctx)
	case Ack:
		c.acknowledged(ctx)
	case *actor.DeadLetterResponse:
		c.unheard(ctx)
	case *actor.Stopping:
		c.stopping = true // its parent takes over; the end of its child is no news
	case *actor.Terminated:
		c.conversationDied(ctx, m)
	case mailbox.Crashed:
		panic(m)
	default:
		c.besides(ctx)
	}
}

func (c *call) saved(ctx actor.Context, m saved) {
	c.save.result(ctx, m)
	if c.leaving && c.save.idle() {
		c.agentHangsUp(ctx)
	}
	if c.keeps.dirty {
		c.keepNow(ctx)
	}
	c.flushed(ctx)
}

// unheard: for all that is known the owner of a call that is over is gone.
func (c *call) unheard(ctx actor.Context) {
	if c.stage == telling {
		ctx.Send(ctx.Parent(), ownerless{*c.ended})
	}
}

func (c *call) optedOut(m conversation.OptedOut) {
	if c.cfg.OptOut != nil {
		c.cfg.OptOut(c.call, m.Channel, m.Keyword)
	}
}

// begin ties the permit and the slot to this actor: its death frees both.
func (c *call) begin(ctx actor.Context) {
	if c.survivor != nil {
		c.revive(ctx)
		return
	}
	c.leg = max(len(c.attempt.Legs), 1)
	now := time.Now().UTC()
	if c.call.StartedAt == nil {
		c.call.StartedAt = &now
	}
	if c.in != nil {
		root, self := ctx.ActorSystem().Root, ctx.Self()
		c.in.Notify(func(e sip.Event) { root.Send(self, dialogEvent{1, e}) })
		c.codecs = leg.CodecsOf(c.slot.Trunk().Codecs)
	} else {
		c.tried = []string{c.slot.Key}
		c.codecs = leg.CodecsOf(c.slot.Trunk().Codecs)
		if most := c.slot.MaxDuration; most > 0 {
			c.maxDuration = min(c.maxDuration, most)
		}
		if c.cfg.Trunks != nil {
			ctx.Send(c.cfg.Trunks, trunk.Bind{CallID: c.call.ID, Call: ctx.Self()})
		}
	}
	c.noteLeg(now)
	tag := ""
	if c.in != nil {
		tag = c.in.Tag()
	}
	c.cfg.Traces.Claim(c.call.ID, c.call.Legs[c.leg-1].SIPCallID, tag)
	ctx.Request(c.lines(c.cfg), lines.Bind{Permit: c.permit, CallID: c.call.ID, Call: ctx.Self()})
	c.after(ctx, bindLimit, late{stage: binding})
}

// bound: the line is ours; nothing waits any more before the INVITE.
func (c *call) bound(ctx actor.Context) {
	if c.stage != binding {
		return
	}
	c.stage = preparing
	if c.in != nil {
		c.take(ctx)
		return
	}
	c.dial(ctx)
}

func (c *call) late(ctx actor.Context, m late) {
	if m.stage != c.stage || m.leg != 0 && m.leg != c.leg {
		return
	}
	switch m.stage {
	case binding:
		c.refuseCaller(503)
		c.over(ctx, notSent(), byService)
	case rerouting:
		c.over(ctx, c.verdict, c.endedBy)
	case closing:
		c.wrapUp(ctx)
	case reviving:
		c.over(ctx, interrupted(), byService) // even its BYE was not answered
	case talking:
		c.hungUp(ctx, sip.Ended{}) // the far end is deaf even to its own end
	case preparing, dialling, flushing, telling:
	}
}

// noteLeg puts the leg that is about to be dialled into the call's record.
func (c *call) noteLeg(now time.Time) {
	for len(c.call.Legs) < c.leg {
		c.call.Legs = append(c.call.Legs, domain.Leg{})
	}
	l := &c.call.Legs[c.leg-1]
	if c.in != nil {
		l.TrunkID, l.SIPCallID, l.Target = c.slot.Trunk().ID, c.in.CallID, c.in.Source.String()
	} else {
		l.TrunkID, l.Target = c.slot.Trunk().ID, c.slot.Target.String()
		l.SIPCallID = c.cfg.UserAgent.CallID(c.call.ID, c.leg)
	}
	if l.StartedAt.IsZero() {
		l.StartedAt = now
	}
	c.note()
}

// record is the leg that counts now; its slice is never shared.
func (c *call) record() *domain.Leg {
	c.call.Legs = append([]domain.Leg(nil), c.call.Legs...)
	return &c.call.Legs[c.leg-1]
}

// row is the attempt's row of that leg; its slice is never shared.
func (c *call) row() *domain.AttemptLeg {
	c.attempt.Legs = append([]domain.AttemptLeg(nil), c.attempt.Legs...)
	for len(c.attempt.Legs) < c.leg {
		l := c.call.Legs[len(c.attempt.Legs)]
		c.attempt.Legs = append(c.attempt.Legs, leg.NewRow(len(c.attempt.Legs)+1, l.TrunkID, c.opening(&c.slot, len(c.attempt.Legs)+1)))
	}
	return &c.attempt.Legs[c.leg-1]
}

func (c *call) note() { c.resources.setRecord(&c.call, &c.attempt, c.reached) }

// commit stores what the call has become, and what happened.
func (c *call) commit(ctx actor.Context, t event.Type, data any, then func(actor.Context, bool)) {
	if c.keeps.parting == left {
		return
	}
	now := time.Now().UTC()
	c.call.UpdatedAt = now
	c.attempt.Kept = c.keep(now)
	c.note()
	if c.cfg.Survive {
		then = c.keeping(then)
	}
	e := entry{call: c.call, attempt: c.attempt, then: then}
	e.attempt.Trace = c.safe()
	if t != "" {
		e.events = append(e.events, draft(&c.call, t, data, now))
	}
	c.save.add(ctx, e)
}

// hangUp answers the API. Before the far end's answer it is a CANCEL.
func (c *call) hangUp(ctx actor.Context, m Hangup) {
	if c.stage >= closing {
		ctx.Respond(domain.Errorf(domain.CodeInvalidState, "the call is over").With("current_status", c.call.Status))
		return
	}
	c.hangup, c.hangupReason = true, domain.ReasonHangup
	if m.Cancelled {
		c.hangupReason = domain.ReasonCancelled
	}
	switch c.stage {
	case binding, rerouting:
		c.refuseCaller(480)
		c.over(ctx, cancelled(), byAPI)
	case preparing, dialling:
		if c.rung {
			c.refuseCaller(480)
			c.over(ctx, cancelled(), byAPI)
		} else if d := c.resources.Dialog(); d != nil {
			d.Cancel("hangup")
		} else if c.in == nil {
			c.resources.CancelInvite()
		}
	case talking:
		c.bye(ctx, byAPI, c.hangupReason)
	case reviving, closing, flushing, telling: // who is revived hangs up then
	}
	ctx.Respond(HungUp{}) // whoever has the answer may count on it
}

func cancelled() domain.Verdict {
	return domain.Verdict{Outcome: domain.OutcomeCancelled, Reason: domain.ReasonCancelled}
}

func (c *call) refuseCaller(code int, extra ...message.Header) {
	if c.in != nil {
		c.in.Reject(code, 0, extra...)
	}
}

// bye ends an answered call from our side; the first reason counts.
func (c *call) bye(ctx actor.Context, by string, reason domain.Reason) {
	if c.stage != talking || c.byeReason != "" {
		return
	}
	c.byeBy, c.byeReason = by, reason
	c.resources.setEnding()
	alone := c.transfer != nil && c.transfer.referrerGone
	if !alone {
		c.sendBye(ctx)
	}
	if s := c.resources.Session(); s != nil {
		s.Close() // nothing is said after a BYE; settle hears the figures again
	}
	if alone {
		c.endWithoutReferrer(ctx)
	}
}

// conversationDied: a call that has nobody to speak is a fault of ours.
func (c *call) conversationDied(ctx actor.Context, m *actor.Terminated) {
	if c.stopping || c.asideDied(ctx, m.Who) {
		return
	}
	if c.conversation == nil || m.Who.Id != c.conversation.Id {
		return
	}
	c.conversation = nil
	switch c.stage {
	case talking:
		c.bye(ctx, byService, domain.ReasonInternal)
	case closing:
		c.wrapUp(ctx)
	case binding, preparing, dialling, rerouting, reviving, flushing, telling:
	}
}

func (c *call) fault(ctx actor.Context, m conversation.Fault) {
	if c.stage >= flushing {
		return
	}
	c.commit(ctx, event.AgentError, event.AgentErrorData{
		CallID: c.call.ID, AgentID: c.call.AgentID, Stage: m.Stage, Code: m.Code, Message: m.Message, Recovered: m.Recovered,
	}, nil)
}
