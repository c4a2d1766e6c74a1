package actors

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	domainwebhook "github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

// eventsPerRead is how many events a replay reads at once.
const eventsPerRead = 500

// ReplayWebhook queues events for an endpoint again: each keeps its id and has
// its attempts from the first one on. What is on its way already goes on as it
// is.
func (d *Desk) ReplayWebhook(ctx context.Context, p domain.Principal, id string, o webhooks.ReplayOrder) (webhooks.Replay, error) {
	out := webhooks.Replay{Accepted: []string{}, NotFound: []string{}, DryRun: o.DryRun}
	w, err := d.Webhook(ctx, p, id)
	if err != nil {
		return out, err
	}
	var found []event.Event
	if len(o.EventIDs) > 0 {
		found, out.NotFound, err = d.eventsNamed(ctx, p, o.EventIDs)
	} else {
		found, out.NextFrom, err = d.eventsBetween(ctx, p, w, o)
		out.More = out.NextFrom != nil
	}
	if err != nil {
		return out, record.StoreError(err)
	}
	if !o.DryRun && len(found) > 0 { // it reads its row and its queue anew; the outbox knows the endpoint as it is
		defer func() { d.node.sys.Root.Send(d.node.webhookPID(w), webhook.Changed{}) }()
	}
	for i := range found {
		if !o.DryRun {
			if err = d.redeliver(ctx, w, &found[i]); err != nil {
				return out, record.StoreError(err)
			}
		}
		out.Accepted = append(out.Accepted, found[i].ID)
	}
	return out, nil
}

// eventsNamed finds events of the principal's environment, each once.
func (d *Desk) eventsNamed(ctx context.Context, p domain.Principal, ids []string) (found []event.Event, unknown []string, err error) {
	unknown = []string{}
	seen := make(map[string]bool)
	for _, id := range ids {
		good, err := domain.ParseID(domain.PrefixEvent, id)
		if seen[good] && err == nil {
			continue
		}
		seen[good] = true
		var at uint64
		if err == nil {
			at, err = d.OffsetOf(ctx, p.WorkspaceID, good)
		} else {
			err = domain.ErrNotFound
		}
		if errors.Is(err, domain.ErrNotFound) {
			unknown = append(unknown, id)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		got, err := d.store.Events(ctx, p.WorkspaceID, at-1, 1)
		if err != nil {
			return nil, nil, err
		}
		if len(got) == 0 || got[0].ID != good || got[0].Environment != p.Environment {
			unknown = append(unknown, id)
			continue
		}
		found = append(found, got[0])
	}
	return found, unknown, nil
}

// eventsBetween finds what an endpoint subscribes to, in the order of commits,
// within a bounded stretch of the log; next: there may be more from then on.
func (d *Desk) eventsBetween(ctx context.Context, p domain.Principal, w *domain.Webhook, o webhooks.ReplayOrder) (found []event.Event, next *time.Time, err error) {
	after, err := d.OffsetBefore(ctx, p.WorkspaceID, o.From)
	if err != nil {
		return nil, nil, err
	}
	for range record.MaxPageReads {
		batch, err := d.store.Events(ctx, p.WorkspaceID, after, eventsPerRead)
		if err != nil {
			return nil, nil, err
		}
		for i := range batch {
			e := &batch[i]
			after, next = e.Offset, &e.CreatedAt
			if e.CreatedAt.After(o.To.Add(event.MaxDisorder)) {
				return found, nil, nil
			}
			if e.Environment != p.Environment || !subscribed(w, e) ||
				e.CreatedAt.Before(o.From) || !e.CreatedAt.Before(o.To) || !event.IsWanted(o.Types, e.Type) {
				continue
			}
			// What was made at one moment stays together, so that who goes on
			// from next neither misses any of it nor comes back to it.
			if n := len(found); n >= webhooks.MaxReplay && e.CreatedAt.After(o.From) && !e.CreatedAt.Equal(found[n-1].CreatedAt) {
				return found, next, nil
			}
			found = append(found, *e)
		}
		if len(batch) < eventsPerRead {
			return found, nil, nil
		}
	}
	if next.Before(o.From) { // which the event.MaxDisorder of the log may make it
		next = &o.From
	}
	return found, next, nil
}

func subscribed(w *domain.Webhook, e *event.Event) bool {
	_, ok := domainwebhook.Wants(w, e, func() event.About { return event.Of(e) })
	return ok
}

// redeliver puts the delivery of an event back to its beginning.
func (d *Desk) redeliver(ctx context.Context, w *domain.Webhook, e *event.Event) error {
	for range record.MaxTries {
		row := &domain.Delivery{WorkspaceID: w.WorkspaceID, WebhookID: w.ID, EventID: e.ID}
		version, err := d.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return err
		}
		if err == nil && (row.State == domain.DeliveryQueued || row.State == domain.DeliveryRetrying) {
			return nil
		}
		name, ok := event.Match(w.Events, e.Type)
		if !ok {
			name = string(e.Type)
		}
		fresh := &domain.Delivery{
			ID: mailbox.NewID(domain.PrefixDelivery), WorkspaceID: w.WorkspaceID, WebhookID: w.ID, EventID: e.ID, EventType: name,
			EventOffset: e.Offset, Subject: e.Subject, State: domain.DeliveryQueued, CreatedAt: record.Now(), Replay: true,
		}
		_, err = d.store.Apply(ctx, commit.Change{Workspace: w.WorkspaceID, Guards: []commit.Guard{{Key: fresh.Key(), Version: version}}, Puts: []domain.Record{fresh}})
		if !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return domain.ErrConflict
}
