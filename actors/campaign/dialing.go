package campaign

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/lifecycle"
)

const readLimit = 10 * time.Second

// advance performs all actions that are due now, commits the collected changes, and sets the timer for the next action.
func (a *Campaign) advance(ctx actor.Context) {
	if a.phase != ready {
		return
	}
	now := time.Now()
	a.dueChecks.Add(int64(a.open.closeLost(now) + a.abandoned.expire(now)))
	dialing := a.mayDial()
	if dialing {
		a.dueChecks.Add(int64(a.preparation.expirePending(ctx, now)))
		a.probeEngines(ctx, now)
	} else {
		a.preparation.withdraw(ctx)
	}
	if a.commits.inFlight == nil { // must happen before the decision counts the contacts
		a.preparation.dropForbidden(ctx, now)
	}
	a.send(ctx, now)
	d := a.decide(ctx, now, dialing)
	a.commit(ctx, now)
	if a.phase == ready && a.canRetire() {
		a.retire(ctx)
		return
	}
	look := d.NextCheck
	if a.phase == ready && dialing {
		if _, at := a.publisher.due(&a.rows.progress, now); a.commits.inFlight == nil {
			look = earlier(look, at)
		}
		if a.preparation.permits.requested > 0 {
			look = earlier(look, a.preparation.permits.repeatAt())
		}
		look = earlier(look, a.preparation.pending.waitingDue)
	}
	a.wakeUp.set(ctx, earlier(earlier(look, a.open.lostDue), a.abandoned.due), now)
}

// view returns the campaign's state as input for the decision of package dialer.
func (a *Campaign) view(now time.Time) dialer.CampaignView {
	c, q := &a.rows.campaign, a.contacts
	v := dialer.CampaignView{
		Status: c.Status, Schedule: q.rules.ScheduleWindow(), OpenHours: q.rules.GlobalWindow(),
		Pacing: a.feedback.pacing(c), AutoComplete: c.AutoComplete, HasRun: c.StartedAt != nil,
		LastSent: a.queue.lastSent, Lookahead: a.commits.lookahead, OpenAttempts: len(a.open.attempts), AbandonedDialogs: len(a.abandoned.until), UnsentAttempts: len(a.queue.attempts),
		PendingAttempts: a.preparation.permits.requested + a.preparation.pending.count(), PermitRequests: a.preparation.permits.requested,
		Remaining: a.rows.progress.Remaining(), ReadyContacts: len(q.ready) + len(q.due), DueRetries: len(q.due),
		HasUnread: q.hasUnread(now), NextRetry: q.nextRetry(), NextDay: q.capped.first(), NextOpening: q.nextOpening(),
		TrunkUntil: a.preparation.trunks.until, SpendCap: a.preparation.trunks.spendCap, EngineUntil: a.feedback.engines.until, EngineFailed: a.feedback.engines.failures > 0,
		StoreDown: a.commits.storeDown || a.phase != ready, Draining: a.isDraining(), DialStop: a.cfg.dialStop(),
	}
	if s := c.Schedule.Start; s != nil {
		v.ScheduleStart = c.Clock().RealTime(*s)
	}
	if e := c.Schedule.End; e != nil {
		v.ScheduleEnd = c.Clock().RealTime(*e)
	}
	if b := a.commits.inFlight; b != nil {
		v.PendingAttempts += len(b.opens)
	}
	return v
}

// mayDial reports whether the campaign may currently prepare and send attempts.
func (a *Campaign) mayDial() bool {
	return a.rows.isRunning() && !a.isDraining() && a.cfg.dialStop() == ""
}

func (a *Campaign) isDraining() bool {
	return a.draining || a.cfg.Draining != nil && a.cfg.Draining()
}

// decide lets package dialer choose the next action, starts that action, and returns the decision.
func (a *Campaign) decide(ctx actor.Context, now time.Time, dialing bool) dialer.Decision {
	if dialing && a.contacts.rules.GlobalWindow().Allows(now) && !a.commits.storeDown {
		a.contacts.fill(now)
		a.readContacts(ctx)
	}
	d := dialer.Next(a.view(now), now)
	a.contacts.observed.Throughput.SetReady(d.IsReady(), now)
	switch d.Action {
	case dialer.Dial:
		a.preparation.permits.request(ctx, d.Count, len(a.contacts.due), now)
	case dialer.StartRunning:
		a.requests.queueOwn(lifecycle.Due, "", a.commits.inFlight)
	case dialer.CompleteExhausted:
		a.requests.queueOwn(lifecycle.Exhaust, "", a.commits.inFlight)
	case dialer.CompleteExpired:
		a.requests.queueOwn(lifecycle.Expire, "", a.commits.inFlight)
	case dialer.Wait:
	}
	return d
}

// readContacts starts to read the missing chunks of contacts, unless a read is in progress.
func (a *Campaign) readContacts(ctx actor.Context) {
	indexes := a.contacts.cache.startReading()
	if indexes == nil {
		return
	}
	r, c := newReader(ctx, &a.cfg, a.rows.progress.Edits > 0), &a.rows.campaign
	e := eligibilityRules{
		rules: a.contacts.rules, zones: a.contacts.cache.zones, country: c.DefaultCountry,
		env: c.Environment, anyDestination: a.cfg.DestinationRules == nil, lists: a.cfg.DNCRegistry, scrub: a.rows.scrub(),
	}
	if !e.anyDestination {
		e.destinations = a.cfg.DestinationRules()
	}
	contacts := a.contacts
	mailbox.RunTask(ctx, readLimit, func(bound context.Context) any {
		chunks, err := r.contacts(bound, indexes, e)
		return contactsRead{contacts, chunks, err}
	})
}

func (a *Campaign) onContactsRead(ctx actor.Context, m contactsRead) {
	if m.of != a.contacts || a.phase != ready {
		return
	}
	switch {
	case m.err == nil:
		a.contacts.cache.endReading(m.chunks)
		return
	case errors.Is(m.err, domain.ErrNotFound):
		a.log.Error("contacts are missing in the store", slog.Any("error", m.err))
	default:
		a.log.Warn("contacts could not be read", slog.Any("error", m.err))
	}
	a.contacts.cache.reading = false
	a.onReadFailure(ctx)
}

// send starts the calls of committed attempts as far as the pacing allows. If the campaign may not dial any more, it closes
// the attempts instead.
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
		if !a.preparation.numbers.stillAllowed(t, now) { // calling hours closed or a list changed during the commit
			a.closeUnsent(ctx, t, now)
			continue
		}
		a.queue.lastSent = now
		a.contacts.observed.Throughput.AddAttempt()
		a.startCall(ctx, t)
	}
}

func (a *Campaign) startCall(ctx actor.Context, t *pendingAttempt) {
	c, campaign := t.call, &a.rows.campaign
	c.Legs = slices.Clone(c.Legs)
	ctx.Request(a.cfg.Calls, call.StartOutbound{
		Call: c, Attempt: t.row, Script: *a.script.current, CallerID: campaign.CallerID.Number, CallerName: campaign.CallerID.Name,
		OptOut: a.rows.optOutKeywords(), Scrub: a.rows.scrub(),
		Variables: map[string]string{"campaign_name": campaign.Name},
		Permit:    t.permit, Slot: t.slot, RingTimeout: a.cfg.RingTimeout, MaxDuration: a.cfg.MaxDuration, Owner: ctx.Self(),
	})
}

// closeUnsent closes a committed attempt whose INVITE is not sent.
func (a *Campaign) closeUnsent(ctx actor.Context, t *pendingAttempt, now time.Time) {
	a.preparation.returnGrants(ctx, t)
	a.open.closeUnsent(t.attemptRows, now)
}

// releaseAll stops the timers and returns all permits, trunk slots and number grants of attempts that are not sent yet.
func (a *Campaign) releaseAll(ctx actor.Context) {
	a.wakeUp.stop()
	a.preparation.withdraw(ctx)
	a.queue.timer++
	for _, t := range a.queue.takeAll() {
		a.preparation.returnGrants(ctx, t)
	}
}
