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

// defaultMaxWait is the default of RequestSlot.MaxWait. It is shorter than the time after which an unused call permit
// expires.
const defaultMaxWait = 5 * time.Second

// Config configures the trunks of a workspace. Only Trunks and Log are required.
type Config struct {
	Trunks          []domain.Trunk
	TestCarrier     func() (resolve.Target, bool)                                                     // returns the address of the built-in test carrier
	Workspace       func() *domain.Workspace                                                          // returns the workspace whose rules apply; nil: none
	Resolve         func(context.Context, resolve.Target) ([]resolve.Target, error)                   // resolves a host name, best address first; nil: the SIP stack resolves it for each call
	Ping            func(context.Context, domain.Environment, resolve.Target) (sip.PingResult, error) // sends OPTIONS; nil: targets are not pinged
	Register        func(sipregistration.Config) (*sipregistration.Registration, error)               // starts a registration; nil: trunks do not register
	ReadLedgerSpend func(ctx context.Context, since time.Time) (domain.Amount, error)                 // returns the sum of the billing ledger since a time; nil: 0
	SendAlarm       func(ctx context.Context, a Alarm)                                                // receives alarms, outside the actor; nil: alarms are not sent
	// LoadSpending returns the spending that SaveStates stored last. It may be nil if no spending is stored.
	LoadSpending func(ctx context.Context) (domain.Spending, error)
	// LoadStates returns all trunk states that SaveStates has stored. It may be nil if no states are stored.
	LoadStates func(ctx context.Context) ([]domain.TrunkState, error)
	// SaveStates stores trunk states and spending, and deletes the states of the deleted trunks gone, in one commit. It
	// runs in a background goroutine. If s is nil, the stored spending stays. If SaveStates is nil, nothing is stored.
	SaveStates func(ctx context.Context, states []domain.TrunkState, gone []string, s *domain.Spending) error
	Log        *slog.Logger
}

// Trunks is the actor that grants trunk slots to calls. Its components manage the states of trunks, the channels of
// calls, today's spending, alarms and registrations.
type Trunks struct {
	cfg    Config
	trunks trunkList

	waiting     []waitingRequest
	generation  int // number of the last timer for waiting requests
	cancelTimer func()
	wakeAt      time.Time // time at which the timer fires, while cancelTimer is set

	channels    callChannels
	callByPID   map[string]string     // call ID by PID of the call actor
	actorByCall map[string]*actor.PID // call actor by call ID

	spend         spendLedger
	monitor       targetMonitor
	alarms        trunkAlarms
	registrations registrations
	keeper        stateKeeper
}

type waitingRequest struct {
	request   RequestSlot
	routes    []*trunkState
	requester *actor.PID
	deadline  time.Time
}

// New returns a trunks actor that has not been started.
func New(cfg Config) actor.Actor {
	t := &Trunks{
		cfg: cfg, callByPID: make(map[string]string), actorByCall: make(map[string]*actor.PID), spend: spendLedger{meters: make(map[string]*meter)},
		monitor: targetMonitor{resolvedAt: make(map[string]time.Time), pingedAt: make(map[string]time.Time)},
		alarms:  trunkAlarms{send: cfg.SendAlarm, sentAt: make(map[string]time.Time)}, keeper: stateKeeper{disabled: cfg.SaveStates == nil},
		registrations: registrations{register: cfg.Register, log: cfg.Log, byTrunk: make(map[string]registrationChild)},
	}
	t.channels = callChannels{byCall: make(map[string]*channelsOfCall), spend: &t.spend}
	return t
}

// Receive dispatches the messages of the actor.
func (t *Trunks) Receive(ctx actor.Context) { //nolint:funlen // the table of contents
	switch m := ctx.Message().(type) {
	case *actor.Started:
		t.setTrunks(ctx, t.cfg.Trunks)
		t.readSpend(ctx)
		t.readStates(ctx)
	case *actor.Stopping:
		t.monitor.stop()
	case RequestSlot:
		t.onRequestSlot(ctx, m)
	case CheckDestination:
		t.onCheckDestination(ctx, m)
	case ReserveSMS, SettleSMS:
		t.onSMS(ctx, m)
	case BindCall:
		t.bindCall(ctx, m)
	case ReturnSlot:
		t.channels.release(m.CallID, m.Key)
		t.serveWaiting(ctx)
	case LegResult:
		t.onLegResult(ctx, &m)
	case ProbeRinging:
		t.onProbeRinging(ctx, m)
	case CallEnded:
		t.onCallEnded(ctx, &m)
	case InboundCallArrived:
		t.onInboundCallArrived(ctx, m)
	case SetTrunks:
		t.setTrunks(ctx, m.Trunks)
		t.rerouteWaiting(ctx)
	case HoldChannel:
		if b := t.trunks.byID(m.TrunkID); b != nil {
			t.channels.addHeld(m.CallID, b)
		}
	case ResumeMeter:
		t.resumeMeter(ctx, m)
	case ReleaseCall:
		t.releaseCall(m.CallID)
		t.serveWaiting(ctx)
	case FlushStates:
		t.keeper.flushRequesters = append(t.keeper.flushRequesters, ctx.Sender())
		t.saveStates(ctx)
	case GetHealth, CountRecentCalls, CountHeld:
		t.answerState(ctx)
	case wakeUp:
		if m.generation == t.generation {
			t.cancelTimer = nil
			t.serveWaiting(ctx)
		}
	case *actor.Terminated:
		if call, ok := t.callByPID[m.Who.Id]; ok {
			delete(t.callByPID, m.Who.Id)
			delete(t.actorByCall, call)
			t.releaseCall(call)
			t.serveWaiting(ctx)
		}
	default:
		t.receiveOwn(ctx)
	}
}

// answerState answers the requests that read the state of the actor.
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

// countHeld counts the channels, calls and waiting requests that the actor holds.
func (t *Trunks) countHeld() HeldCounts {
	now := HeldCounts{Holding: len(t.channels.byCall), WatchedActors: len(t.callByPID), Meters: len(t.spend.meters), Waiting: len(t.waiting)}
	for _, b := range t.trunks.states {
		now.Channels += b.channels
	}
	return now
}

// receiveOwn handles the messages that the actor's background tasks, timers and child actors send.
func (t *Trunks) receiveOwn(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case checkTargetsDue:
		if m.generation == t.monitor.generation {
			t.checkTargets(ctx)
		}
	case targetsResolved:
		t.onTargetsResolved(ctx, m)
	case targetsPinged:
		t.onTargetsPinged(ctx, m)
	case Registered:
		t.registrations.update(t.trunks.byID(m.TrunkID), m.State)
	case statesRead:
		t.onStatesRead(ctx, m)
	case saveStatesDue:
		if m.generation == t.keeper.generation {
			t.keeper.timerSet = false
			t.saveStates(ctx)
		}
	case statesSaved:
		t.onStatesSaved(ctx, m)
	case spendReadDue:
		t.readSpend(ctx)
	case spendRead:
		t.onSpendRead(ctx, m)
	case reserveMinutes:
		t.reserveMinutes(ctx)
	case mailbox.TaskPanicked:
		t.cfg.Log.Error("background work of trunks panicked", slog.Any("reason", m.Value), slog.String("stack", m.Stack))
	}
}

func (t *Trunks) setTrunks(ctx actor.Context, trunks []domain.Trunk) {
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
			t.monitor.removeTrunk(tr.ID)
		}
		b.setTrunk(tr)
		t.trunks.add(b)
	}
	for id := range old {
		t.monitor.removeTrunk(id)
		t.keeper.deleteTrunk(id)
	}
	t.registrations.set(ctx, t.trunks.states)
	t.checkTargets(ctx)
}

func (t *Trunks) onRequestSlot(ctx actor.Context, w RequestSlot) {
	now := time.Now()
	if err, until := t.checkRules(&w, 0, now); err != nil {
		reason := string(err.Code)
		if err.Code == domain.CodeUnavailable {
			reason = ReasonThrottled
		}
		ctx.Send(ctx.Sender(), SlotDenied{CallID: w.CallID, Reason: reason, Err: err, Until: until, Generation: w.Generation})
		return
	}
	if w.MaxWait <= 0 {
		w.MaxWait = defaultMaxWait
	}
	routes, refused := t.trunks.routes(w)
	if e, ok := errors.AsType[*domain.Error](refused); ok {
		reason := ReasonForbidden
		_, rewriting := errors.AsType[*domain.RewriteError](refused)
		if rewriting || e.Code == domain.CodeCallerIDRequired || e.Code == domain.CodeCallerIDNotAllowed {
			reason = ReasonNoTrunk // a fault of the trunk's settings: the number itself may be called
		}
		ctx.Send(ctx.Sender(), SlotDenied{CallID: w.CallID, Reason: reason, Err: e, Generation: w.Generation})
		return
	}
	one := waitingRequest{request: w, routes: routes, requester: ctx.Sender(), deadline: now.Add(w.MaxWait)}
	if !t.answerRequest(ctx, one, now) {
		t.waiting = append(t.waiting, one)
		t.scheduleWakeUp(ctx, now)
	}
}

// serveWaiting answers those waiting slot requests that can be answered now, in the order of their arrival.
func (t *Trunks) serveWaiting(ctx actor.Context) {
	now := time.Now()
	t.waiting = slices.DeleteFunc(t.waiting, func(w waitingRequest) bool { return !w.isBlocked(now) && t.answerRequest(ctx, w, now) })
	t.scheduleWakeUp(ctx, now)
}

// rerouteWaiting selects the possible trunks of waiting slot requests again after the trunks have changed.
func (t *Trunks) rerouteWaiting(ctx actor.Context) {
	now := time.Now()
	for i := range t.waiting {
		t.waiting[i].routes, _ = t.trunks.routes(t.waiting[i].request) // without routes the next answer is SlotDenied with ReasonNoTrunk
	} // without routes the request is denied with ReasonNoTrunk
	t.waiting = slices.DeleteFunc(t.waiting, func(w waitingRequest) bool { return t.answerRequest(ctx, w, now) })
	t.scheduleWakeUp(ctx, now)
}

// isBlocked reports whether a slot request must keep waiting: no possible trunk has capacity, and some may have
// capacity before the deadline. It is cheaper than answerRequest.
func (w *waitingRequest) isBlocked(now time.Time) bool {
	if len(w.routes) == 0 || !now.Before(w.deadline) {
		return false
	}
	for _, b := range w.routes {
		until, why := b.blockedReason(now)
		if why == "" || (why == ReasonThrottled && !until.Before(w.deadline)) {
			return false
		}
	}
	return true
}

// scheduleWakeUp sets the timer to the next time at which a waiting slot request may be answered.
func (t *Trunks) scheduleWakeUp(ctx actor.Context, now time.Time) {
	if len(t.waiting) == 0 {
		if t.cancelTimer != nil {
			t.cancelTimer()
			t.cancelTimer = nil
		}
		return
	}
	at := t.waiting[0].deadline
	for _, b := range t.trunks.states {
		if b.nextSlotTime.After(now) && b.nextSlotTime.Before(at) {
			at = b.nextSlotTime
		}
		if b.backoffUntil.After(now) && b.backoffUntil.Before(at) {
			at = b.backoffUntil
		}
		for i := range b.routingTargets {
			if rests := b.routingTargets[i].RestsUntil; rests.After(now) && rests.Before(at) {
				at = rests
			}
		}
	}
	if t.cancelTimer != nil {
		if at.Equal(t.wakeAt) {
			return
		}
		t.cancelTimer()
	}
	t.generation++
	t.wakeAt = at
	t.cancelTimer = mailbox.SendAfter(ctx, max(at.Sub(now), time.Millisecond), wakeUp{t.generation})
}

// answerRequest sends Slot or SlotDenied to the requester. It returns false if the request has to wait. A target that
// failed recently is used only if no other trunk has a working target.
func (t *Trunks) answerRequest(ctx actor.Context, one waitingRequest, now time.Time) bool {
	w := one.request
	verdict := SlotDenied{CallID: w.CallID, Reason: ReasonNoTrunk, Generation: w.Generation}
	var last Slot
	var of *trunkState
	limit := spendCapOf(t.cfg.workspace(), w.Environment)
	for _, b := range one.routes {
		if limit != nil && !t.spend.affords(limit, t.cfg.initialReservation(b, w.To), now) {
			verdict.useStrongerReason(ReasonSpendCap, time.Time{})
			continue
		}
		slot, rests, ok := t.nextTarget(b, &w, now)
		switch {
		case !ok && rests.IsZero():
			verdict.useStrongerReason(ReasonExhausted, time.Time{})
			continue
		case !ok:
			verdict.useStrongerReason(ReasonThrottled, rests)
			continue
		}
		if until, why := b.blockedReason(now); why != "" {
			verdict.useStrongerReason(why, until)
			continue
		}
		if b.targetWorks(slot.Key, &w, now) {
			t.grantSlot(ctx, &one, b, slot, now)
			return true
		}
		if of == nil {
			of, last = b, slot
		}
	}
	if of != nil {
		t.grantFailedTarget(ctx, &one, of, last, now)
		return true
	}
	verdict.AllTargetsOut = len(one.routes) > 0 && !slices.ContainsFunc(one.routes, func(b *trunkState) bool { return !b.allTargetsOut(now) })
	soon := verdict.Reason == ReasonChannels || (!verdict.Until.IsZero() && verdict.Until.Before(one.deadline))
	if soon && now.Before(one.deadline) {
		return false
	}
	if verdict.Reason == ReasonSpendCap {
		verdict.Err, verdict.Until = t.spend.refuseByCap(limit, now)
	}
	ctx.Send(one.requester, verdict)
	return true
}

// grantFailedTarget grants a slot for a target that failed recently. If the request has MayProbe and all targets of
// the trunk fail, only one call at a time gets the slot, at growing intervals.
func (t *Trunks) grantFailedTarget(ctx actor.Context, one *waitingRequest, b *trunkState, slot Slot, now time.Time) {
	if one.request.MayProbe && b.allTargetsOut(now) {
		if until := b.probe.waitUntil(now); !until.IsZero() {
			ctx.Send(one.requester, SlotDenied{CallID: slot.CallID, Reason: ReasonOut, Until: until, AllTargetsOut: true, Generation: one.request.Generation})
			return
		}
		b.probe.call, slot.Probe = slot.CallID, true
	}
	t.grantSlot(ctx, one, b, slot, now)
}

func (t *Trunks) grantSlot(ctx actor.Context, one *waitingRequest, b *trunkState, slot Slot, now time.Time) {
	b.takeSlot(now)
	c := channel{state: b, trunk: b.trunk, key: slot.Key}
	if one.request.Environment == domain.Live {
		c.reserved = t.cfg.initialReservation(b, one.request.To)
	}
	t.channels.add(slot.CallID, one.request.To, c)
	ctx.Send(one.requester, slot)
}

// useStrongerReason replaces the reason of the denial if the new reason ranks higher. Temporary reasons rank higher than
// permanent ones. Of two equal reasons it keeps the earlier time.
func (n *SlotDenied) useStrongerReason(reason string, until time.Time) {
	rank := map[string]int{ReasonNoTrunk: 0, ReasonExhausted: 1, ReasonSpendCap: 2, ReasonChannels: 3, ReasonThrottled: 4}
	switch {
	case rank[reason] > rank[n.Reason]:
		n.Reason, n.Until = reason, until
	case reason == n.Reason && until.Before(n.Until):
		n.Until = until
	}
}

func (t *Trunks) bindCall(ctx actor.Context, m BindCall) {
	if _, known := t.callByPID[m.Call.Id]; known {
		return
	}
	t.callByPID[m.Call.Id], t.actorByCall[m.CallID] = m.CallID, m.Call
	ctx.Watch(m.Call)
}

// onLegResult updates the health, alarms and spending of a trunk from the result of a leg.
func (t *Trunks) onLegResult(ctx actor.Context, m *LegResult) {
	now := time.Now()
	t.chargeResult(ctx, m, now)
	if b := t.trunks.byID(m.TrunkID); b != nil {
		b.applyResult(m, now)
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
		t.serveWaiting(ctx)
	}
}

// onProbeRinging marks a trunk as working, because its probe call rings.
func (t *Trunks) onProbeRinging(ctx actor.Context, m ProbeRinging) {
	if b := t.trunks.byID(m.TrunkID); b != nil {
		b.markWorking(m.Key)
		t.markChanged(ctx, b)
		t.serveWaiting(ctx)
	}
}

// onCallEnded adds the duration of an answered call to the statistics of its trunk and to the spending.
func (t *Trunks) onCallEnded(ctx actor.Context, m *CallEnded) {
	now := time.Now()
	t.spend.stopMeter(m.CallID, m.Talked, !m.TransferLeg, now)
	t.keeper.scheduleSave(ctx)
	if b := t.trunks.byID(m.TrunkID); b != nil {
		t.markChanged(ctx, b)
		b.statistics.CountEnded(m.Talked, routing.ShortCallLimit(b.trunk.Alarms), now)
		t.alarms.check(ctx, b, now)
	}
	t.serveWaiting(ctx) // the reservation of the call is released
}

func (t *Trunks) onInboundCallArrived(ctx actor.Context, m InboundCallArrived) {
	b := t.trunks.byID(m.TrunkID)
	switch {
	case b == nil:
		return
	case m.Refusal == "":
		b.inboundCalls++
	default:
		b.inboundRefusals[m.Refusal]++
	}
	t.markChanged(ctx, b)
}

// releaseCall releases the channels of a call and removes its waiting slot requests.
func (t *Trunks) releaseCall(call string) {
	t.waiting = slices.DeleteFunc(t.waiting, func(w waitingRequest) bool { return w.request.CallID == call })
	t.channels.releaseAll(call)
}
