//go:build failpoints

package store

import (
	"context"
	"os"
	"time"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// outboxDelay is the pause between the commit of the outbox position and that of the deliveries.
const outboxDelay = 50 * time.Millisecond

// splitOutboxCommits commits the position of the event outbox first and the webhook deliveries later.
// FAILPOINT_SPLIT_OUTBOX_COMMIT enables this. The kill test of webhooks must then see lost deliveries.
func splitOutboxCommits(s storecache.Backend) storecache.Backend {
	if os.Getenv("FAILPOINT_SPLIT_OUTBOX_COMMIT") == "" {
		return s
	}
	return splitOutboxCommitStore{s}
}

// splitOutboxCommitStore splits a commit of the event outbox into two commits.
type splitOutboxCommitStore struct{ storecache.Backend }

// Apply commits a change. It commits the position of the event outbox before the webhook deliveries.
func (s splitOutboxCommitStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	place := commit.Change{Workspace: c.Workspace, Guards: c.Guards}
	rows := commit.Change{Workspace: c.Workspace}
	for _, r := range c.Puts {
		part := &rows
		if r.Key().Kind == "outbox" {
			part = &place
		}
		part.Puts = append(part.Puts, r)
	}
	if len(place.Puts) == 0 || len(rows.Puts) == 0 {
		return s.Backend.Apply(ctx, c)
	}
	if _, err := s.Backend.Apply(ctx, place); err != nil {
		return nil, err
	}
	time.Sleep(outboxDelay)
	return s.Backend.Apply(context.WithoutCancel(ctx), rows)
}
