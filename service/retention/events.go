package retention

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// trimStep is the number of events that one commit deletes.
const trimStep = 5000

// sweepEvents deletes expired events and their webhook deliveries. If an event has an unfinished delivery, this event
// and all later events are retained.
func (s *Service) sweepEvents(ctx context.Context, workspaceID string, now time.Time) error {
	w := s.workspaces.Workspace(workspaceID)
	if w == nil || w.Retention.EventDays <= 0 {
		return nil
	}
	before := now.AddDate(0, 0, -w.Retention.EventDays)
	webhookIDs, err := s.webhookIDs(ctx, workspaceID)
	if err != nil {
		return err
	}
	for _, id := range webhookIDs {
		if err = s.sweepDeliveries(ctx, workspaceID, id, before); err != nil {
			return err
		}
	}
	bound, err := s.trimBound(ctx, workspaceID, webhookIDs, before)
	if err != nil || bound == 0 {
		return err
	}
	first, err := s.store.Events(ctx, workspaceID, 0, 1)
	if err != nil || len(first) == 0 {
		return err
	}
	for at := first[0].Offset - 1; at < bound && ctx.Err() == nil; {
		at = min(at+trimStep, bound)
		if _, err = s.store.Apply(ctx, commit.Change{Workspace: workspaceID, DeleteEventsUpTo: at}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) webhookIDs(ctx context.Context, workspaceID string) (ids []string, err error) {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		err = commit.ForEachRow(ctx, s.store, "webhook", workspaceID, "env="+string(env), func(w *domain.Webhook) { ids = append(ids, w.ID) })
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// trimBound returns the offset up to which events may be deleted. Those events are expired, the outbox has read them,
// and no webhook endpoint has an unfinished delivery of them. The oldest unfinished delivery of an endpoint belongs to
// its oldest event with one, except for replays, whose deliveries are newer than their events.
func (s *Service) trimBound(ctx context.Context, workspaceID string, webhookIDs []string, before time.Time) (uint64, error) {
	bound, err := s.events.OffsetBefore(ctx, workspaceID, before)
	if err != nil || bound == 0 {
		return 0, err
	}
	position := &outbox.LogPosition{WorkspaceID: workspaceID}
	if _, err = s.store.Get(ctx, position); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return 0, err
	}
	if len(webhookIDs) > 0 { // an endpoint that is created later starts at the end of the log
		bound = min(bound, position.Offset)
	}
	for _, id := range webhookIDs {
		q := commit.Query{Kind: "delivery", Workspace: workspaceID, Index: "open=" + id, Oldest: true, Limit: 1}
		_, err = s.store.List(ctx, q, func() domain.Record { return new(domain.Delivery) }, func(r domain.Record) error {
			if open, ok := r.(*domain.Delivery); ok && open.EventOffset > 0 {
				bound = min(bound, open.EventOffset-1)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return bound, nil
}

// sweepDeliveries deletes finished deliveries of expired events. The scan ends at the first retained row, because
// rows sort by event id and event ids sort by time.
func (s *Service) sweepDeliveries(ctx context.Context, workspaceID, webhookID string, before time.Time) error {
	prefix := domain.Key{Kind: "delivery", Workspace: workspaceID, ID: webhookID + "/"}
	first := webhookID + "/" + domain.FirstIDAt(domain.PrefixEvent, before)
	for after, n := "", record.SweepRows; n == record.SweepRows && ctx.Err() == nil; {
		n = 0
		var old []*domain.Delivery
		err := s.store.Under(ctx, prefix, after, record.SweepRows, func() domain.Record { return new(domain.Delivery) }, func(r domain.Record) error {
			if r.Key().ID >= first {
				return errRetained
			}
			n, after = n+1, r.Key().ID
			if row, ok := r.(*domain.Delivery); ok && row.IsFinal() {
				old = append(old, row)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errRetained) {
			return err
		}
		if err = s.deleteDeliveries(ctx, workspaceID, old); err != nil {
			return err
		}
	}
	return nil
}

// deleteDeliveries deletes finished deliveries. If one of these deliveries is queued again at the same time, the
// commit fails and the next sweep tries again.
func (s *Service) deleteDeliveries(ctx context.Context, workspaceID string, old []*domain.Delivery) error {
	c := commit.Change{Workspace: workspaceID}
	for _, row := range old {
		version, err := s.store.Get(ctx, row)
		if errors.Is(err, domain.ErrNotFound) || err == nil && !row.IsFinal() {
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
	_, err := s.store.Apply(ctx, c)
	if errors.Is(err, domain.ErrConflict) {
		return nil
	}
	return err
}
