package trunk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/sip"
	sipregistration "github.com/callboard/callboard/sip/registration"
	"github.com/callboard/callboard/sip/resolve"
)

// patience is how long a Want may wait for its slot: less than the lease of a permit.
const patience = 5 * time.Second

// Config of a workspace's trunks. Only Trunks and Log are required.
type Config struct {
	Trunks          []domain.Trunk
	TestCarrier     func() (resolve.Target, bool)                                                     // where the built-in carrier listens
	Workspace       func() *domain.Workspace                                                          // whose rules hold; nil: none do
	Resolve         func(context.Context, resolve.Target) ([]resolve.Target, error)                   // what a name leads to, the best first; nil: sip looks it up for each call
	Ping            func(context.Context, domain.Environment, resolve.Target) (sip.PingResult, error) // OPTIONS; nil: nobody is pinged
	Register        func(sipregistration.Config) (*sipregistration.Registration, error)               // nil: nobody is registered
	ReadLedgerSpend func(ctx context.Context, since time.Time) (domain.Amount, error)                 // what the ledger says; nil: nothing
	SendAlarm       func(ctx context.Context, a Alarm)                                                // hears that a trunk does badly, beside the actor; nil: nobody
	// Beside is what was spent today besides, as Keep was given it; nil: nothing.
	LoadSpending func(ctx context.Context) (domain.Spending, error)
	// Kept are the states that Keep was given before, of whatever trunks; nil: none.
	LoadStates func(ctx context.Context) ([]domain.TrunkState, error)
	// Keep keeps states in one commit, forgets those of the trunks that are gone,
	// and keeps what was spent; beside the actor. nil: nothing is kept.
	SaveStates func(ctx context.Context, states []domain.TrunkState, gone []string, s *domain.Spending) error
	Log        *slog.Logger
}

// Trunks is the actor: it grants slots of trunks to calls. Its components hold the trunks' states, the channels of
// calls, the spending of the day, alarms and registrations.
type Trunks struct {
	cfg    Config
	trunks trunkList

	waiting    []waiter
	generation int // of the wake-up for them
	cancel     func()
	wakeAt     time.Time // while cancel is set

	channels callChannels
	calls    map[string]string     // pid → call
	owners   map[string]*actor.PID // call → its actor

	spend         spendLedger
	monitor       targetMonitor
	alarms        trunkAlarms
	registrations registrations
	keeper        stateKeeper
}

type waiter struct {
	want   RequestSlot
	routes []*trunkState
	from   *actor.PID
	expiry time.Time
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	t := &Trunks{
		cfg: cfg, calls: make(map[string]string), owners: make(map[string]*actor.PID), spend: spendLedger{live: make(map[string]*meter)},
		monitor: targetMonitor{resolvedAt: make(map[string]time.Time), pingedAt: make(map[string]time.Time)},
		alarms:  trunkAlarms{send: cfg.SendAlarm, sentAt: make(map[string]time.Time)}, keeper: stateKeeper{off: cfg.SaveStates == nil},
		registrations: registrations{register: cfg.Register, log: cfg.Log, byTrunk: make(map[string]registrationChild)},
	}
	t.channels = callChannels{held: make(map[string]*holding), spend: &t.spend}
	return t
}

// Receive is the table of contents.
func (t *Trunks) Receive(ctx actor.Context) { //nolint:funlen // the table of contents
	switch m := ctx.Message().(type) {
	case *actor.Started:
		t.set(ctx, t.cfg.Trunks)
		t.readSpend(ctx)
		t.readStates(ctx)
	case *actor.Stopping:
		t.monitor.stop()
	case RequestSlot:
		t.onWant(ctx, m)
	case CheckDestination:
		t.onCheck(ctx, m)
	case ReserveSMS, SettleSMS:
		t.onSMS(ctx, m)
	case BindCall:
		t.bind(ctx, m)
	case ReturnSlot:
		t.channels.release(m.CallID, m.Key)
		t.serve(ctx)
	case LegResult:
		t.onResult(ctx, &m)
	case ProbeRinging:
		t.onProbeRang(ctx, m)
	case CallEnded:
		t.onEnded(ctx, &m)
	case InboundCallArrived:
		t.onArrived(ctx, m)
	case SetTrunks:
		t.set(ctx, m.Trunks)
		t.reroute(ctx)
	case HoldChannel:
		if b := t.trunks.byID(m.TrunkID); b != nil {
			t.channels.hold(m.CallID, b)
		}
	case ResumeMeter:
		t.resumeMeter(ctx, m)
	case ReleaseCall:
		t.forgetCall(m.CallID)
		t.serve(ctx)
	case FlushStates:
		t.keeper.waiting = append(t.keeper.waiting, ctx.Sender())
		t.saveStates(ctx)
	case GetHealth, CountRecentCalls, CountHeld:
		t.answerState(ctx)
	case tick:
		if m.generation == t.generation {
			t.cancel = nil
			t.serve(ctx)
		}
	case *actor.Terminated:
		if call, ok := t.calls[m.Who.Id]; ok {
			delete(t.calls, m.Who.Id)
			delete(t.owners, call)
			t.forgetCall(call)
			t.serve(ctx)
		}
	default:
		t.receiveOwn(ctx)
	}
}

// answerState answers requests for the state.
func (t *Trunks) answerState(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case GetHealth:
		ctx.Respond(Health{Trunks: t.trunks.apiStates(t.waiting), Spent: t.spend.spent(time.Now()), SpentKnown: t.spend.known})
	case CountRecentCalls:
		ctx.Respond(t.trunks.recentCalls(m.Window))
	case CountHeld:
		ctx.Respond(t.countHeld())
	}
}

// countHeld counts what the actor holds for calls.
func (t *Trunks) countHeld() HeldCounts {
	now := HeldCounts{Holding: len(t.channels.held), WatchedActors: len(t.calls), Meters: len(t.spend.live), Waiting: len(t.waiting)}
	for _, b := range t.trunks.states {
		now.Channels += b.channels
	}
	return now
}

// receiveOwn handles the messages of its own work and children.
func (t *Trunks) receiveOwn(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case checkTargetsDue:
		if m.generation == t.monitor.generation {
			t.checkTargets(ctx)
		}
	case found:
		t.onResolved(ctx, m)
	case pinged:
		t.onPonged(ctx, m)
	case Registered:
		t.registrations.update(t.trunks.byID(m.TrunkID), m.State)
	case statesRead:
		t.onStatesRead(ctx, m)
	case saveStatesDue:
		if m.generation == t.keeper.generation {
			t.keeper.armed = false
			t.saveStates(ctx)
		}
	case statesSaved:
		t.onStatesSaved(ctx, m)
	case spendReadDue:
		t.readSpend(ctx)
	case spendRead:
		t.spendRead(ctx, m)
	case reserveMinutes:
		t.reserveMinutes(ctx)
	case mailbox.TaskPanicked:
		t.cfg.Log.Error("work beside the trunks failed", slog.Any("reason", m.Value), slog.String("stack", m.Stack))
	}
}

func (t *Trunks) set(ctx actor.Context, trunks []domain.Trunk) {
	old := make(map[string]*trunkState, len(t.trunks.states))
	for _, b := range t.trunks.states {
		old[b.trunk.ID] = b
	}
	t.trunks = trunkList{}
	for i := range trunks {
		if trunks[i].IsTestOnly() {
			continue
		}
		tr, b := &trunks[i], old[trunks[i].ID]
		if b == nil {
			b = newTrunkState()
		}
		if delete(old, tr.ID); !slices.Equal(b.trunk.Proxies, tr.Proxies) {
			t.monitor.forgetTrunk(tr.ID)
		}
		b.set(tr)
		t.trunks.add(b)
	}
	for id := range old {
		t.monitor.forgetTrunk(id)
		t.keeper.forgetTrunk(id)
	}
	t.registrations.set(ctx, t.trunks.states)
	t.checkTargets(ctx)
}

func (t *Trunks) onWant(ctx actor.Context, w RequestSlot) {
	now := time.Now()
	if err, until := t.forbidden(&w, 0, now); err != nil {
		reason := string(err.Code)
		if err.Code == domain.CodeUnavailable {
			reason = ReasonThrottled
		}
		ctx.Send(ctx.Sender(), SlotDenied{CallID: w.CallID, Reason: reason, Err: err, Until: until, Generation: w.Generation})
		return
	}
	if w.MaxWait <= 0 {
		w.MaxWait = patience
	}
	routes, refused := t.trunks.routes(w)
	if e, ok := errors.AsType[*domain.Error](refused); ok {
		reason := ReasonForbidden
		_, rewriting := errors.AsType[*domain.RewriteError](refused)
		if rewriting || e.Code == domain.CodeCallerIDRequired || e.Code == domain.CodeCallerIDNotAllowed {
			reason = ReasonNoTrunk // a fault of the trunk: the number itself may be called
		}
		ctx.Send(ctx.Sender(), SlotDenied{CallID: w.CallID, Reason: reason, Err: e, Generation: w.Generation})
		return
	}
	one := waiter{want: w, routes: routes, from: ctx.Sender(), expiry: now.Add(w.MaxWait)}
	if !t.answer(ctx, one, now) {
		t.waiting = append(t.waiting, one)
		t.plan(ctx, now)
	}
}

// serve answers what waits, in order, as far as that is possible now.
func (t *Trunks) serve(ctx actor.Context) {
	now := time.Now()
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return !w.blocked(now) && t.answer(ctx, w, now) })
	t.plan(ctx, now)
}

// reroute finds other ways for what waits, after the trunks have changed.
func (t *Trunks) reroute(ctx actor.Context) {
	now := time.Now()
	for i := range t.waiting {
		t.waiting[i].routes, _ = t.trunks.routes(t.waiting[i].want) // none: answered as having no trunk
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return t.answer(ctx, w, now) })
	t.plan(ctx, now)
}

// blocked spares a closer look: every route is busy for now, and none for too
// long.
func (w *waiter) blocked(now time.Time) bool {
	if len(w.routes) == 0 || !now.Before(w.expiry) {
		return false
	}
	for _, b := range w.routes {
		until, why := b.ready(now)
		if why == "" || (why == ReasonThrottled && !until.Before(w.expiry)) {
			return false
		}
	}
	return true
}

// plan sets the one wake-up at the next moment at which a waiter can go on.
func (t *Trunks) plan(ctx actor.Context, now time.Time) {
	if len(t.waiting) == 0 {
		if t.cancel != nil {
			t.cancel()
			t.cancel = nil
		}
		return
	}
	at := t.waiting[0].expiry
	for _, b := range t.trunks.states {
		if b.next.After(now) && b.next.Before(at) {
			at = b.next
		}
		if b.backoff.After(now) && b.backoff.Before(at) {
			at = b.backoff
		}
		for i := range b.views {
			if rests := b.views[i].RestsUntil; rests.After(now) && rests.Before(at) {
				at = rests
			}
		}
	}
	if t.cancel != nil {
		if at.Equal(t.wakeAt) {
			return
		}
		t.cancel()
	}
	t.generation++
	t.wakeAt = at
	t.cancel = mailbox.SendAfter(ctx, max(at.Sub(now), time.Millisecond), tick{t.generation})
}

// answer says Slot or NoSlot; false: the want has to wait inside. A target that
// failed lately is taken only where no other trunk has a better one.
func (t *Trunks) answer(ctx actor.Context, one waiter, now time.Time) bool {
	w := one.want
	verdict := SlotDenied{CallID: w.CallID, Reason: ReasonNoTrunk, Generation: w.Generation}
	var last Slot
	var of *trunkState
	limit := spendCapOf(t.cfg.workspace(), w.Environment)
	for _, b := range one.routes {
		if limit != nil && !t.spend.affords(limit, t.cfg.initialReservation(b, w.To), now) {
			verdict.worse(ReasonSpendCap, time.Time{})
			continue
		}
		slot, rests, ok := t.target(b, &w, now)
		switch {
		case !ok && rests.IsZero():
			verdict.worse(ReasonExhausted, time.Time{})
			continue
		case !ok:
			verdict.worse(ReasonThrottled, rests)
			continue
		}
		if until, why := b.ready(now); why != "" {
			verdict.worse(why, until)
			continue
		}
		if b.targetWorks(slot.Key, &w, now) {
			t.grant(ctx, &one, b, slot, now)
			return true
		}
		if of == nil {
			of, last = b, slot
		}
	}
	if of != nil {
		t.grantOut(ctx, &one, of, last, now)
		return true
	}
	verdict.AllTargetsOut = len(one.routes) > 0 && !slices.ContainsFunc(one.routes, func(b *trunkState) bool { return !b.allOut(now) })
	soon := verdict.Reason == ReasonChannels || (!verdict.Until.IsZero() && verdict.Until.Before(one.expiry))
	if soon && now.Before(one.expiry) {
		return false
	}
	if verdict.Reason == ReasonSpendCap {
		verdict.Err, verdict.Until = t.spend.capRefusal(limit, now)
	}
	ctx.Send(one.from, verdict)
	return true
}

// grantOut gives a target that failed lately to a call. One that can wait gets it only where no other such call tries the
// trunk, and where it is time to.
func (t *Trunks) grantOut(ctx actor.Context, one *waiter, b *trunkState, slot Slot, now time.Time) {
	if one.want.MayProbe && b.allOut(now) {
		if until := b.probe.waitUntil(now); !until.IsZero() {
			ctx.Send(one.from, SlotDenied{CallID: slot.CallID, Reason: ReasonOut, Until: until, AllTargetsOut: true, Generation: one.want.Generation})
			return
		}
		b.probe.call, slot.Probe = slot.CallID, true
	}
	t.grant(ctx, one, b, slot, now)
}

func (t *Trunks) grant(ctx actor.Context, one *waiter, b *trunkState, slot Slot, now time.Time) {
	b.takeSlot(now)
	c := channel{of: b, trunk: b.trunk, key: slot.Key}
	if one.want.Environment == domain.Live {
		c.reserved = t.cfg.initialReservation(b, one.want.To)
	}
	t.channels.add(slot.CallID, one.want.To, c)
	ctx.Send(one.from, slot)
}

// worse keeps the reason that says most: what only has to wait wins over what
// cannot be.
func (n *SlotDenied) worse(reason string, until time.Time) {
	rank := map[string]int{ReasonNoTrunk: 0, ReasonExhausted: 1, ReasonSpendCap: 2, ReasonChannels: 3, ReasonThrottled: 4}
	switch {
	case rank[reason] > rank[n.Reason]:
		n.Reason, n.Until = reason, until
	case reason == n.Reason && until.Before(n.Until):
		n.Until = until
	}
}

func (t *Trunks) bind(ctx actor.Context, m BindCall) {
	if _, known := t.calls[m.Call.Id]; known {
		return
	}
	t.calls[m.Call.Id], t.owners[m.CallID] = m.CallID, m.Call
	ctx.Watch(m.Call)
}

// onResult learns from how a leg ended, or that it was answered.
func (t *Trunks) onResult(ctx actor.Context, m *LegResult) {
	now := time.Now()
	t.charge(ctx, m, now)
	if b := t.trunks.byID(m.TrunkID); b != nil {
		b.learn(m, now)
		t.markChanged(ctx, b)
		if m.Verdict.Alert && !m.Redirected {
			t.alarms.raise(ctx, b, Alarm{
				Measure: string(m.Verdict.Reason), Calls: 1,
				Message: fmt.Sprintf("trunk %s refuses calls: %d %s", b.trunk.Name, m.Final.Code, m.Final.Phrase),
			}, now)
		} else if m.Answered {
			t.alarms.lower(ctx, b, string(domain.ReasonTrunkRejected))
			t.alarms.lower(ctx, b, string(domain.ReasonIdentity))
		}
		t.alarms.check(ctx, b, now)
	}
	if !m.Answered {
		t.channels.release(m.CallID, m.Key)
		t.serve(ctx)
	}
}

// onProbeRang notes that a trunk that was out works again.
func (t *Trunks) onProbeRang(ctx actor.Context, m ProbeRinging) {
	if b := t.trunks.byID(m.TrunkID); b != nil {
		b.recover(m.Key)
		t.markChanged(ctx, b)
		t.serve(ctx)
	}
}

// onEnded counts an answered call that is over.
func (t *Trunks) onEnded(ctx actor.Context, m *CallEnded) {
	now := time.Now()
	t.spend.ended(m.CallID, m.Talked, !m.TransferLeg, now)
	t.keeper.wake(ctx)
	if b := t.trunks.byID(m.TrunkID); b != nil {
		t.markChanged(ctx, b)
		b.record.CountEnded(m.Talked, routing.ShortCallLimit(b.trunk.Alarms), now)
		t.alarms.check(ctx, b, now)
	}
	t.serve(ctx) // what the call had reserved is free
}

func (t *Trunks) onArrived(ctx actor.Context, m InboundCallArrived) {
	b := t.trunks.byID(m.TrunkID)
	switch {
	case b == nil:
		return
	case m.Refusal == "":
		b.arrived++
	default:
		b.refused[m.Refusal]++
	}
	t.markChanged(ctx, b)
}

// forgetCall frees the channels of a call and removes its waiting requests: its actor has stopped.
func (t *Trunks) forgetCall(call string) {
	t.waiting = slices.DeleteFunc(t.waiting, func(w waiter) bool { return w.want.CallID == call })
	t.channels.releaseAll(call)
}
