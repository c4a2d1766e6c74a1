package campaign

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

const loadLimit = time.Minute

// load reads the campaign from the store again. It first abandons the attempts that are not committed.
func (a *Campaign) load(ctx actor.Context) {
	if a.phase == gone {
		return
	}
	a.phase, a.commits.readAgain = loading, false
	a.preparation.withdraw(ctx)
	a.commits.generation++
	generation := a.commits.generation
	r := newReader(ctx, &a.cfg, a.rows.progress.Edits > 0)
	mailbox.RunTask(ctx, loadLimit, func(bound context.Context) any {
		s, err := r.load(bound)
		return snapshotLoaded{generation, s, err}
	})
}

func (a *Campaign) onSnapshotLoaded(ctx actor.Context, m snapshotLoaded) {
	if m.generation != a.commits.generation || a.phase != loading {
		return
	}
	switch {
	case errors.Is(m.err, domain.ErrNotFound):
		a.log.Error("campaign is not in the store", slog.Any("error", m.err))
		a.stopAsFormerOwner(ctx)
		return
	case m.err != nil:
		a.log.Warn("campaign could not be read", slog.Any("error", m.err))
		a.waitForStore(ctx)
		return
	}
	a.commits.storeAnswered()
	a.adopt(ctx, m.snapshot)
	a.requests.answerStatus(ctx, a.statusObject(time.Now()))
	if a.commits.readAgain {
		a.load(ctx)
	}
}

// waitForStore refuses all requests and reads the store again after a backoff. A full store still accepts operations that
// stop the campaign. If such an operation is waiting, the store is read at once.
func (a *Campaign) waitForStore(ctx actor.Context) {
	a.phase, a.commits.storeDown = loading, true
	a.contacts.observed.Throughput.SetReady(false, time.Now())
	a.preparation.withdraw(ctx)
	var stops []operation
	if a.commits.storeFull {
		stops = a.requests.takeStops()
	}
	a.requests.refuse(ctx, a.commits.storeError())
	if a.commits.storeFull {
		a.requests.operations, a.commits.backoff = stops, maxBackoff
	}
	if len(a.requests.operations) > 0 {
		a.load(ctx)
		return
	}
	mailbox.SendAfter(ctx, a.commits.nextBackoff(), reloadDue{a.commits.generation})
}

// onReadFailure reads the store again after a failed read. It first waits for the commit in progress.
func (a *Campaign) onReadFailure(ctx actor.Context) {
	if a.commits.inFlight != nil {
		a.commits.readAgain = true
		return
	}
	a.waitForStore(ctx)
}

func (a *Campaign) onReloadDue(ctx actor.Context, m reloadDue) {
	if m.generation == a.commits.generation && a.phase == loading {
		a.load(ctx)
	}
}

// readAgain reads the store again once no commit is in progress.
func (a *Campaign) readAgain(ctx actor.Context) {
	switch {
	case a.phase == loading || a.commits.inFlight != nil: // the read in progress may be older than the change
		a.commits.readAgain = true
	default:
		a.load(ctx)
	}
}

// stopAsFormerOwner stops the campaign actor because another node owns the campaign now.
func (a *Campaign) stopAsFormerOwner(ctx actor.Context) {
	a.phase = gone
	a.requests.refuse(ctx, domain.Errorf(domain.CodeUnavailable, "another node runs this campaign; try again").With("retry_after", 1))
	a.releaseAll(ctx)
	ctx.Poison(ctx.Self())
}

// adopt replaces the state of the actor by the state in the snapshot. It closes attempts of an earlier process as
// interrupted, and attempts without a call actor as never sent.
func (a *Campaign) adopt(ctx actor.Context, s *snapshot) {
	now := time.Now()
	a.phase = ready
	s.contacts.observed.CarryOver(&a.contacts.observed, a.rows.campaign.Pacing == s.rows.campaign.Pacing)
	a.rows, a.contacts, a.preparation.contacts = s.rows, s.contacts, s.contacts
	if a.rows.progress.Outcomes == nil {
		a.rows.progress.Outcomes = make(map[domain.Outcome]int)
	}
	a.script.adopt(s.script)
	a.publisher.adopt(&a.rows.progress)
	a.queue.adopt(a.rows.progress.LastOpenAt, len(s.attempts) > 0, now)
	if a.cfg.AbandonedDialogs != nil {
		for id, until := range a.cfg.AbandonedDialogs() {
			a.abandoned.add(id, until)
		}
	}
	queued := a.queue.callIDs()
	interrupted, committed := a.open.adopt(s.attempts, a.cfg.Boot, func(callID string) bool { return s.live[callID] || queued[callID] }, now)
	for _, id := range interrupted {
		a.abandoned.add(id, now.Add(abandonedLimit))
	}
	for _, id := range committed {
		acknowledge(ctx, a.cfg.Calls, id)
	}
	if a.rows.progress.InProgress != len(a.open.attempts) {
		a.log.Error("counters and open attempts disagree", slog.Int("in_progress", a.rows.progress.InProgress), slog.Int("open", len(a.open.attempts)))
	}
}

// later returns the later of two times. earlier returns the earlier one and ignores zero times.
func later(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}

func earlier(x, y time.Time) time.Time {
	if x.IsZero() || !y.IsZero() && y.Before(x) {
		return y
	}
	return x
}
