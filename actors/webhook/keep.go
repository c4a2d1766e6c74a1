package webhook

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// The events of a page are read in runs: a gap of at most nearBy unwanted
// events is cheaper to read over than to ask again.
const (
	nearBy = 8
	maxRun = 256
)

// load reads the next page of open deliveries when the queue runs low, or all
// anew after a change.
func (e *endpoint) load(ctx actor.Context) {
	refresh := e.stale
	if e.loading || !refresh && (!e.more || e.hook == nil || e.full()) {
		return
	}
	if refresh {
		e.stale, e.more, e.last, e.fromStart = false, true, "", true
	}
	e.loading, e.reading, e.more = true, refresh, false
	cfg, last := e.cfg, e.last
	e.work(ctx, workLimit, func(c context.Context) any {
		m := loaded{of: e}
		if refresh {
			m.hook = &domain.Webhook{Meta: domain.Meta{ID: cfg.ID, WorkspaceID: cfg.Workspace}}
			if _, m.err = cfg.Store.Get(c, m.hook); m.err != nil {
				m.hook = nil
				return m
			}
		}
		m.items, m.full, m.err = page(c, cfg, last)
		return m
	})
}

// page reads open deliveries from the newest one known, that one included, and
// the events of those that were never sent.
func page(ctx context.Context, cfg Config, from string) (items []*item, full bool, err error) {
	q := commit.Query{
		Kind: "delivery", Workspace: cfg.Workspace, Index: "open=" + cfg.ID, Oldest: true, From: from, Limit: cfg.Window + 1,
	}
	next, err := cfg.Store.List(ctx, q, func() domain.Record { return new(domain.Delivery) }, func(r domain.Record) error {
		if d, ok := r.(*domain.Delivery); ok && d.ID != from {
			items = append(items, &item{row: d})
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	byOffset := make([]*item, 0, len(items))
	for _, it := range items {
		if it.row.State == domain.DeliveryQueued {
			byOffset = append(byOffset, it)
		}
	}
	slices.SortFunc(byOffset, func(a, b *item) int {
		return cmp.Compare(a.row.EventOffset, b.row.EventOffset)
	})
	for len(byOffset) > 0 {
		n := 1
		first := byOffset[0].row.EventOffset
		for n < len(byOffset) && byOffset[n].row.EventOffset-byOffset[n-1].row.EventOffset <= nearBy && byOffset[n].row.EventOffset-first < maxRun {
			n++
		}
		if err = events(ctx, cfg, byOffset[:n]); err != nil {
			return nil, false, err
		}
		byOffset = byOffset[n:]
	}
	return items, next != "", nil
}

// events reads the events of a run of deliveries.
func events(ctx context.Context, cfg Config, run []*item) error {
	first, last := run[0].row.EventOffset, run[len(run)-1].row.EventOffset
	if first == 0 {
		return nil // no offset, no event: the attempt will tell
	}
	got, err := cfg.Store.Events(ctx, cfg.Workspace, first-1, int(last-first)+1) //nolint:gosec // bounded by maxRun
	if err != nil {
		return err
	}
	at := make(map[uint64]*event.Event, len(got))
	for i := range got {
		at[got[i].Offset] = &got[i]
	}
	for _, it := range run {
		if ev := at[it.row.EventOffset]; ev != nil && ev.ID == it.row.EventID {
			it.event = ev
		}
	}
	return nil
}

func (e *endpoint) onLoaded(ctx actor.Context, m loaded) {
	if m.of != e || e.over {
		return
	}
	came := e.came
	e.loading, e.reading, e.came = false, false, false
	settled := e.settled
	e.settled = make(map[string]bool)
	switch {
	case errors.Is(m.err, domain.ErrNotFound):
		e.quit(ctx)
		return
	case m.err != nil:
		e.stale = e.stale || e.hook == nil || e.last == ""
		e.more = true
		e.storeFailed("webhook deliveries could not be read", m.err)
		return
	}
	e.pause = 0
	if m.hook != nil {
		e.adopt(m.hook)
		e.answerQuestions(ctx)
	}
	now := time.Now()
	for _, it := range m.items {
		if it.row.DueAt != nil {
			due := webhook.Due(it.row.Attempts, *it.row.DueAt, now, retryTimeFactor(e.cfg, e.hook))
			it.row.DueAt = &due
		}
		if known := e.q.known[it.row.EventID]; it.row.Replay && it.row.State == domain.DeliveryQueued && (known == nil || known.row.ID != it.row.ID) {
			// Its id is of another clock than the outbox's: what was being
			// committed meanwhile may stand in front of it. And where its event
			// has only just been settled, it is passed over now.
			e.again = now.Add(2 * workLimit)
			e.stale = e.stale || came
		}
		if !settled[it.row.EventID] {
			e.q.add(it)
		}
		e.last = it.row.ID
	}
	e.more, e.fromStart = e.more || m.full, e.fromStart && m.full
	e.expireAt = time.Time{}
	e.park()
}

// onFresh takes in what the outbox has just committed, without reading it
// again. Where something may stand in between it is read.
func (e *endpoint) onFresh(m Fresh) {
	e.came = e.came || e.loading
	if e.overtaken(m) {
		e.stale = true
	}
	behind := e.hook == nil || e.stale || e.loading || e.more || e.last == "" || e.last != m.After
	if behind || e.q.queued+len(m.Items) > e.cfg.Window {
		e.more = true
		return
	}
	for _, it := range m.Items {
		e.q.add(&item{row: it.Row, event: it.Event})
		e.last = it.Row.ID
	}
}

// overtaken says whether something was read that stands behind what comes only
// now, and is not known: a replay did.
func (e *endpoint) overtaken(m Fresh) bool {
	return slices.ContainsFunc(m.Items, func(it Queued) bool {
		id := it.Row.EventID
		_, result := e.results[id]
		_, writing := e.writing[id]
		return it.Row.ID <= e.last && e.q.known[id] == nil && !result && !writing && !e.settled[id]
	})
}

// adopt takes the endpoint's row as it was read. Who makes it active again, or
// gives it another URL, says that it is well.
func (e *endpoint) adopt(w *domain.Webhook) {
	was := e.hook
	e.hook = w
	switch {
	case was == nil:
		e.failures, e.failing, e.delivered = w.FailureCount, w.FailingSince, w.LastDeliveryAt
	case w.URL != was.URL, w.Status == domain.WebhookActive && was.Status != domain.WebhookActive:
		e.failures, e.failing, e.disable, e.unsaved = 0, nil, "", true
	}
}

// write commits the results at hand, many at once: while one commit is under
// way, or others are soon to come, they gather.
func (e *endpoint) write(ctx actor.Context, now time.Time) {
	if e.writing != nil || len(e.results) == 0 {
		return
	}
	if e.firsts+e.resent > 0 && len(e.results) < enough {
		if e.writeAt.IsZero() {
			e.writeAt = now.Add(gatherFor)
		}
		if e.writeAt.After(now) {
			return
		}
	}
	e.writeAt = time.Time{}
	e.writing = make(map[string]*domain.Delivery, min(len(e.results), maxBatch))
	var rows, doubtful []*domain.Delivery
	for id, row := range e.results {
		if len(e.writing) == maxBatch {
			break
		}
		e.writing[id] = row
		delete(e.results, id)
		if e.unsure[id] {
			doubtful = append(doubtful, row)
			continue
		}
		rows = append(rows, row)
	}
	if len(doubtful) == 0 {
		self, root := ctx.Self(), ctx.ActorSystem().Root
		told := func(err error) { root.Send(self, committed{of: e, err: err}) }
		e.cfg.Ledger.keep(e.cfg.Workspace, entry{life: e.life, rows: rows, told: told})
		return
	}
	store, change := e.cfg.Store, commit.Change{Workspace: e.cfg.Workspace}
	for _, row := range rows {
		change.Puts = append(change.Puts, row)
	}
	e.work(ctx, workLimit, func(c context.Context) any {
		m := committed{of: e}
		if m.replayed, m.err = confirm(c, store, doubtful, &change); m.err == nil && len(change.Puts) > 0 {
			_, m.err = store.Apply(c, change)
		}
		return m
	})
}

// confirm adds results to a change that a commit of unknown outcome may have
// stored already, under guard: where it did, the event may have been replayed
// since, and the row is another delivery's. Those events are replayed.
func confirm(ctx context.Context, store Store, doubtful []*domain.Delivery, change *commit.Change) (replayed []string, err error) {
	for _, row := range doubtful {
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

// onCommitted: what has an unknown outcome is committed again, where the rows
// are still its own.
func (e *endpoint) onCommitted(ctx actor.Context, m committed) {
	if m.of != e || e.over {
		return
	}
	written := e.writing
	e.writing = nil
	if errors.Is(m.err, domain.ErrFenced) {
		e.log.Error("webhook endpoint stopped", slog.Any("error", m.err))
		e.quit(ctx)
		return
	}
	if m.err != nil {
		for id := range written {
			e.unsure[id] = true
		}
		maps.Copy(written, e.results) // newer ones win
		e.results = written
		if !errors.Is(m.err, domain.ErrConflict) { // a replay came in between: look again
			e.storeFailed("webhook results could not be stored", m.err)
		}
		return
	}
	e.pause = 0
	e.stale = e.stale || len(m.replayed) > 0
	for id, row := range written {
		delete(e.unsure, id)
		if _, newer := e.results[id]; newer || row.State == domain.DeliveryRetrying {
			continue
		}
		e.q.forget(id)
		if e.loading {
			e.settled[id] = true
		}
	}
	e.park()
}

// expire gives up what outlived the longest pause: what came before it has as
// long as what comes at its beginning.
func (e *endpoint) expire(now time.Time) {
	if e.hook == nil || e.hook.Status == domain.WebhookActive || e.expireAt.After(now) {
		return
	}
	e.expireAt = now.Add(expireEvery)
	if e.hook.HeldSince().After(now.Add(-pauseLimit)) {
		return
	}
	for _, it := range e.q.expire(now.Add(-pauseLimit)) {
		row := *it.row
		row.State, row.DueAt = domain.DeliveryFailed, nil
		row.Error = "the endpoint was paused for longer than 72 hours"
		it.row = &row
		e.results[row.EventID] = &row
		e.more, e.stale = true, e.stale || !e.parked.IsZero()
	}
}

// save writes how the endpoint does into its row, at a bounded rate: a list of
// endpoints may be some seconds late, a delivery never pays for it. What ends
// the deliveries is written at once.
func (e *endpoint) save(ctx actor.Context, now time.Time) {
	if e.saving || e.hook == nil || e.disable == "" && (!e.unsaved || e.statsAt.After(now)) {
		return
	}
	e.unsaved, e.saving = false, true
	e.statsAt = now.Add(statsEvery)
	cfg, failures, failing, delivered, why, url := e.cfg, e.failures, e.failing, e.delivered, e.disable, e.hook.URL
	e.work(ctx, workLimit, func(c context.Context) any {
		row := &domain.Webhook{Meta: domain.Meta{ID: cfg.ID, WorkspaceID: cfg.Workspace}}
		version, err := cfg.Store.Get(c, row)
		if err != nil {
			return saved{of: e, err: err}
		}
		row.FailureCount, row.FailingSince, row.LastDeliveryAt = failures, failing, delivered
		change := commit.Change{
			Workspace: cfg.Workspace, Guards: []commit.Guard{{Key: row.Key(), Version: version}}, Puts: []domain.Record{row},
		}
		if why != "" && row.Status == domain.WebhookActive && row.URL == url {
			disable(row, &change, why, time.Now().UTC().Truncate(time.Millisecond))
		}
		_, err = cfg.Store.Apply(c, change)
		if why == "" {
			return saved{of: e, err: err}
		}
		return saved{of: e, row: row, err: err}
	})
}

// disable ends the deliveries loudly: with an event and an entry in the audit
// log.
func disable(w *domain.Webhook, c *commit.Change, why string, now time.Time) {
	w.Status, w.DisabledReason, w.DisabledAt, w.UpdatedAt = domain.WebhookDisabled, why, &now, now
	c.Puts = append(c.Puts, &domain.AuditEntry{
		Meta: domain.Meta{
			ID: mailbox.NewID(domain.PrefixAudit), Object: "audit_log", WorkspaceID: w.WorkspaceID, Environment: w.Environment, CreatedAt: now, UpdatedAt: now,
		},
		Type: "admin", Action: "webhook.disabled", Actor: domain.Actor{Type: "system", ID: "webhook"},
		Resource: domain.Resource{Type: "webhook", ID: w.ID}, Outcome: "success", Reason: why, Count: 1,
	})
	c.Events = append(c.Events, event.Draft{
		ID: mailbox.NewID(domain.PrefixEvent), Type: event.WebhookDisabled, CreatedAt: now, WorkspaceID: w.WorkspaceID, Environment: w.Environment,
		SvcID: domain.Unit(w.WorkspaceID), Subject: w.ID, Data: event.WebhookDisabledData{WebhookID: w.ID, URL: w.URL, Reason: why, At: now},
	})
}

func (e *endpoint) onSaved(ctx actor.Context, m saved) {
	if m.of != e {
		return
	}
	e.saving = false
	switch {
	case errors.Is(m.err, domain.ErrFenced):
		e.quit(ctx)
	case errors.Is(m.err, domain.ErrNotFound):
		e.stale = e.disable != "" // it is deleted, and Deleted comes
	case m.err != nil:
		e.unsaved = true // a change of the row came in between, or the store is away
		if e.disable != "" && !errors.Is(m.err, domain.ErrConflict) {
			e.storeFailed("an endpoint could not be disabled", m.err)
		}
	case m.row != nil:
		e.disabled(m.row)
	}
}

// disabled goes on with the row as it is now: disabled, or made well by
// somebody meanwhile.
func (e *endpoint) disabled(w *domain.Webhook) {
	e.disable = ""
	if e.hook, e.stale = w, true; w.Status != domain.WebhookDisabled { // it may have been changed since
		return
	}
	e.log.Error("webhook endpoint disabled", slog.String("reason", w.DisabledReason), slog.Int("failed_attempts", w.FailureCount))
	if e.cfg.Committed != nil {
		e.cfg.Committed()
	}
}
