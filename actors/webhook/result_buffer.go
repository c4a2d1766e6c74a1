package webhook

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// resultBuffer holds the results of delivery attempts until they are stored. A result waits while a commit runs, and
// for a short time if running requests may add more results.
type resultBuffer struct {
	waiting   map[string]*domain.Delivery // not part of a commit yet, by event ID
	writing   map[string]*domain.Delivery // part of the running commit; nil: none runs
	uncertain map[string]bool             // events whose result a commit of unknown outcome may have stored
	writeAt   time.Time                   // when waiting results are committed at the latest; zero: none wait
}

func newResultBuffer() resultBuffer {
	return resultBuffer{waiting: make(map[string]*domain.Delivery), uncertain: make(map[string]bool)}
}

func (l *resultBuffer) add(row *domain.Delivery) { l.waiting[row.EventID] = row }

// contains reports whether the buffer holds a result of an event, because the result may not be stored yet.
func (l *resultBuffer) contains(eventID string) bool {
	return l.waiting[eventID] != nil || l.writing[eventID] != nil
}

// isFull reports whether no further request may start, because the buffer has no room for its result.
func (l *resultBuffer) isFull() bool { return len(l.waiting) >= maxResults }

// isDue reports whether a commit must start now. sending means that running requests may soon add results.
func (l *resultBuffer) isDue(sending bool, now time.Time) bool {
	if l.writing != nil || len(l.waiting) == 0 {
		return false
	}
	if sending && len(l.waiting) < minBatch {
		if l.writeAt.IsZero() {
			l.writeAt = now.Add(gatherTime)
		}
		return !l.writeAt.After(now)
	}
	return true
}

// start moves the waiting results into the next commit and returns them. An earlier commit with an unknown outcome may
// already have stored the uncertain ones, so the caller must first compare these with the store.
func (l *resultBuffer) start() (rows, uncertain []*domain.Delivery) {
	l.writeAt = time.Time{}
	l.writing = make(map[string]*domain.Delivery, min(len(l.waiting), maxBatch))
	for id, row := range l.waiting {
		if len(l.writing) == maxBatch {
			break
		}
		l.writing[id] = row
		delete(l.waiting, id)
		if l.uncertain[id] {
			uncertain = append(uncertain, row)
			continue
		}
		rows = append(rows, row)
	}
	return rows, uncertain
}

// failed moves the results of a failed commit back to the waiting results. A newer result of the same event replaces
// the older one.
func (l *resultBuffer) failed() {
	written := l.writing
	l.writing = nil
	for id := range written {
		l.uncertain[id] = true
	}
	maps.Copy(written, l.waiting)
	l.waiting = written
}

// succeeded ends a successful commit. It returns the events that need no further attempt and have no newer result in
// the buffer.
func (l *resultBuffer) succeeded() (settled []string) {
	for id, row := range l.writing {
		delete(l.uncertain, id)
		if _, newer := l.waiting[id]; newer || row.State == domain.DeliveryRetrying {
			continue
		}
		settled = append(settled, id)
	}
	l.writing = nil
	return settled
}

// writeResults starts a commit of the waiting results if a commit is due.
func (e *endpoint) writeResults(ctx actor.Context, now time.Time) {
	if !e.results.isDue(e.sends.count() > 0, now) {
		return
	}
	rows, uncertain := e.results.start()
	if len(uncertain) == 0 {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		report := func(err error) { root.Send(self, resultsCommitted{endpoint: e, err: err}) }
		e.cfg.Results.enqueue(e.cfg.Workspace, resultBatch{lifetime: e.lifetime, rows: rows, report: report})
		return
	}
	store, change := e.cfg.Store, commit.Change{Workspace: e.cfg.Workspace}
	for _, row := range rows {
		change.Puts = append(change.Puts, row)
	}
	e.runTask(ctx, storeTimeout, func(c context.Context) any {
		m := resultsCommitted{endpoint: e}
		if m.replayed, m.err = addUncertainResults(c, store, uncertain, &change); m.err == nil && len(change.Puts) > 0 {
			_, m.err = store.Apply(c, change)
		}
		return m
	})
}

// addUncertainResults adds to a change the results that an earlier commit with an unknown outcome may have stored. Each
// has a guard. If an event was replayed or its delivery deleted meanwhile, the result of that event is dropped.
func addUncertainResults(ctx context.Context, store Store, uncertain []*domain.Delivery, change *commit.Change) (replayed []string, err error) {
	for _, row := range uncertain {
		stored := &domain.Delivery{WorkspaceID: row.WorkspaceID, WebhookID: row.WebhookID, EventID: row.EventID}
		version, err := store.Get(ctx, stored)
		switch {
		case err == nil && stored.ID == row.ID:
			change.Guards = append(change.Guards, commit.Guard{Key: row.Key(), Version: version})
			change.Puts = append(change.Puts, row)
		case err == nil, errors.Is(err, domain.ErrNotFound):
			replayed = append(replayed, row.EventID)
		default:
			return nil, err
		}
	}
	return replayed, nil
}

// onCommitted handles the outcome of a commit of results. After an error the results are committed again. A result is
// dropped if a replay has replaced its row meanwhile.
func (e *endpoint) onCommitted(ctx actor.Context, m resultsCommitted) {
	if m.endpoint != e || e.stopped {
		return
	}
	if errors.Is(m.err, domain.ErrFenced) {
		e.log.Error("webhook endpoint stopped", slog.Any("error", m.err))
		e.stopForGood(ctx)
		return
	}
	if m.err != nil {
		e.results.failed()
		if !errors.Is(m.err, domain.ErrConflict) { // a replay changed a row: the next commit compares
			e.storeFailed("webhook results could not be stored", m.err)
		}
		return
	}
	e.backoff.succeeded()
	e.reader.stale = e.reader.stale || len(m.replayed) > 0
	for _, id := range e.results.succeeded() {
		e.queue.removeSettled(id)
		e.reader.noteSettled(id)
	}
	e.parkRetries()
}

// expirePaused fails the old deliveries of an endpoint that has been paused or disabled for longer than maxPausedAge.
func (e *endpoint) expirePaused(now time.Time) {
	if e.webhook == nil || e.webhook.Status == domain.WebhookActive || e.expireAt.After(now) {
		return
	}
	e.expireAt = now.Add(expiryCheckInterval)
	if e.webhook.StoppedSince().After(now.Add(-maxPausedAge)) {
		return
	}
	for _, it := range e.queue.takeOlderThan(now.Add(-maxPausedAge)) {
		row := *it.row
		row.State, row.DueAt = domain.DeliveryFailed, nil
		row.Error = "the endpoint was paused for longer than 72 hours"
		it.row = &row
		e.results.add(&row)
		e.reader.more, e.reader.stale = true, e.reader.stale || !e.queue.parkedUntil.IsZero()
	}
}
