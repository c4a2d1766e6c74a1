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

// Limits of one read of events from the event log. The endpoint skips up to maxGap events that it does not need,
// because that is cheaper than another read.
const (
	maxGap = 8
	maxRun = 256
)

// deliveryReader tracks which open deliveries of an endpoint were read from the store. The endpoint reads one page at
// a time, oldest delivery first. A page begins after the last delivery that was read.
type deliveryReader struct {
	last      string    // ID of the newest delivery that was read
	more      bool      // there may be deliveries after last
	stale     bool      // the endpoint's row and all deliveries have to be read again
	rereadAt  time.Time // when all deliveries are read again without a notification; zero: never
	fromStart bool      // a read of all deliveries from the start has not reached the end

	loading    bool
	withRow    bool            // the current page also reads the endpoint's row
	handedOver bool            // the outbox handed over deliveries during the page
	settled    map[string]bool // events whose result was committed during the page
}

func newDeliveryReader() deliveryReader {
	return deliveryReader{stale: true, settled: make(map[string]bool)}
}

// refreshDue makes the endpoint read all deliveries again once the time rereadAt has passed.
func (r *deliveryReader) refreshDue(now time.Time) {
	if !r.rereadAt.IsZero() && !r.rereadAt.After(now) {
		r.rereadAt, r.stale = time.Time{}, true
	}
}

// startPage reports whether a page must be read now, and records its start. A page is read after a change of the
// endpoint, and also if wanted is true and more deliveries may exist.
func (r *deliveryReader) startPage(wanted bool) (ok bool) {
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

// endPage records that the read of a page has ended. settled are the events whose result was committed meanwhile,
// because the page may still show their deliveries as open. arrived reports whether the outbox sent deliveries
// meanwhile.
func (r *deliveryReader) endPage() (settled map[string]bool, arrived bool) {
	settled, arrived = r.settled, r.handedOver
	r.loading, r.withRow, r.handedOver = false, false, false
	r.settled = make(map[string]bool)
	return settled, arrived
}

// pageFailed makes the endpoint read the failed page again. rowKnown is false if the endpoint's row was never read.
func (r *deliveryReader) pageFailed(rowKnown bool) {
	r.stale = r.stale || !rowKnown || r.last == ""
	r.more = true
}

// pageRead records that a page was read. full means that more deliveries follow.
func (r *deliveryReader) pageRead(full bool) {
	r.more, r.fromStart = r.more || full, r.fromStart && full
}

// noteSettled records that the result of an event was committed while a page is being read.
func (r *deliveryReader) noteSettled(eventID string) {
	if r.loading {
		r.settled[eventID] = true
	}
}

// isCaughtUp reports whether after is the ID of the last delivery that was read and no earlier delivery is missing.
func (r *deliveryReader) isCaughtUp(after string) bool {
	return !r.stale && !r.loading && !r.more && r.last != "" && r.last == after
}

// readPage starts to read the next page of deliveries, if the queue runs low or everything must be read again.
func (e *endpoint) readPage(ctx actor.Context) {
	if !e.reader.startPage(e.webhook != nil && !e.enoughQueued()) {
		return
	}
	cfg, last, withRow := e.cfg, e.reader.last, e.reader.withRow
	e.runTask(ctx, storeTimeout, func(c context.Context) any {
		m := pageLoaded{endpoint: e}
		if withRow {
			m.webhook = &domain.Webhook{Meta: domain.Meta{ID: cfg.ID, WorkspaceID: cfg.Workspace}}
			if _, m.err = cfg.Store.Get(c, m.webhook); m.err != nil {
				m.webhook = nil
				return m
			}
		}
		m.items, m.full, m.err = readDeliveries(c, cfg, last)
		return m
	})
}

func (e *endpoint) onPageLoaded(ctx actor.Context, m pageLoaded) {
	if m.endpoint != e || e.stopped {
		return
	}
	settled, arrived := e.reader.endPage()
	switch {
	case errors.Is(m.err, domain.ErrNotFound):
		e.stopForGood(ctx)
		return
	case m.err != nil:
		e.reader.pageFailed(e.webhook != nil)
		e.storeFailed("webhook deliveries could not be read", m.err)
		return
	}
	e.backoff.succeeded()
	if m.webhook != nil {
		e.health.adopt(e.webhook, m.webhook)
		e.webhook = m.webhook
		e.startWaitingTests(ctx)
	}
	now := time.Now()
	for _, it := range m.items {
		if it.row.DueAt != nil {
			due := webhook.RetryTime(it.row.Attempts, *it.row.DueAt, now, retryTimeFactor(e.cfg, e.webhook))
			it.row.DueAt = &due
		}
		if known := e.queue.known[it.row.EventID]; it.row.Replay && it.row.State == domain.DeliveryQueued && (known == nil || known.row.ID != it.row.ID) {
			// The ID of a replayed delivery comes from another clock than the IDs of the outbox. Deliveries that the outbox is
			// committing may therefore sort before it, and the reader would miss them. The code below also skips a delivery
			// whose earlier result was committed just now. rereadAt repeats the read for both cases.
			e.reader.rereadAt = now.Add(2 * storeTimeout)
			e.reader.stale = e.reader.stale || arrived
		}
		if !settled[it.row.EventID] {
			e.queue.add(it)
		}
		e.reader.last = it.row.ID
	}
	e.reader.pageRead(m.full)
	e.expireAt = time.Time{}
	e.parkRetries()
}

// onNewDeliveries queues deliveries that the outbox has just committed. If earlier deliveries may be missing in memory,
// the endpoint reads the deliveries from the store instead.
func (e *endpoint) onNewDeliveries(m NewDeliveries) {
	e.reader.handedOver = e.reader.handedOver || e.reader.loading
	if e.hasMissed(m) {
		e.reader.stale = true
	}
	if e.webhook == nil || !e.reader.isCaughtUp(m.After) || e.queue.queued+len(m.Items) > e.cfg.Window {
		e.reader.more = true
		return
	}
	for _, it := range m.Items {
		e.queue.add(&queuedItem{row: it.Row, event: it.Event})
		e.reader.last = it.Row.ID
	}
}

// hasMissed reports whether a new delivery sorts before the last delivery that was read, but was never read. That
// happens if the last one is a replay, because its ID comes from another clock.
func (e *endpoint) hasMissed(m NewDeliveries) bool {
	return slices.ContainsFunc(m.Items, func(it QueuedDelivery) bool {
		id := it.Row.EventID
		return it.Row.ID <= e.reader.last && e.queue.known[id] == nil && !e.results.contains(id) && !e.reader.settled[id]
	})
}

// readDeliveries reads a page of open deliveries that follow the delivery from. It also reads the events of those
// deliveries that had no attempt yet.
func readDeliveries(ctx context.Context, cfg Config, from string) (items []*queuedItem, full bool, err error) {
	q := commit.Query{
		Kind: "delivery", Workspace: cfg.Workspace, Index: "open=" + cfg.ID, Oldest: true, From: from, Limit: cfg.Window + 1,
	}
	next, err := cfg.Store.List(ctx, q, func() domain.Record { return new(domain.Delivery) }, func(r domain.Record) error {
		if d, ok := r.(*domain.Delivery); ok && d.ID != from {
			items = append(items, &queuedItem{row: d})
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	byOffset := make([]*queuedItem, 0, len(items))
	for _, it := range items {
		if it.row.State == domain.DeliveryQueued {
			byOffset = append(byOffset, it)
		}
	}
	slices.SortFunc(byOffset, func(a, b *queuedItem) int {
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

// readEvents reads, in one read, the events of deliveries that are close together in the event log.
func readEvents(ctx context.Context, cfg Config, run []*queuedItem) error {
	first, last := run[0].row.EventOffset, run[len(run)-1].row.EventOffset
	if first == 0 {
		return nil // the event has no offset and cannot be read, so the attempt fails
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
