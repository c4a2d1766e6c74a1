package campaign

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/lifecycle"
)

const readLimit = 10 * time.Second

// advance does all that is possible now, commits what has gathered and sets the one wake-up.
func (a *Campaign) advance(ctx actor.Context) {
	if a.phase != ready {
		return
	}
	now := time.Now()
	a.dueChecks.Add(int64(a.open.closeLost(now) + a.abandoned.expire(now)))
	dialing := a.mayDial()
	if dialing {
		a.expirePending(ctx, now)
		a.probeEngines(ctx, now)
	} else {
		a.withdraw(ctx)
	}
	a.dropForbidden(ctx, now) // before the decision counts the contacts
	a.send(ctx, now)
	d := a.decide(ctx, now, dialing)
	a.commit(ctx, now)
	if a.phase == ready && a.canRetire() {
		a.retire(ctx)
		return
	}
	look := d.LookAt
	if a.phase == ready && dialing {
		if _, at := a.publisher.due(&a.rows.progress, now); a.commits.inFlight == nil {
			look = earlier(look, at)
		}
		if a.permits.requested > 0 {
			look = earlier(look, a.permits.repeatAt())
		}
		look = earlier(look, a.pending.waitingDue)
	}
	a.wakeUp.set(ctx, earlier(earlier(look, a.open.lostDue), a.abandoned.due), now)
}

// view is what the decision depends on.
func (a *Campaign) view(now time.Time) dialer.View {
	c, q := &a.rows.campaign, a.contacts
	v := dialer.View{
		Status: c.Status, Schedule: q.rules.Schedule(), Open: q.rules.Global(),
		Pacing: a.feedback.pacing(c), AutoComplete: c.AutoComplete, Begun: c.StartedAt != nil,
		LastSent: a.queue.lastSent, Ahead: a.commits.lookahead, Live: len(a.open.attempts), Held: len(a.abandoned.until), Queued: len(a.queue.attempts),
		Making: a.permits.requested + a.pending.count(), Asked: a.permits.requested,
		Idle: a.rows.progress.Remaining(), Ready: len(q.ready) + len(q.due), Retries: len(q.due),
		Unread: q.hasUnread(now), NextRetry: q.nextRetry(), NextDay: q.capped.first(), NextOpening: q.nextOpening(),
		TrunkUntil: a.trunks.until, SpendCap: a.trunks.spendCap, EngineUntil: a.feedback.engines.until, EngineOut: a.feedback.engines.failures > 0,
		StoreDown: a.commits.storeDown || a.phase != ready, Draining: a.isDraining(), Stopped: a.dialStop(),
	}
	if s := c.Schedule.Start; s != nil {
		v.Begins = c.Clock().Moment(*s)
	}
	if e := c.Schedule.End; e != nil {
		v.Ends = c.Clock().Moment(*e)
	}
	if b := a.commits.inFlight; b != nil {
		v.Making += len(b.opens)
	}
	return v
}

// dialStop is the reason of the operator's dial stop; "": none.
func (a *Campaign) dialStop() string {
	if a.cfg.Stopped == nil {
		return ""
	}
	return a.cfg.Stopped()
}

// mayDial says whether attempts are made and sent at all.
func (a *Campaign) mayDial() bool {
	return a.rows.running() && !a.isDraining() && a.dialStop() == ""
}

func (a *Campaign) isDraining() bool {
	return a.draining || a.cfg.Draining != nil && a.cfg.Draining()
}

// decide asks the dialer and starts what it decides.
func (a *Campaign) decide(ctx actor.Context, now time.Time, dialing bool) dialer.Decision {
	if dialing && a.contacts.rules.Global().Allows(now) && !a.commits.storeDown {
		a.contacts.fill(now)
		a.readBodies(ctx)
	}
	d := dialer.Next(a.view(now), now)
	a.contacts.observed.Meter.Look(d.Able(), now)
	switch d.Do {
	case dialer.Dial:
		a.permits.request(ctx, d.Count, len(a.contacts.due), now)
	case dialer.Begin:
		a.requests.queueOwn(lifecycle.Due, "", a.commits.inFlight)
	case dialer.Exhaust:
		a.requests.queueOwn(lifecycle.Exhaust, "", a.commits.inFlight)
	case dialer.Expire:
		a.requests.queueOwn(lifecycle.Expire, "", a.commits.inFlight)
	case dialer.Wait:
	}
	return d
}

// readBodies reads the contacts that are needed next.
func (a *Campaign) readBodies(ctx actor.Context) {
	indexes := a.contacts.bodies.startReading()
	if indexes == nil {
		return
	}
	r, c := a.reader(ctx), &a.rows.campaign
	e := eligibility{
		rules: a.contacts.rules, zones: a.contacts.bodies.zones, country: c.DefaultCountry,
		env: c.Environment, anyone: a.cfg.Calling == nil, lists: a.cfg.Lists, scrub: a.rows.scrub(),
	}
	if !e.anyone {
		e.calling = a.cfg.Calling()
	}
	contacts := a.contacts
	mailbox.Work(ctx, readLimit, func(bound context.Context) any {
		chunks, err := r.bodies(bound, indexes, e)
		return bodiesRead{contacts, chunks, err}
	})
}

func (a *Campaign) onBodiesRead(ctx actor.Context, m bodiesRead) {
	if m.of != a.contacts || a.phase != ready {
		return
	}
	switch {
	case m.err == nil:
		a.contacts.bodies.endReading(m.chunks)
		return
	case errors.Is(m.err, domain.ErrNotFound):
		a.log.Error("contacts are missing in the store", slog.Any("error", m.err))
	default:
		a.log.Warn("contacts could not be read", slog.Any("error", m.err))
	}
	a.contacts.bodies.reading = false
	a.onReadFailure(ctx)
}

// onPermit takes a permit: the next contact is chosen, and a trunk slot requested for it.
func (a *Campaign) onPermit(ctx actor.Context, m lines.Permit) {
	now := time.Now()
	if !a.permits.accept(m) {
		a.permits.giveBack(ctx, m)
		return
	}
	who, ok := a.contacts.next(now)
	if !ok {
		a.permits.giveBack(ctx, m)
		return
	}
	t := &pendingAttempt{callID: mailbox.NewID(domain.PrefixCall), candidate: who, permit: m}
	a.pending.addWaiting(t)
	ctx.Request(a.cfg.Trunks, trunk.Want{
		To: who.contact.Phone, From: a.rows.campaign.CallerID.Number, Environment: a.rows.campaign.Environment, CallID: t.callID,
		Generation: a.permits.generation, Checked: a.cfg.Calling != nil, Probes: true,
	})
}

// onSlot takes a trunk slot, and requests the number.
func (a *Campaign) onSlot(ctx actor.Context, m trunk.Slot) {
	t := a.pending.takeWaiting(m.CallID)
	if t == nil {
		ctx.Send(a.cfg.Trunks, trunk.Return{CallID: m.CallID, Key: m.Key})
		return
	}
	t.slot, t.hasSlot = m, true
	if !a.isUsable(ctx, t) {
		return
	}
	if by, ok := a.numbers.check(t); !ok {
		a.skipPending(ctx, t, by, a.contacts.rulingOf(t.candidate.ordinal, by))
		return
	}
	if a.cfg.Numbers == nil {
		a.pending.addGranted(t)
		return
	}
	a.numbers.request(ctx, t)
	a.pending.addWaiting(t)
}

// isUsable gives a pending attempt back whose permit is about to expire or whose calling hours have closed.
func (a *Campaign) isUsable(ctx actor.Context, t *pendingAttempt) bool {
	now := time.Now()
	if t.permit.Expires.Before(now.Add(leaseMargin)) || !t.candidate.zone.window.Allows(now) {
		a.giveBack(ctx, t, now)
		return false
	}
	return true
}

func (a *Campaign) onNoSlot(ctx actor.Context, m trunk.NoSlot) {
	t := a.pending.takeWaiting(m.CallID)
	if t == nil {
		return
	}
	if m.Reason == trunk.Forbidden {
		a.skipPending(ctx, t, SkipInvalid, a.contacts.rulingOf(t.candidate.ordinal, SkipInvalid))
		return
	}
	now := time.Now()
	until := m.Until
	if !until.After(now) {
		until = now.Add(unsentPause)
	}
	a.trunks.extend(until, m.Reason == trunk.SpendCap)
	a.giveBack(ctx, t, now)
}

// onNumberGranted lets an attempt wait for its commit, if its calling hours are still open.
func (a *Campaign) onNumberGranted(ctx actor.Context, m numbers.Granted) {
	t, known := a.pending.takeRequested(m.CallID, m.Generation)
	if !known {
		ctx.Send(a.cfg.Numbers, numbers.Return{CallID: m.CallID})
		return
	}
	if t == nil || !a.isUsable(ctx, t) { // nil: a later request is answered as well
		return
	}
	t.grant = m
	a.pending.addGranted(t)
}

// onNumberDenied skips a contact, or holds it: if its number was called often enough today, until the number's next
// day.
func (a *Campaign) onNumberDenied(ctx actor.Context, m numbers.Denied) {
	t, _ := a.pending.takeRequested(m.CallID, m.Generation)
	if t == nil {
		return
	}
	t.numberRequested = false // there is nothing to return
	now, ordinal, ruling := time.Now(), t.candidate.ordinal, rulingOfDenial(m)
	if m.By == numbers.DNC {
		a.skipPending(ctx, t, SkipDNC, ruling)
		return
	}
	a.returnGrants(ctx, t)
	switch m.By {
	case numbers.Frequency:
		a.contacts.capped.add(ordinal, m.Until)
	case numbers.Busy:
		a.contacts.held.add(ordinal, now.Add(busyHold))
	case numbers.Unknown:
		a.contacts.held.add(ordinal, now.Add(unknownHold))
	case numbers.DNC:
	}
	a.decisions.addHold(ordinal, ruling, now)
}

// skipPending gives a pending attempt up and skips its contact.
func (a *Campaign) skipPending(ctx actor.Context, t *pendingAttempt, by Skip, ruling domain.Ruling) {
	a.returnGrants(ctx, t)
	a.contacts.exclude(skippedContact{t.candidate.ordinal, by, t.candidate.contact.Phone, ruling})
}

// giveBack gives a pending attempt up; its contact is the next in turn.
func (a *Campaign) giveBack(ctx actor.Context, t *pendingAttempt, now time.Time) {
	a.returnGrants(ctx, t)
	a.contacts.giveBack(t.candidate, now)
}

// returnGrants gives number, permit and slot of an attempt back.
func (a *Campaign) returnGrants(ctx actor.Context, t *pendingAttempt) {
	a.numbers.giveBack(ctx, t)
	a.permits.giveBack(ctx, t.permit)
	if t.hasSlot {
		ctx.Send(a.cfg.Trunks, trunk.Return{CallID: t.callID, Key: t.slot.Key})
	}
}

// withdraw gives all pending attempts and permit requests up.
func (a *Campaign) withdraw(ctx actor.Context) {
	now := time.Now()
	a.permits.withdraw(ctx)
	for _, t := range a.pending.takeAll() {
		a.giveBack(ctx, t, now)
	}
}

// expirePending gives pending attempts up whose permit has expired, and repeats requests that were not answered.
func (a *Campaign) expirePending(ctx actor.Context, now time.Time) {
	expire := func(t *pendingAttempt) { a.giveBack(ctx, t, now) }
	checked := a.pending.checkWaiting(now, expire, func(t *pendingAttempt) { a.numbers.request(ctx, t) })
	checked += a.pending.checkGranted(now, expire)
	a.dueChecks.Add(int64(checked))
	a.permits.repeat(ctx, len(a.contacts.due), now)
}

// dropForbidden gives granted attempts up whose contacts may not be called any more, however long they wait for a
// commit.
func (a *Campaign) dropForbidden(ctx actor.Context, now time.Time) {
	if a.commits.inFlight != nil {
		return
	}
	a.pending.dropGranted(func(t *pendingAttempt) bool {
		allowed := a.numbers.stillAllowed(t, now)
		if !allowed {
			a.giveBack(ctx, t, now)
		}
		return !allowed
	})
}

// send starts the calls of committed attempts, as far as the pace allows. Once the campaign has stopped, they are
// closed instead.
func (a *Campaign) send(ctx actor.Context, now time.Time) {
	if !a.mayDial() {
		for _, t := range a.queue.takeAll() {
			a.closeUnsent(ctx, t, now)
		}
		return
	}
	interval := a.feedback.interval(&a.rows.campaign)
	for {
		t, wait := a.queue.next(interval, now)
		if wait > 0 {
			a.queue.startTimer(ctx, wait)
		}
		if t == nil {
			return
		}
		if !a.numbers.stillAllowed(t, now) { // its hours closed during the commit, or a list names it now
			a.closeUnsent(ctx, t, now)
			continue
		}
		a.queue.lastSent = now
		a.contacts.observed.Meter.Sent()
		a.startCall(ctx, t)
	}
}

func (a *Campaign) startCall(ctx actor.Context, t *pendingAttempt) {
	c, campaign := t.call, &a.rows.campaign
	c.Legs = slices.Clone(c.Legs)
	ctx.Request(a.cfg.Calls, call.Start{
		Call: c, Attempt: t.row, Script: *a.script.current, CallerID: campaign.CallerID.Number, CallerName: campaign.CallerID.Name,
		OptOut: a.rows.optOutKeywords(), Scrub: a.rows.scrub(),
		Variables: map[string]string{"campaign_name": campaign.Name},
		Permit:    t.permit, Slot: t.slot, RingTimeout: a.cfg.RingTimeout, MaxDuration: a.cfg.MaxDuration, Owner: ctx.Self(),
	})
}

// closeUnsent closes a committed attempt without an INVITE.
func (a *Campaign) closeUnsent(ctx actor.Context, t *pendingAttempt, now time.Time) {
	a.returnGrants(ctx, t)
	a.open.closeUnsent(t.attemptRows, now)
}

// releaseAll gives back all that other actors count.
func (a *Campaign) releaseAll(ctx actor.Context) {
	a.wakeUp.stop()
	a.withdraw(ctx)
	a.queue.timer++
	for _, t := range a.queue.takeAll() {
		a.returnGrants(ctx, t)
	}
}
