package webhooks

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
)

// eventsPerRead is how many events a replay reads at a time.
const eventsPerRead = 500

// ReplayWebhook queues events for an endpoint again. Each event keeps its id, and its delivery attempts are counted from
// one again. A delivery that is still queued is not changed.
func (s *Service) ReplayWebhook(ctx context.Context, p domain.Principal, id string, o ReplayOrder) (Replay, error) {
	out := Replay{Accepted: []string{}, NotFound: []string{}, DryRun: o.DryRun}
	w, err := s.Webhook(ctx, p, id)
	if err != nil {
		return out, err
	}
	var found []event.Event
	if len(o.EventIDs) > 0 {
		found, out.NotFound, err = s.eventsByID(ctx, p, o.EventIDs)
	} else {
		found, out.NextFrom, err = s.eventsBetween(ctx, p, w, o)
		out.More = out.NextFrom != nil
	}
	if err != nil {
		return out, commit.StoreError(err)
	}
	if !o.DryRun && len(found) > 0 { // the webhook actor reads its row and its queue again; the outbox needs no notice
		defer func() { s.system.Root.Send(s.actors.WebhookPID(w), webhook.EndpointChanged{}) }()
	}
	for i := range found {
		if !o.DryRun {
			if err = s.redeliver(ctx, w, &found[i]); err != nil {
				return out, commit.StoreError(err)
			}
		}
		out.Accepted = append(out.Accepted, found[i].ID)
	}
	return out, nil
}

// eventsByID returns the events with these ids in the principal's environment, each once, and the unknown ids.
func (s *Service) eventsByID(ctx context.Context, p domain.Principal, ids []string) (found []event.Event, unknown []string, err error) {
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
			at, err = s.events.OffsetOf(ctx, p.WorkspaceID, good)
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
		got, err := s.store.Events(ctx, p.WorkspaceID, at-1, 1)
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

// eventsBetween returns the events in the time range of a replay to which the endpoint subscribes, in commit order. It
// reads a limited part of the event log. next is the start time for the next replay; nil if no further events exist.
func (s *Service) eventsBetween(ctx context.Context, p domain.Principal, w *domain.Webhook, o ReplayOrder) (found []event.Event, next *time.Time, err error) {
	after, err := s.events.OffsetBefore(ctx, p.WorkspaceID, o.From)
	if err != nil {
		return nil, nil, err
	}
	for range record.MaxPageReads {
		batch, err := s.store.Events(ctx, p.WorkspaceID, after, eventsPerRead)
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
				e.CreatedAt.Before(o.From) || !e.CreatedAt.Before(o.To) || !event.MatchesTypes(o.Types, e.Type) {
				continue
			}
			// Events with the same creation time stay in one replay. The next replay starts at the time next and therefore
			// neither skips nor repeats any of them.
			if n := len(found); n >= MaxReplay && e.CreatedAt.After(o.From) && !e.CreatedAt.Equal(found[n-1].CreatedAt) {
				return found, next, nil
			}
			found = append(found, *e)
		}
		if len(batch) < eventsPerRead {
			return found, nil, nil
		}
	}
	if next.Before(o.From) { // events may be out of order by event.MaxDisorder
		next = &o.From
	}
	return found, next, nil
}

func subscribed(w *domain.Webhook, e *event.Event) bool {
	_, ok := domainwebhook.MatchEvent(w, e, func() event.Attributes { return event.AttributesOf(e) })
	return ok
}

// redeliver replaces the finished delivery of an event by a new one. A queued delivery is not changed.
func (s *Service) redeliver(ctx context.Context, w *domain.Webhook, e *event.Event) error {
	for range record.MaxTries {
		row := &domain.Delivery{WorkspaceID: w.WorkspaceID, WebhookID: w.ID, EventID: e.ID}
		version, err := s.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return err
		}
		if err == nil && (row.State == domain.DeliveryQueued || row.State == domain.DeliveryRetrying) {
			return nil
		}
		name, ok := event.MatchSubscription(w.Events, e.Type)
		if !ok {
			name = string(e.Type)
		}
		fresh := &domain.Delivery{
			ID: mailbox.NewID(domain.PrefixDelivery), WorkspaceID: w.WorkspaceID, WebhookID: w.ID, EventID: e.ID, EventType: name,
			EventOffset: e.Offset, Subject: e.Subject, State: domain.DeliveryQueued, CreatedAt: record.Now(), Replay: true,
		}
		_, err = s.store.Apply(ctx, commit.Change{Workspace: w.WorkspaceID, Guards: []commit.Guard{{Key: fresh.Key(), Version: version}}, Puts: []domain.Record{fresh}})
		if !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return domain.ErrConflict
}
