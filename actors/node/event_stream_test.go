package node_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/events"
)

func TestEventStreamContinuesPastTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	touch := func(p domain.Principal, id, name string) {
		_, err := d.Agents.UpdateAgent(ctx, p, id, func(a *domain.Agent) error { a.Name = name; return nil })
		require.NoError(t, err)
	}
	for i := range 205 {
		touch(h.live, agent, fmt.Sprint("name ", i))
	}
	all := h.events(h.live.WorkspaceID)
	follow := func(q events.Query) func(context.Context) ([]event.Event, error) {
		next, err := d.Events.FollowEvents(ctx, h.live, q)
		require.NoError(t, err)
		return next
	}
	whole, now, half := follow(events.Query{}), follow(events.Query{After: events.FromNow}), follow(events.Query{After: all[100].ID, Types: []string{"agent.updated"}})
	take := func(next func(context.Context) ([]event.Event, error), n int) (ids []string) {
		bound, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		for len(ids) < n {
			batch, err := next(bound)
			require.NoError(t, err)
			require.NotEmpty(t, batch, "in time")
			for _, e := range batch {
				ids = append(ids, e.ID)
			}
		}
		return ids
	}
	ids := func(events []event.Event) (ids []string) {
		for _, e := range events {
			ids = append(ids, e.ID)
		}
		return ids
	}
	assert.Equal(t, ids(all), take(whole, len(all)))
	assert.Equal(t, ids(all[101:]), take(half, len(all)-101))
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	none, err := whole(short)
	require.NoError(t, err)
	assert.Empty(t, none, "a reader at the end of the log waits")

	testing := h.createAgent(h.test, keyMenuPathway())
	touch(h.test, testing, "not for who follows what is live")
	touch(h.live, agent, "last")
	all = h.events(h.live.WorkspaceID)
	last := all[len(all)-1].ID
	for _, next := range []func(context.Context) ([]event.Event, error){whole, now, half} {
		assert.Equal(t, []string{last}, take(next, 1))
	}
	none, err = follow(events.Query{After: last})(short)
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestEventStreamReaderWakesAtACommit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	d := h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	next, err := d.Events.FollowEvents(t.Context(), h.live, events.Query{After: events.FromNow})
	require.NoError(t, err)
	got := make(chan []event.Event, 1)
	for i := range 5 {
		go func() {
			batch, err := next(t.Context())
			assert.NoError(t, err)
			got <- batch
		}()
		_, err = d.Agents.UpdateAgent(t.Context(), h.live, agent, func(a *domain.Agent) error { a.Name = strconv.Itoa(i); return nil })
		require.NoError(t, err)
		select {
		case batch := <-got:
			assert.Len(t, batch, 1)
		case <-time.After(4 * time.Second): // without the notification the reader polls every five seconds
			t.Fatal("nobody woke it")
		}
	}
}

func TestEventStreamEndsWhenItsWorkspaceIsDeleted(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	w, _, _, err := h.services().Workspaces.CreateWorkspace(t.Context(), &domain.Workspace{
		Name: "short", Plan: domain.Starter, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}},
	})
	require.NoError(t, err)
	p := domain.Principal{WorkspaceID: w.ID, Environment: domain.Live, Permissions: []domain.Permission{domain.AllRead}}
	next, err := h.services().Events.FollowEvents(t.Context(), p, events.Query{})
	require.NoError(t, err)
	require.NoError(t, h.services().Workspaces.DeleteWorkspace(t.Context(), h.live, w.ID))
	h.waitUntil(10*time.Second, "the alert is resolved", func() bool {
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := next(short)
		return errors.Is(err, io.EOF)
	})
}

// storeWithDeadlines fails event reads whose context has a deadline. A network connection does the same if its own
// timeout ends before the context.
type storeWithDeadlines struct{ storecache.Backend }

func (s storeWithDeadlines) Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error) {
	if _, ends := ctx.Deadline(); ends {
		return nil, fmt.Errorf("%w: %w", persistence.ErrUnavailable, os.ErrDeadlineExceeded)
	}
	return s.Backend.Events(ctx, workspace, after, limit)
}

func TestEventWaitTimeoutIsNotReportedAsStoreError(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.wrapStore = func(s storecache.Backend) storecache.Backend { return storeWithDeadlines{s} }
	h.start()
	next, err := h.services().Events.FollowEvents(t.Context(), h.live, events.Query{After: events.FromNow})
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	events, err := next(short)
	require.NoError(t, err)
	assert.Empty(t, events)
}
