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

// resultBuffer has the results of attempts until they are in the store. One commit takes many: while a commit is under
// way, or more results are soon to come, they gather.
type resultBuffer struct {
	waiting   map[string]*domain.Delivery // not in a commit yet, by event
	writing   map[string]*domain.Delivery // in the commit under way; nil: none is
	uncertain map[string]bool             // events whose result a commit of unknown outcome may have stored
	writeAt   time.Time                   // when waiting results are committed, if no more come; zero: none gather
}

func newResultBuffer() resultBuffer {
	return resultBuffer{waiting: make(map[string]*domain.Delivery), uncertain: make(map[string]bool)}
}

func (l *resultBuffer) add(row *domain.Delivery) { l.waiting[row.EventID] = row }

// has says whether the result of an event is not known to be durable yet.
func (l *resultBuffer) has(eventID string) bool {
	return l.waiting[eventID] != nil || l.writing[eventID] != nil
}

// full says whether no more attempts may start: their results would find no room.
func (l *resultBuffer) full() bool { return len(l.waiting) >= maxResults }

// due says whether a commit begins now. sending: requests are under way, whose results may be part of it.
func (l *resultBuffer) due(sending bool, now time.Time) bool {
	if l.writing != nil || len(l.waiting) == 0 {
		return false
	}
	if sending && len(l.waiting) < enough {
		if l.writeAt.IsZero() {
			l.writeAt = now.Add(gatherFor)
		}
		return !l.writeAt.After(now)
	}
	return true
}

// start takes the results of a commit out. Uncertain ones have to be compared with the store before.
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

// failed puts the results of a commit of unknown outcome back; newer ones win.
func (l *resultBuffer) failed() {
	written := l.writing
	l.writing = nil
	for id := range written {
		l.uncertain[id] = true
	}
	maps.Copy(written, l.waiting)
	l.waiting = written
}

// succeeded ends a durable commit. It returns the events that are settled: they have no newer result, and no retry.
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

// writeResults commits the results that have gathered.
func (e *endpoint) writeResults(ctx actor.Context, now time.Time) {
	if !e.results.due(e.sends.count() > 0, now) {
		return
	}
	rows, uncertain := e.results.start()
	if len(uncertain) == 0 {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		told := func(err error) { root.Send(self, committed{of: e, err: err}) }
		e.cfg.Results.enqueue(e.cfg.Workspace, entry{life: e.life, rows: rows, told: told})
		return
	}
	store, change := e.cfg.Store, commit.Change{Workspace: e.cfg.Workspace}
	for _, row := range rows {
		change.Puts = append(change.Puts, row)
	}
	e.work(ctx, workLimit, func(c context.Context) any {
		m := committed{of: e}
		if m.replayed, m.err = confirm(c, store, uncertain, &change); m.err == nil && len(change.Puts) > 0 {
			_, m.err = store.Apply(c, change)
		}
		return m
	})
}

// confirm adds uncertain results to a change, with a guard each. If the row of an event is another delivery's now, or
// gone, the event was replayed meanwhile: its result is dropped.
func confirm(ctx context.Context, store Store, uncertain []*domain.Delivery, change *commit.Change) (replayed []string, err error) {
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

// onCommitted ends a commit. Results of unknown outcome are committed again, if the rows are still theirs.
func (e *endpoint) onCommitted(ctx actor.Context, m committed) {
	if m.of != e || e.over {
		return
	}
	if errors.Is(m.err, domain.ErrFenced) {
		e.log.Error("webhook endpoint stopped", slog.Any("error", m.err))
		e.quit(ctx)
		return
	}
	if m.err != nil {
		e.results.failed()
		if !errors.Is(m.err, domain.ErrConflict) { // a replay came in between: the next commit looks
			e.storeFailed("webhook results could not be stored", m.err)
		}
		return
	}
	e.backoff.succeeded()
	e.reader.stale = e.reader.stale || len(m.replayed) > 0
	for _, id := range e.results.succeeded() {
		e.queue.settle(id)
		e.reader.settle(id)
	}
	e.parkRetries()
}

// expirePaused fails the deliveries of an endpoint that was paused for longer than pauseLimit.
func (e *endpoint) expirePaused(now time.Time) {
	if e.hook == nil || e.hook.Status == domain.WebhookActive || e.expireAt.After(now) {
		return
	}
	e.expireAt = now.Add(expireEvery)
	if e.hook.HeldSince().After(now.Add(-pauseLimit)) {
		return
	}
	for _, it := range e.queue.expire(now.Add(-pauseLimit)) {
		row := *it.row
		row.State, row.DueAt = domain.DeliveryFailed, nil
		row.Error = "the endpoint was paused for longer than 72 hours"
		it.row = &row
		e.results.add(&row)
		e.reader.more, e.reader.stale = true, e.reader.stale || !e.queue.parkedUntil.IsZero()
	}
}
