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

// outboxDelay is how long deliveries are withheld from the store.
const outboxDelay = 50 * time.Millisecond

// splitOutboxCommits is the control of the kill test of deliveries: with FAILPOINT_SKIP
// the outbox's place in the log is stored before the deliveries of the events in
// front of it, and not with them, so that a kill in between must lose some.
func splitOutboxCommits(s storecache.Backend) storecache.Backend {
	if os.Getenv("FAILPOINT_SKIP") == "" {
		return s
	}
	return splitOutboxCommitStore{s}
}

type splitOutboxCommitStore struct{ storecache.Backend }

// Apply is commit.Store's.
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
