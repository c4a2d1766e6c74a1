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
	// minReadInterval is the shortest time between two reads of the log when no more events are stored. It makes one read
	// return the events of many small commits.
	minReadInterval = 20 * time.Millisecond
	// maxReadInterval is the longest time between two reads of the log. This process is not notified of commits of other
	// processes, so their events are seen after this time at the latest.
	maxReadInterval = 5 * time.Second
)

// FollowEvents returns a function that returns the next events and waits if there are none. A slow client needs no
// queue, because the function reads the events from the stored log.
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

// follower reads the event log of a workspace for one client.
type follower struct {
	store       store
	workspace   string
	environment domain.Environment
	types       []string
	after       uint64    // offset of the last event that was read
	end         time.Time // time of the last read at the end of the log
}

// next returns one or more events. It returns no events if ctx ends first, and io.EOF if the workspace was deleted.
func (f *follower) next(ctx context.Context) ([]event.Event, error) {
	for ctx.Err() == nil {
		committed := f.store.NextEvents(f.workspace)
		if f.store.IsDeleted(f.workspace) {
			return nil, io.EOF
		}
		// The read ignores the deadline of ctx, because the store limits the duration of a read itself. If the deadline ended
		// a read, the timeout would look like a failure of the store.
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

// wait waits for a commit of events, but at least minReadInterval and at most maxReadInterval. It ends early if ctx ends.
func (f *follower) wait(ctx context.Context, committed <-chan struct{}) {
	now := time.Now()
	minWait := time.NewTimer(minReadInterval - now.Sub(f.end))
	defer minWait.Stop()
	f.end = now
	maxWait := time.NewTimer(maxReadInterval)
	defer maxWait.Stop()
	select {
	case <-committed:
		select {
		case <-minWait.C:
		case <-ctx.Done():
		}
	case <-maxWait.C:
	case <-ctx.Done():
	}
}
