package actors

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// trimStep is how many events one commit forgets.
const trimStep = 5000

// sweepEvents forgets the events that a workspace keeps no longer, and the log of
// their deliveries. What an endpoint is still to be sent stays, and everything
// behind it.
func (d *Desk) sweepEvents(ctx context.Context, workspaceID string, now time.Time) error {
	w := d.node.Workspace(workspaceID)
	if w == nil || w.Retention.EventDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.EventDays)
	hooks, err := d.endpointsOf(ctx, workspaceID)
	if err != nil {
		return err
	}
	for _, id := range hooks {
		if err = d.sweepDeliveries(ctx, workspaceID, id, before); err != nil {
			return err
		}
	}
	upto, err := d.trimBound(ctx, workspaceID, hooks, before)
	if err != nil || upto == 0 {
		return err
	}
	first, err := d.store.Events(ctx, workspaceID, 0, 1)
	if err != nil || len(first) == 0 {
		return err
	}
	for at := first[0].Offset - 1; at < upto && ctx.Err() == nil; {
		at = min(at+trimStep, upto)
		if _, err = d.store.Apply(ctx, commit.Change{Workspace: workspaceID, Trim: at}); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desk) endpointsOf(ctx context.Context, workspaceID string) (ids []string, err error) {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		err = commit.Each(ctx, d.store, "webhook", workspaceID, "env="+string(env), func(w *domain.Webhook) { ids = append(ids, w.ID) })
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// trimBound is the offset up to which nobody needs the events any more: they
// are old, have been fanned out, and no endpoint waits for one of them. The
// oldest open delivery of an endpoint is that of its oldest event, but for what
// was asked for again.
func (d *Desk) trimBound(ctx context.Context, workspaceID string, hooks []string, before time.Time) (uint64, error) {
	upto, err := d.OffsetBefore(ctx, workspaceID, before)
	if err != nil || upto == 0 {
		return 0, err
	}
	place := &outbox.Place{WorkspaceID: workspaceID}
	if _, err = d.store.Get(ctx, place); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return 0, err
	}
	if len(hooks) > 0 { // one that is made later begins behind the end of the log
		upto = min(upto, place.Offset)
	}
	for _, id := range hooks {
		q := commit.Query{Kind: "delivery", Workspace: workspaceID, Index: "open=" + id, Oldest: true, Limit: 1}
		_, err = d.store.List(ctx, q, func() domain.Record { return new(domain.Delivery) }, func(r domain.Record) error {
			if open, ok := r.(*domain.Delivery); ok && open.EventOffset > 0 {
				upto = min(upto, open.EventOffset-1)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return upto, nil
}

// sweepDeliveries deletes settled deliveries of old events. Their rows stand in
// the order of events, and so of time.
func (d *Desk) sweepDeliveries(ctx context.Context, workspaceID, hookID string, before time.Time) error {
	prefix := domain.Key{Kind: "delivery", Workspace: workspaceID, ID: hookID + "/"}
	first := hookID + "/" + record.IDAt(domain.PrefixEvent, before)
	for after, n := "", record.SweepRows; n == record.SweepRows && ctx.Err() == nil; {
		n = 0
		var old []*domain.Delivery
		err := d.store.Under(ctx, prefix, after, record.SweepRows, func() domain.Record { return new(domain.Delivery) }, func(r domain.Record) error {
			if r.Key().ID >= first {
				return errYoung
			}
			n, after = n+1, r.Key().ID
			if row, ok := r.(*domain.Delivery); ok && row.Settled() {
				old = append(old, row)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errYoung) {
			return err
		}
		if err = d.dropDeliveries(ctx, workspaceID, old); err != nil {
			return err
		}
	}
	return nil
}

// dropDeliveries deletes rows unless one is on its way again: then the next
// sweep finds the others.
func (d *Desk) dropDeliveries(ctx context.Context, workspaceID string, old []*domain.Delivery) error {
	c := commit.Change{Workspace: workspaceID}
	for _, row := range old {
		version, err := d.store.Get(ctx, row)
		if errors.Is(err, domain.ErrNotFound) || err == nil && !row.Settled() {
			continue
		}
		if err != nil {
			return err
		}
		c.Guards = append(c.Guards, commit.Guard{Key: row.Key(), Version: version})
		c.Deletes = append(c.Deletes, row.Key())
	}
	if len(c.Deletes) == 0 {
		return nil
	}
	_, err := d.store.Apply(ctx, c)
	if errors.Is(err, domain.ErrConflict) {
		return nil
	}
	return err
}
