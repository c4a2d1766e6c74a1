package webhook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// The events of a page are read in runs: a gap of at most maxGap other events is cheaper to read than another request.
const (
	maxGap = 8
	maxRun = 256
)

// deliveryReader reads the open deliveries of an endpoint from the store page by page, oldest first: one page at a
// time, behind the last delivery that is known.
type deliveryReader struct {
	last      string    // the newest delivery read
	more      bool      // there may be deliveries behind last
	stale     bool      // the row and all deliveries have to be read from the start
	readAt    time.Time // when they have to be, although nothing changes; zero: never
	fromStart bool      // a reading of all deliveries is not at its end yet

	loading bool
	withRow bool            // the page under way reads the endpoint's row as well
	arrived bool            // the outbox handed deliveries over during the page
	settled map[string]bool // events whose result became durable during the page
}

func newDeliveryReader() deliveryReader {
	return deliveryReader{stale: true, settled: make(map[string]bool)}
}

// refreshDue makes the reader stale once readAt is reached.
func (r *deliveryReader) refreshDue(now time.Time) {
	if !r.readAt.IsZero() && !r.readAt.After(now) {
		r.readAt, r.stale = time.Time{}, true
	}
}

// start begins a page, if one is to be read: after a change, or if there are more deliveries and wanted is true.
func (r *deliveryReader) start(wanted bool) (ok bool) {
	if r.loading || !r.stale && (!r.more || !wanted) {
		return false
	}
	r.loading, r.withRow = true, r.stale
	if r.stale {
		r.stale, r.last, r.fromStart = false, "", true
	}
	r.more = false
	return true
}

// end ends a page. It returns the events whose result became durable meanwhile: the page may show their deliveries as
// open still.
func (r *deliveryReader) end() (settled map[string]bool, arrived bool) {
	settled, arrived = r.settled, r.arrived
	r.loading, r.withRow, r.arrived = false, false, false
	r.settled = make(map[string]bool)
	return settled, arrived
}

// failed has the page read again.
func (r *deliveryReader) failed(rowKnown bool) {
	r.stale = r.stale || !rowKnown || r.last == ""
	r.more = true
}

// read notes that a page was read up to its end; full: there is more.
func (r *deliveryReader) read(full bool) {
	r.more, r.fromStart = r.more || full, r.fromStart && full
}

// settle notes that the result of an event is durable.
func (r *deliveryReader) settle(eventID string) {
	if r.loading {
		r.settled[eventID] = true
	}
}

// follows says whether all deliveries up to this one have been read.
func (r *deliveryReader) follows(after string) bool {
	return !r.stale && !r.loading && !r.more && r.last != "" && r.last == after
}

// load reads the next page when the queue runs low, or everything after a change.
func (e *endpoint) load(ctx actor.Context) {
	if !e.reader.start(e.hook != nil && !e.enoughQueued()) {
		return
	}
	cfg, last, withRow := e.cfg, e.reader.last, e.reader.withRow
	e.work(ctx, workLimit, func(c context.Context) any {
		m := loaded{of: e}
		if withRow {
			m.hook = &domain.Webhook{Meta: domain.Meta{ID: cfg.ID, WorkspaceID: cfg.Workspace}}
			if _, m.err = cfg.Store.Get(c, m.hook); m.err != nil {
				m.hook = nil
				return m
			}
		}
		m.items, m.full, m.err = readPage(c, cfg, last)
		return m
	})
}

func (e *endpoint) onLoaded(ctx actor.Context, m loaded) {
	if m.of != e || e.over {
		return
	}
	settled, arrived := e.reader.end()
	switch {
	case errors.Is(m.err, domain.ErrNotFound):
		e.quit(ctx)
		return
	case m.err != nil:
		e.reader.failed(e.hook != nil)
		e.storeFailed("webhook deliveries could not be read", m.err)
		return
	}
	e.backoff.succeeded()
	if m.hook != nil {
		e.health.adopt(e.hook, m.hook)
		e.hook = m.hook
		e.startWaitingTests(ctx)
	}
	now := time.Now()
	for _, it := range m.items {
		if it.row.DueAt != nil {
			due := webhook.Due(it.row.Attempts, *it.row.DueAt, now, retryTimeFactor(e.cfg, e.hook))
			it.row.DueAt = &due
		}
		if known := e.queue.known[it.row.EventID]; it.row.Replay && it.row.State == domain.DeliveryQueued && (known == nil || known.row.ID != it.row.ID) {
			// The id of a replay comes from another clock than those of the outbox: deliveries that are being committed
			// may stand before it. If the result of its event has just become durable, it is passed over now.
			e.reader.readAt = now.Add(2 * workLimit)
			e.reader.stale = e.reader.stale || arrived
		}
		if !settled[it.row.EventID] {
			e.queue.add(it)
		}
		e.reader.last = it.row.ID
	}
	e.reader.read(m.full)
	e.expireAt = time.Time{}
	e.parkRetries()
}

// onFresh queues deliveries that the outbox has just committed. If others may stand before them, they are read from
// the store instead.
func (e *endpoint) onFresh(m NewDeliveries) {
	e.reader.arrived = e.reader.arrived || e.reader.loading
	if e.overtaken(m) {
		e.reader.stale = true
	}
	if e.hook == nil || !e.reader.follows(m.After) || e.queue.queued+len(m.Items) > e.cfg.Window {
		e.reader.more = true
		return
	}
	for _, it := range m.Items {
		e.queue.add(&item{row: it.Row, event: it.Event})
		e.reader.last = it.Row.ID
	}
}

// overtaken says whether the reader has passed deliveries without seeing them: a replay stood behind them.
func (e *endpoint) overtaken(m NewDeliveries) bool {
	return slices.ContainsFunc(m.Items, func(it QueuedDelivery) bool {
		id := it.Row.EventID
		return it.Row.ID <= e.reader.last && e.queue.known[id] == nil && !e.results.has(id) && !e.reader.settled[id]
	})
}

// readPage reads open deliveries from the newest known one, that one included, and the events of those that were never
// sent.
func readPage(ctx context.Context, cfg Config, from string) (items []*item, full bool, err error) {
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
		for n < len(byOffset) && byOffset[n].row.EventOffset-byOffset[n-1].row.EventOffset <= maxGap && byOffset[n].row.EventOffset-first < maxRun {
			n++
		}
		if err = readEvents(ctx, cfg, byOffset[:n]); err != nil {
			return nil, false, err
		}
		byOffset = byOffset[n:]
	}
	return items, next != "", nil
}

// readEvents reads the events of a run of deliveries.
func readEvents(ctx context.Context, cfg Config, run []*item) error {
	first, last := run[0].row.EventOffset, run[len(run)-1].row.EventOffset
	if first == 0 {
		return nil // no offset, no event: the attempt fails
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
