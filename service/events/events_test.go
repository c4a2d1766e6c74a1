package events_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

// eventStore is a store that reports commits in one workspace to waiting readers only when the test calls notify.
type eventStore struct {
	*persistence.Store

	mu      sync.Mutex
	next    chan struct{}
	deleted bool
	asked   chan struct{} // signaled when a follower requests the next commit
}

func (s *eventStore) NextEvents(string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.asked <- struct{}{}:
	default:
	}
	return s.next
}

func (s *eventStore) IsDeleted(string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deleted
}

// notify wakes the readers that wait for events. If deleted is set, the store reports that the workspace is deleted.
func (s *eventStore) notify(deleted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.next)
	s.next, s.deleted = make(chan struct{}), deleted
}

type fixture struct {
	*events.Service

	store *eventStore
	by    domain.Principal
	call  *domain.Call
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: &eventStore{Store: pebbletest.Open(t), next: make(chan struct{}), asked: make(chan struct{}, 1)}, by: recordtest.Live(recordtest.Workspace)}
	f.call = &domain.Call{Meta: domain.Meta{ID: "call_1", WorkspaceID: recordtest.Workspace, Environment: domain.Live, CreatedAt: time.Now()}}
	f.Service = events.New(events.Config{Store: f.store, Call: func(_ context.Context, p domain.Principal, id string) (*domain.Call, error) {
		if p.WorkspaceID != recordtest.Workspace || id != f.call.ID {
			return nil, domain.NotFound("call")
		}
		return f.call, nil
	}})
	return f
}

// commit commits an event about a resource and returns the id of the event.
func (f *fixture) commit(t *testing.T, env domain.Environment, kind event.Type, subject string) string {
	t.Helper()
	d := outbox.NewEvent(&domain.Meta{WorkspaceID: recordtest.Workspace, Environment: env}, kind, subject, "unit", map[string]any{})
	_, err := f.store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, Events: []event.Draft{d}})
	require.NoError(t, err)
	return d.ID
}

func ids(all []event.Event) (out []string) {
	for i := range all {
		out = append(out, all[i].ID)
	}
	return out
}

func TestListEventsPagesByTypeAndEnvironment(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	one := f.commit(t, domain.Live, event.CallEnded, "call_1")
	f.commit(t, domain.Test, event.CallEnded, "call_2")
	f.commit(t, domain.Live, event.CampaignCreated, "campaign_1")
	two := f.commit(t, domain.Live, event.CallEnded, "call_3")
	q := events.Query{Types: []string{"call.ended"}, Limit: 1}
	page, err := f.ListEvents(t.Context(), f.by, q)
	require.NoError(t, err)
	assert.Equal(t, []string{one}, ids(page.Data))
	q.After = page.Next
	page, err = f.ListEvents(t.Context(), f.by, q)
	require.NoError(t, err)
	assert.Equal(t, []string{two}, ids(page.Data))
	assert.Empty(t, page.Next)
	_, err = f.ListEvents(t.Context(), f.by, events.Query{After: record.RequestResourceID(t.Context(), domain.PrefixEvent), Limit: 1})
	assert.Equal(t, "after", recordtest.ErrorField(err))

	page, err = f.CallEvents(t.Context(), f.by, "call_1", events.Query{Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []string{one}, ids(page.Data))
	_, err = f.CallEvents(t.Context(), f.by, "call_1", events.Query{Limit: 10, After: "event_x"})
	assert.Equal(t, "cursor", recordtest.ErrorField(err))
}

func TestEventOfAnotherWorkspaceOrEnvironmentIsNotFound(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	id := f.commit(t, domain.Live, event.CallEnded, "call_1")
	e, err := f.Event(t.Context(), f.by, id)
	require.NoError(t, err)
	assert.Equal(t, "call_1", e.Subject)
	for _, p := range []domain.Principal{recordtest.Live(recordtest.OtherWorkspace), {WorkspaceID: recordtest.Workspace, Environment: domain.Test}} {
		_, err = f.Event(t.Context(), p, id)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	}
	page, err := f.ListEvents(t.Context(), recordtest.Live(recordtest.OtherWorkspace), events.Query{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, page.Data)
}

func TestEventCursorOfDeletedEventIsExpired(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	code := func(after string) domain.Code {
		_, err := f.ListEvents(t.Context(), f.by, events.Query{After: after, Limit: 10})
		return domain.CodeOf(err)
	}
	one := f.commit(t, domain.Live, event.CallEnded, "call_1")
	two := f.commit(t, domain.Live, event.CallEnded, "call_2")
	f.commit(t, domain.Live, event.CallEnded, "call_3")
	_, err := f.store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, DeleteEvents: []uint64{2}})
	require.NoError(t, err)
	assert.Equal(t, domain.CodeCursorExpired, code(two), "a data request deleted the event")
	assert.Empty(t, code(one))
	_, err = f.store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, DeleteEventsUpTo: 3})
	require.NoError(t, err)
	assert.Equal(t, domain.CodeCursorExpired, code(one), "all events are deleted")
}

func TestFollowEventsReturnsNewEvents(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.commit(t, domain.Live, event.CallEnded, "call_1")
	next, err := f.FollowEvents(t.Context(), f.by, events.Query{After: events.FromNow, Types: []string{"call.ended"}})
	require.NoError(t, err)
	read := make(chan []event.Event)
	failed := make(chan error, 1)
	go func() {
		for {
			all, err := next(t.Context())
			if err != nil {
				failed <- err
				return
			}
			read <- all
		}
	}()
	<-f.store.asked // the follower waits, or is about to wait
	f.commit(t, domain.Live, event.CampaignCreated, "campaign_1")
	id := f.commit(t, domain.Live, event.CallEnded, "call_2")
	f.store.notify(false)
	assert.Equal(t, []string{id}, ids(<-read))
	f.store.notify(true)
	require.ErrorIs(t, <-failed, io.EOF, "the workspace was deleted")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	all, err := next(ended)
	require.NoError(t, err)
	assert.Empty(t, all)
}
