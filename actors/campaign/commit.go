package campaign

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// Time limit and sizes of one commit. Changes beyond a maximum become part of the next commit.
const (
	commitLimit = 10 * time.Second
	maxOpens    = 256
	maxEnds     = 256
	maxSkips    = 2000
)

// unsentPause is the time for which the campaign requests no trunk slots after an attempt whose INVITE could not be sent.
const unsentPause = time.Second

// commit starts a commit of all collected changes, unless one is in progress.
func (a *Campaign) commit(ctx actor.Context, now time.Time) {
	if a.phase != ready || a.commits.inFlight != nil {
		return
	}
	op, to := a.nextOperation(ctx, now)
	a.refuseContactChanges(ctx)
	due, _ := a.publisher.due(&a.rows.progress, now)
	due = due && a.rows.isRunning()
	if op == nil && len(a.requests.contactChanges) == 0 && len(a.preparation.pending.granted) == 0 && len(a.open.ends) == 0 && len(a.contacts.skips) == 0 && !due {
		return
	}
	b := a.buildBatch(op, to, now)
	generation := a.commits.start(b)
	store, change := a.cfg.Store, b.change
	mailbox.RunTask(ctx, commitLimit, func(bound context.Context) any {
		_, err := store.Apply(bound, change)
		return batchCommitted{generation, err}
	})
}

// buildBatch collects the changes of the next commit. The status change comes first, because the new status decides which
// other changes are allowed.
func (a *Campaign) buildBatch(op *operation, to domain.CampaignStatus, now time.Time) *batch {
	b := newBatch(a, now)
	if op != nil {
		b.changeStatus(op, to, a.script.pinned)
		b.change.UsesReservedSpace = op.isStop()
	}
	if b.campaign == nil || !b.campaign.Status.Final() { // contact changes of an ended campaign are refused by the next commit
		a.requests.contactChanges = b.changeContacts(a.requests.contactChanges)
	}
	if b.campaign == nil || b.campaign.Status == domain.CampaignRunning { // attempts of a stopped campaign are abandoned by the next advance
		interval := a.feedback.interval(&a.rows.campaign)
		sendTime := a.queue.sendTime(interval, b.startedAt)
		b.openAttempts(a.preparation.pending.takeGranted(maxOpens), sendTime, interval)
	}
	b.endAttempts(a.open.takeEnds(maxEnds), &a.open)
	if b.campaign == nil || !b.campaign.Status.Final() { // skips of an ended campaign count as remaining contacts
		b.skipContacts(a.contacts.takeSkips(maxSkips))
	}
	b.publishProgress(a.publisher.changed)
	b.complete(a.queue.lastSent)
	return b
}

func (a *Campaign) onBatchCommitted(ctx actor.Context, m batchCommitted) {
	b := a.commits.finish(m.generation)
	if b == nil {
		return
	}
	if m.err == nil {
		a.commits.succeeded(b)
		a.afterCommit(ctx, b)
		if a.commits.readAgain {
			a.load(ctx)
		}
		return
	}
	a.undoBatch(ctx, b)
	isFull := errors.Is(m.err, domain.ErrStoreFull)
	if b.operation != nil && !isFull {
		a.requests.operations = append([]operation{*b.operation}, a.requests.operations...)
	}
	switch {
	case errors.Is(m.err, domain.ErrFenced):
		a.log.Error("another node owns the campaign; the actor stops")
		a.stopAsFormerOwner(ctx)
	case errors.Is(m.err, domain.ErrConflict):
		a.log.Info("campaign row was changed concurrently and is read again")
		if !a.commits.addConflict() {
			a.waitForStore(ctx)
			return
		}
		a.load(ctx)
	case isFull: // the store logs the error
		a.commits.storeFull = true
		if b.operation != nil {
			b.operation.reply(ctx, domain.StoreFull())
		}
		a.waitForStore(ctx)
	default: // the commit may have succeeded
		a.commits.storeFull = false
		a.log.Warn("commit failed", slog.Any("error", m.err))
		a.waitForStore(ctx)
	}
}

// undoBatch returns the permits, slots and numbers of a failed commit. Its ended calls become part of the next commit. The
// campaign reads the store to learn whether the attempts were opened.
func (a *Campaign) undoBatch(ctx actor.Context, b *batch) {
	for _, t := range b.opens {
		a.preparation.returnGrants(ctx, t)
	}
	a.open.returnEnds(b.ends)
	a.requests.contactChanges = append(b.changes, a.requests.contactChanges...)
}

// afterCommit performs the actions that had to wait until the commit was durable.
func (a *Campaign) afterCommit(ctx actor.Context, b *batch) {
	now := time.Now()
	for _, r := range b.auditEntries {
		r.MarkCommitted()
	}
	a.commits.measure(now.Sub(b.startedAt))
	a.adoptRows(b)
	a.contacts.apply(b.deltas)
	if a.rows.campaign.Status.Final() {
		a.contacts.clear()
	}
	for _, s := range b.skips {
		delete(a.contacts.skipped, s.ordinal)
	}
	a.afterContactChanges(ctx, b, now)
	for _, t := range b.opens {
		a.open.add(t.attemptRows, t.candidate.zone)
		a.queue.push(t)
		a.preparation.numbers.opened(ctx, t)
	}
	a.afterEnds(ctx, b, now)
	if b.operation != nil {
		a.feedback.trunkFailures.Reset()
		b.operation.reply(ctx, a.statusObject(now))
		b.operation.hangUp(ctx, a.cfg.Calls, &a.open)
	}
	if a.cfg.OnCommitted != nil {
		a.cfg.OnCommitted()
	}
}

// adoptRows replaces the cached database rows of the campaign by those that the commit has stored.
func (a *Campaign) adoptRows(b *batch) {
	a.rows.progress = b.progress
	a.rows.progressVersion++
	if b.campaign != nil {
		if b.campaign.Clock() != a.rows.campaign.Clock() { // the clock of all calling hours has changed
			a.commits.readAgain = true
		}
		a.rows.campaign = *b.campaign
		a.rows.campaignVersion++
	}
	if b.pin != nil {
		a.script.pinned = true
	}
	a.publisher.committed(len(b.deltas) > 0, b.progress.ReportedAt.Equal(b.startedAt))
}

// afterEnds handles the ended calls of a durable commit: it removes their attempts and evaluates their results.
func (a *Campaign) afterEnds(ctx actor.Context, b *batch, now time.Time) {
	for i := range b.ends {
		e := &b.ends[i]
		a.open.remove(e.AttemptID)
		acknowledge(ctx, a.cfg.Calls, e.CallID)
		a.preparation.numbers.uncount(ctx, e)
		a.feedback.callEnded(e, now)
		if e.Verdict.SpendsAttempt() && e.Call.StartedAt != nil && e.Call.EndedAt != nil {
			a.contacts.observed.AddAttemptDuration(e.Call.EndedAt.Sub(*e.Call.StartedAt))
		}
		if e.Verdict.Reason == domain.ReasonNotSent {
			a.preparation.trunks.extend(now.Add(unsentPause), false)
		}
	}
	if a.rows.isRunning() && a.feedback.trunkFailures.IsTripped(now) {
		a.requests.queueOwn(lifecycle.Trip, domain.PausedByTrunkFailures, nil)
	}
}

// onCallEnded queues the end of a call for the next commit. The call actor repeats its message until it is acknowledged.
func (a *Campaign) onCallEnded(ctx actor.Context, m call.Ended) {
	if a.phase == gone {
		return
	}
	if a.phase == ready && !a.open.has(m.AttemptID, m.CallID) {
		acknowledge(ctx, a.cfg.Calls, m.CallID)
		return
	}
	if a.open.closing[m.AttemptID] {
		return
	}
	m.Verdict.Throttled = m.Verdict.Throttled || a.feedback.isUncounted(&m)
	a.open.queueEnd(m)
}

// acknowledge informs a call that its end is stored.
func acknowledge(ctx actor.Context, calls *actor.PID, callID string) {
	ctx.Send(calls, call.AcknowledgeEnd{CallID: callID})
}
