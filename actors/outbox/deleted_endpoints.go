package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// sweepBatch is the largest number of delivery rows that one commit removes.
const sweepBatch = 500

// sweep starts a background task that removes one batch of deliveries of a deleted endpoint. It runs only between two
// commits of the outbox, because a commit in progress may still add deliveries. After a start it first searches for
// deliveries of deleted endpoints that a crash left behind.
func (o *outbox) sweep(ctx actor.Context, now time.Time) {
	if o.subscribers == nil || o.isSweeping || len(o.deletedEndpoints) == 0 || o.sweepAt.After(now) {
		return
	}
	o.isSweeping = true
	cfg, id := o.cfg, o.deletedEndpoints[0]
	if id == "" {
		known := make(map[string]bool, len(o.subscribers))
		for hookID := range o.subscribers {
			known[hookID] = true
		}
		o.runTask(ctx, func(c context.Context) any {
			ids, err := findDeletedEndpoints(c, cfg, known)
			return sweepDone{outbox: o, done: true, found: ids, err: err}
		})
		return
	}
	o.runTask(ctx, func(c context.Context) any {
		done, err := removeDeliveries(c, cfg, id)
		return sweepDone{outbox: o, done: done, err: err}
	})
}

// removeDeliveries deletes one batch of the deliveries of an endpoint. done is true if no delivery is left.
func removeDeliveries(ctx context.Context, cfg Config, id string) (done bool, err error) {
	change := commit.Change{Workspace: cfg.Workspace}
	prefix := domain.Key{Kind: "delivery", Workspace: cfg.Workspace, ID: id + "/"}
	err = cfg.Store.Under(ctx, prefix, "", sweepBatch, newDelivery, func(r domain.Record) error {
		change.Deletes = append(change.Deletes, r.Key())
		return nil
	})
	if err != nil || len(change.Deletes) == 0 {
		return true, err
	}
	_, err = cfg.Store.Apply(ctx, change)
	return len(change.Deletes) < sweepBatch, err
}

// findDeletedEndpoints returns the ids of endpoints that have deliveries but are not stored. It reads one
// delivery per endpoint and skips the endpoints in known.
func findDeletedEndpoints(ctx context.Context, cfg Config, known map[string]bool) (ids []string, err error) {
	prefix := domain.Key{Kind: "delivery", Workspace: cfg.Workspace}
	for after := ""; ; {
		found := ""
		err = cfg.Store.Under(ctx, prefix, after, 1, newDelivery, func(r domain.Record) error {
			if d, ok := r.(*domain.Delivery); ok {
				found = d.WebhookID
			}
			return nil
		})
		if err != nil || found == "" {
			return ids, err
		}
		after = found + "/~" // after every delivery of this endpoint
		if known[found] {
			continue
		}
		row := &domain.Webhook{Meta: domain.Meta{ID: found, WorkspaceID: cfg.Workspace}}
		switch _, err = cfg.Store.Get(ctx, row); {
		case errors.Is(err, domain.ErrNotFound):
			ids = append(ids, found)
		case err != nil:
			return nil, err
		}
	}
}

func newDelivery() domain.Record { return new(domain.Delivery) }

func (o *outbox) onSweepDone(m sweepDone) {
	if m.outbox != o {
		return
	}
	o.isSweeping = false
	if m.err != nil {
		o.sweepAt = time.Now().Add(maxBackoff)
		o.log.Warn("deliveries of a deleted endpoint could not be removed", slog.Any("error", m.err))
		return
	}
	if m.done {
		o.deletedEndpoints = slices.Delete(o.deletedEndpoints, 0, 1)
	}
	o.deletedEndpoints = append(o.deletedEndpoints, m.found...)
}
