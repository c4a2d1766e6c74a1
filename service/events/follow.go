package events

import (
	"context"
	"io"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

const (
	eventsPerFollow = 100
	// minReadInterval is the least time between two looks at the end of the log: many
	// small commits are read together.
	minReadInterval = 20 * time.Millisecond
	// maxReadInterval finds events that another process committed.
	maxReadInterval = 5 * time.Second
)

// FollowEvents reads events forwards and goes on with those that come. Nothing
// is queued for the reader: it reads the log at its own pace.
func (s *Service) FollowEvents(ctx context.Context, p domain.Principal, q Query) (next func(context.Context) ([]event.Event, error), err error) {
	var after uint64
	if q.After == FromNow {
		after, err = s.store.LastOffset(ctx, p.WorkspaceID)
		err = commit.StoreError(err)
	} else {
		after, err = s.offsetAfter(ctx, p.WorkspaceID, q.After)
	}
	f := &follower{store: s.store, workspace: p.WorkspaceID, environment: p.Environment, types: q.Types, after: after}
	return f.next, err
}

// follower is one who follows events.
type follower struct {
	store       store
	workspace   string
	environment domain.Environment
	types       []string
	after       uint64    // the offset of the last event that was looked at
	end         time.Time // when the end of the log was seen
}

// next answers at least one event, or none where ctx ends before there is one.
func (f *follower) next(ctx context.Context) ([]event.Event, error) {
	for ctx.Err() == nil {
		committed := f.store.NextEvents(f.workspace)
		if f.store.IsDeleted(f.workspace) {
			return nil, io.EOF
		}
		// The store limits the duration of a read. With ctx itself, the deadline of the connection could pass just before
		// ctx ends, and the timeout would look like a failure of the store.
		batch, err := f.store.Events(context.WithoutCancel(ctx), f.workspace, f.after, eventsPerFollow)
		if err != nil {
			return nil, commit.StoreError(err)
		}
		var out []event.Event
		for i := range batch {
			if f.after = batch[i].Offset; batch[i].Environment == f.environment && event.MatchesTypes(f.types, batch[i].Type) {
				out = append(out, batch[i])
			}
		}
		if len(out) > 0 {
			return out, nil
		}
		if len(batch) == 0 && ctx.Err() == nil {
			f.wait(ctx, committed)
		}
	}
	return nil, nil
}

// wait waits for a commit, a while, or the end of ctx.
func (f *follower) wait(ctx context.Context, committed <-chan struct{}) {
	now := time.Now()
	rest := time.NewTimer(minReadInterval - now.Sub(f.end))
	defer rest.Stop()
	f.end = now
	look := time.NewTimer(maxReadInterval)
	defer look.Stop()
	select {
	case <-committed:
		select {
		case <-rest.C:
		case <-ctx.Done():
		}
	case <-look.C:
	case <-ctx.Done():
	}
}
