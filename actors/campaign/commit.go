package campaign

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/lifecycle"
)

// What one commit takes at most; the rest rides in the next.
const (
	maxOpens = 256
	maxEnds  = 256
	maxSkips = 2000
	// mostConflicts in a row are read again at once, those after them as a
	// store that fails.
	mostConflicts = 8
)

// batch is the one commit that is in flight, and what follows from it.
type batch struct {
	change    commit.Change
	campaign  *domain.Campaign // where its row changes
	pin       *domain.PinnedScript
	progress  domain.Progress
	deltas    []delta
	decisions []domain.Decision
	opens     []*try
	ends      []call.Ended
	skips     []skip
	revisions []revision
	op        *operation
	riders    []*commit.Rider
	begun     time.Time
	now       time.Time // begun, by the clock that nobody sets
}

// delta is the new state of a contact.
type delta struct {
	ordinal  int
	state    domain.ContactState
	attempts byte
	retryAt  time.Time
	duration int
	zone     *zone // nil: not known
}

// skip is a contact that a rule takes out.
type skip struct {
	ordinal int
	by      Skip
	phone   string
	why     domain.Ruling
}

func (b *batch) tell(a *Campaign, t event.Type, data any) {
	unit := a.campaign.AgentID
	if unit == "" {
		unit = a.cfg.Workspace
	}
	b.change.Events = append(b.change.Events, event.Draft{
		ID: mailbox.NewID(domain.PrefixEvent), Type: t, CreatedAt: b.begun, WorkspaceID: a.cfg.Workspace,
		Environment: a.campaign.Environment, SvcID: domain.Unit(unit), Subject: a.campaign.ID, Data: data,
	})
}

// board takes the row of the audit log along that tells of what is done.
func (b *batch) board(r *commit.Rider) {
	if r != nil {
		b.riders = append(b.riders, r)
		b.put(r.Row())
	}
}

func (b *batch) put(r domain.Record) { b.change.Puts = append(b.change.Puts, r) }

// commit gathers what has to be durable and sends it off; while it is on its
// way, the next gathers.
func (a *Campaign) commit(ctx actor.Context, now time.Time) {
	if a.phase != ready || a.flight != nil {
		return
	}
	op, to := a.nextOperation(ctx, now)
	told, _ := dialer.Tell(&a.progress, a.changed, now)
	told = told && a.campaign.Status == domain.CampaignRunning
	a.revisable(ctx)
	if op == nil && len(a.revisions) == 0 && len(a.made) == 0 && len(a.ends) == 0 && len(a.skips) == 0 && !told {
		return
	}
	b := &batch{progress: a.progress, begun: now.UTC(), now: now}
	b.change.Workspace = a.cfg.Workspace
	b.progress.Outcomes = maps.Clone(a.progress.Outcomes)
	if op != nil {
		a.enact(b, op, to, b.begun)
		b.change.Reserved = op.stops()
	}
	a.revising(b)
	a.opening(b)
	a.ending(b)
	a.skipping(b)
	a.telling(b)
	a.finish(b)
	a.flight = b
	a.generation++
	store, change, generation := a.cfg.Store, b.change, a.generation
	mailbox.Work(ctx, commitLimit, func(bound context.Context) any {
		_, err := store.Apply(bound, change)
		return committed{generation, err}
	})
}

// opening opens the attempts that are made: nothing but the gate stands
// between this commit and their INVITE.
func (a *Campaign) opening(b *batch) {
	if b.op != nil && b.campaign.Status != domain.CampaignRunning {
		return // they are given up by advance
	}
	n := min(len(a.made), maxOpens)
	b.opens = a.made[:n:n]
	a.made = a.made[n:]
	interval := dialer.Interval(a.tempo.Of(a.campaign.Paced()))
	due := later(a.lastSent.Add(interval*time.Duration(len(a.gate)+1)), b.begun)
	for i, t := range b.opens {
		a.describe(t, b.begun)
		number := t.row.Number
		d := delta{ordinal: t.who.ordinal, state: domain.ContactOpen, attempts: byte(min(number, 255)), zone: t.who.zone} //nolint:gosec // bounded
		b.deltas = append(b.deltas, d)
		if number == 1 {
			b.progress.Attempted++
		}
		if t.who.retry {
			b.progress.Waits--
			b.put(&domain.ContactResult{
				CampaignID: a.campaign.ID, WorkspaceID: a.cfg.Workspace, Ordinal: d.ordinal, State: d.state.String(),
				Attempts: number, CallID: t.id, Duration: a.people.durations[d.ordinal],
			})
		}
		b.progress.InProgress++
		b.progress.LastOpenAt = due.Add(interval * time.Duration(i)).UTC()
		b.change.Guards = append(b.change.Guards, commit.Absent(t.row.Key()))
		b.change.Guards = append(b.change.Guards, t.grant.Guards...)
		b.change.Puts = append(b.change.Puts, t.grant.Puts...)
		b.decisions = append(b.decisions, a.dialled(t, b.begun))
		b.put(&t.row)
		b.put(&t.call)
		b.change.Events = append(b.change.Events, event.Draft{
			ID: mailbox.NewID(domain.PrefixEvent), Type: event.CallStarted, CreatedAt: b.begun, WorkspaceID: a.cfg.Workspace,
			Environment: t.call.Environment, SvcID: a.script.UnitID, Subject: t.id, Data: event.CallOf(&t.call),
		})
	}
}

// ending closes attempts: the call, the contact, the counters and the bill.
func (a *Campaign) ending(b *batch) {
	n := min(len(a.ends), maxEnds)
	b.ends = a.ends[:n:n]
	a.ends = a.ends[n:]
	status := a.campaign.Status
	if b.campaign != nil {
		status = b.campaign.Status
	}
	for _, e := range b.ends {
		t := a.open[e.AttemptID]
		ordinal := t.row.Ordinal
		common := call.EndChange(e, b.begun)
		b.change.Guards = append(b.change.Guards, common.Guards...)
		b.change.Puts = append(b.change.Puts, common.Puts...)
		b.change.Adds = append(b.change.Adds, common.Adds...)
		b.change.Deletes = append(b.change.Deletes, common.Deletes...)
		b.change.Events = append(b.change.Events, common.Events...)

		spent := int(a.people.attempts[ordinal])
		b.progress.InProgress--
		if !e.Verdict.Spent() {
			if spent--; spent == 0 {
				b.progress.Attempted--
			}
		} else {
			b.progress.Attempts++
		}
		fate := a.fate(e, status, spent, b.begun)
		d := delta{ordinal: ordinal, state: fate.State, attempts: byte(spent), retryAt: fate.RetryAt, duration: a.people.durations[ordinal], zone: t.zone} //nolint:gosec // 0 to 255
		if e.Call.AnsweredAt != nil {
			d.duration = e.Call.DurationSeconds
		}
		if !d.retryAt.IsZero() { // it is waited for by a clock that nobody sets
			d.retryAt = b.now.Add(fate.RetryAt.Sub(b.begun))
		}
		b.deltas = append(b.deltas, d)
		switch {
		case fate.State == domain.ContactRetryWait:
			b.progress.Waits++
		case fate.State.Final():
			b.progress.Outcomes[domain.Outcome(fate.State.String())]++
		}
		b.put(a.result(e, d))
		if e.Verdict.Spent() {
			b.tell(a, event.CampaignCallCompleted, a.completed(e, b, fate.State, spent))
			b.change.Events[len(b.change.Events)-1].About = event.AboutCall(&e.Call)
		}
	}
}

// fate is what becomes of the contact; after the end of the campaign nothing
// is tried again.
func (a *Campaign) fate(e call.Ended, status domain.CampaignStatus, spent int, now time.Time) dialer.Fate {
	f := dialer.After(e.Verdict, spent, a.campaign.Retried(), now)
	if !status.Final() || f.State.Final() {
		return f
	}
	if e.Verdict.Spent() {
		return dialer.Fate{State: domain.ContactStateOf(e.Verdict.Outcome)}
	}
	return dialer.Fate{State: domain.ContactCancelled}
}

func (a *Campaign) result(e call.Ended, d delta) *domain.ContactResult {
	r := &domain.ContactResult{
		CampaignID: a.campaign.ID, WorkspaceID: a.cfg.Workspace, Ordinal: d.ordinal, State: d.state.String(),
		Attempts: int(d.attempts), CallID: e.CallID, Duration: d.duration,
	}
	if !d.retryAt.IsZero() {
		at := d.retryAt.UTC()
		r.RetryAt = &at
	}
	if !e.Verdict.Spent() {
		return r
	}
	r.Outcome, r.Reason, r.Intent, r.EndedAt = e.Verdict.Outcome, e.Verdict.Reason, e.Call.Intent, e.Call.EndedAt
	if e.Call.Outcome != nil {
		r.Notes = e.Call.Outcome.Notes
		if r.Intent == "" {
			r.Intent = e.Call.Outcome.Intent
		}
	}
	return r
}

func (a *Campaign) completed(e call.Ended, b *batch, s domain.ContactState, spent int) event.CampaignCallData {
	name, _ := e.Call.Context.Text("name")
	d := event.CampaignCallData{
		CampaignID: a.campaign.ID, CallID: e.CallID, Contact: event.ContactData{Phone: e.Call.To, Name: name},
		Outcome: e.Verdict.Outcome, Reason: e.Verdict.Reason, AnsweredBy: e.Call.AnsweredBy, Attempts: spent, Final: s.Final(),
	}
	d.Progress.Completed, d.Progress.Remaining = b.progress.Final(), b.progress.Remaining()
	d.Progress.PercentComplete = b.progress.Percent()
	return d
}

func (a *Campaign) skipping(b *batch) {
	if b.campaign != nil && b.campaign.Status.Final() {
		return // they are counted with those that are left behind
	}
	n := min(len(a.skips), maxSkips)
	b.skips = a.skips[:n:n]
	a.skips = a.skips[n:]
	for _, s := range b.skips {
		switch s.by {
		case SkipDNC:
			b.progress.Skipped.DNC++
		case SkipHours:
			b.progress.Skipped.Hours++
		case SkipInvalid:
			b.progress.Skipped.Invalid++
		}
		if a.people.state(s.ordinal) == domain.ContactRetryWait {
			b.progress.Waits--
		}
		b.decisions = append(b.decisions, a.leftOut(s, b.begun))
		d := delta{ordinal: s.ordinal, state: domain.ContactSkipped, attempts: a.people.attempts[s.ordinal]}
		b.deltas = append(b.deltas, d)
		at := b.begun
		b.put(&domain.ContactResult{
			CampaignID: a.campaign.ID, WorkspaceID: a.cfg.Workspace, Ordinal: s.ordinal, State: d.state.String(),
			Reason: domain.Reason(s.by), Attempts: int(d.attempts), Duration: a.people.durations[s.ordinal], EndedAt: &at,
		})
	}
}

// telling adds campaign.progress where it is due, and campaign.completed.
func (a *Campaign) telling(b *batch) {
	status := a.campaign.Status
	if b.campaign != nil {
		status = b.campaign.Status
	}
	changed := a.changed || len(b.deltas) > 0
	if due, _ := dialer.Tell(&b.progress, changed, b.begun); due && status == domain.CampaignRunning {
		b.progress.ToldAt, b.progress.ToldPercent = b.begun, int(b.progress.Percent())
		b.tell(a, event.CampaignProgress, event.ProgressData{
			Event: event.CampaignProgress, CampaignID: a.campaign.ID, ProgressPercent: b.progress.Percent(),
			Outcomes: domain.StatusObject(&a.campaign, &b.progress).Outcomes,
		})
		b.put(domain.MarkOf(&b.progress, b.begun))
	}
	if status.Final() && (b.campaign != nil || len(b.deltas) > 0) { // calls that were on their way end later
		b.put(domain.MarkOf(&b.progress, b.begun))
	}
	if b.campaign != nil && status == domain.CampaignCompleted {
		b.tell(a, event.CampaignCompleted, domain.StatusObject(b.campaign, &b.progress))
	}
}

// finish adds what every commit has: the guards, the counters and the pages.
func (a *Campaign) finish(b *batch) {
	b.change.Guards = append(b.change.Guards,
		commit.Guard{Key: a.campaign.Key(), Version: a.cVersion}, commit.Guard{Key: a.progress.Key(), Version: a.pVersion})
	pages := make(map[int]bool)
	for _, d := range b.deltas {
		pages[d.ordinal/domain.PageSize] = true
	}
	for i := range pages {
		b.put(a.people.page(&a.campaign, i, b.deltas))
	}
	b.progress.LastOpenAt = later(b.progress.LastOpenAt, a.lastSent.UTC())
	b.progress.Cursor = a.people.cursor(b.progress.Cursor, b.deltas)
	a.logging(b)
	progress := b.progress
	progress.Outcomes = maps.Clone(b.progress.Outcomes)
	b.put(&progress)
	if b.campaign != nil {
		row := *b.campaign
		b.put(&row)
	}
	if b.pin != nil {
		b.put(b.pin)
	}
}

func (a *Campaign) committed(ctx actor.Context, m committed) {
	b := a.flight
	if m.generation != a.generation || b == nil {
		return
	}
	a.flight = nil
	switch {
	case m.err == nil:
		a.conflicts, a.full = 0, a.full && b.change.Reserved
		a.follow(ctx, b)
		if a.again {
			a.load(ctx)
		}
	case errors.Is(m.err, domain.ErrFenced):
		a.log.Error("campaign has another owner now")
		a.drop(ctx, b)
		a.leave(ctx)
	case errors.Is(m.err, domain.ErrConflict):
		a.log.Info("campaign was changed by somebody else and is read again")
		a.drop(ctx, b)
		if b.op != nil {
			a.ops = append([]operation{*b.op}, a.ops...)
		}
		if a.conflicts++; a.conflicts > mostConflicts { // reading it again does not help: not in a circle, then
			a.fail(ctx)
			return
		}
		a.load(ctx)
	case errors.Is(m.err, domain.ErrStoreFull): // the log of the store tells
		a.full = true
		a.drop(ctx, b)
		if b.op != nil {
			b.op.answer(ctx, domain.StoreFull())
		}
		a.fail(ctx)
	default: // whether it came through is not known
		a.full = false
		a.log.Warn("commit failed", slog.Any("error", m.err))
		a.drop(ctx, b)
		if b.op != nil {
			a.ops = append([]operation{*b.op}, a.ops...)
		}
		a.fail(ctx)
	}
}

// drop gives back what a failed commit would have used. Its ends wait for the
// next; the answer of its attempts is in the store.
func (a *Campaign) drop(ctx actor.Context, b *batch) {
	for _, t := range b.opens {
		a.returnTry(ctx, t)
	}
	a.ends = append(b.ends, a.ends...)
	a.revisions = append(b.revisions, a.revisions...)
}

// follow does what a durable commit allows.
func (a *Campaign) follow(ctx actor.Context, b *batch) {
	now := time.Now()
	for _, r := range b.riders {
		r.Rode()
	}
	a.ahead = min(max((3*a.ahead+2*now.Sub(b.begun))/4, leastAhead), mostAhead)
	a.progress = b.progress
	a.pVersion++
	if b.campaign != nil {
		if b.campaign.Clock() != a.campaign.Clock() { // every window is by another clock
			a.again = true
		}
		a.campaign = *b.campaign
		a.cVersion++
	}
	if b.pin != nil {
		a.pinned = true
	}
	a.changed = (a.changed || len(b.deltas) > 0) && !b.progress.ToldAt.Equal(b.begun)
	a.people.apply(b.deltas)
	if a.campaign.Status.Final() {
		a.people.rest()
	}
	for _, s := range b.skips {
		delete(a.skipped, s.ordinal)
	}
	a.revised(ctx, b, now)
	for _, t := range b.opens {
		a.open[t.row.ID] = &attempt{made: t.made, zone: t.who.zone}
		a.gate = append(a.gate, &placing{t})
		if t.asked {
			ctx.Send(a.cfg.Numbers, numbers.Opened{CallID: t.id})
		}
	}
	for _, e := range b.ends {
		delete(a.open, e.AttemptID)
		delete(a.closing, e.AttemptID)
		a.ack(ctx, e.CallID)
		a.uncount(ctx, e)
		a.trip.Add(e.Verdict, now)
		a.engine.ended(&e, now)
		a.tempo.Ended(dialer.ResultOf(&e.Call, e.Verdict), now)
		if e.Verdict.Spent() && e.Call.StartedAt != nil && e.Call.EndedAt != nil {
			a.people.seen.Held(e.Call.EndedAt.Sub(*e.Call.StartedAt))
		}
		if e.Verdict.Reason == domain.ReasonNotSent {
			a.holdBack(now.Add(brake), false)
		}
	}
	if a.campaign.Status == domain.CampaignRunning && a.trip.Tripped(now) {
		a.own(lifecycle.Trip, domain.PausedByTrunkFailures)
	}
	if b.op != nil {
		a.trip.Reset()
		b.op.answer(ctx, a.object(now))
		a.hangUp(ctx, *b.op)
	}
	if a.cfg.Committed != nil {
		a.cfg.Committed()
	}
}
