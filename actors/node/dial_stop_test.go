package node

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// dialStopRow is a store that contains only the row of a dial stop. Several DialStop values can share it.
type dialStopRow struct {
	row     *domain.DialStop // nil: not stored
	err     error            // returned by commits
	onRead  func()           // called before a read returns
	commits int
}

func (s *dialStopRow) Get(_ context.Context, into domain.Record) (uint64, error) {
	row, found := into.(*domain.DialStop), s.row
	if s.onRead != nil {
		s.onRead()
	}
	if found == nil {
		return 0, domain.ErrNotFound
	}
	*row = *found
	return 1, nil
}

func (s *dialStopRow) Apply(_ context.Context, c commit.Change) ([]event.Event, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.commits++
	row, _ := c.Puts[0].(*domain.DialStop)
	stored := *row
	s.row = &stored
	return nil, nil
}

// newDialStop returns a DialStop on a store. changes receives each value that the DialStop reports to onChange.
func newDialStop(store *dialStopRow, shared bool) (s *DialStop, changes *[]bool) {
	changes = new([]bool)
	return &DialStop{store: store, shared: shared, onChange: func(on bool) { *changes = append(*changes, on) }, log: slog.New(slog.DiscardHandler)}, changes
}

// newDialStopRow returns the row of a new dial stop.
func newDialStopRow(reason string) *domain.DialStop {
	return &domain.DialStop{Reason: reason, By: domain.Actor{Type: "user", ID: "user_1"}}
}

func TestDialStopIsStoredUntilItIsResumed(t *testing.T) {
	t.Parallel()
	store := &dialStopRow{}
	s, changes := newDialStop(store, false)
	require.NoError(t, s.load(t.Context()))
	require.NoError(t, s.Resume(t.Context(), newDialStopRow("")))
	assert.Zero(t, store.commits, "dialling was not stopped")
	now, err := s.Stop(t.Context(), newDialStopRow("a complaint"))
	require.NoError(t, err)
	assert.Equal(t, []any{true, "a complaint", "user_1"}, []any{now.Stopped, now.Reason, now.By.ID})
	assert.WithinDuration(t, time.Now(), *now.Since, time.Minute)
	now, err = s.Stop(t.Context(), newDialStopRow("another reason"))
	require.NoError(t, err)
	assert.Equal(t, "a complaint", now.Reason, "the first stop stays")
	restarted, held := newDialStop(store, false)
	require.NoError(t, restarted.load(t.Context()))
	assert.Equal(t, now, restarted.Current())
	assert.Equal(t, []bool{true}, *held)
	require.NoError(t, s.Resume(t.Context(), newDialStopRow("")))
	assert.False(t, s.isStopped())
	assert.False(t, store.row.Stopped)
	assert.Equal(t, []bool{true, false}, *changes)
}

func TestDialStopHoldsCallsWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	store := &dialStopRow{err: errors.New("no store")}
	s, changes := newDialStop(store, false)
	_, err := s.Stop(t.Context(), newDialStopRow("a complaint"))
	require.Error(t, err)
	assert.Equal(t, []any{true, []bool{true}, (*time.Time)(nil)}, []any{s.isStopped(), *changes, s.Current().Since})
	require.Error(t, s.Resume(t.Context(), newDialStopRow("")))
	assert.True(t, s.isStopped(), "dialling resumes only after the commit")
	store.err = nil
	now, err := s.Stop(t.Context(), newDialStopRow("once more"))
	require.NoError(t, err)
	assert.Equal(t, "once more", now.Reason)
}

func TestDialStopFollowsOtherNodes(t *testing.T) {
	t.Parallel()
	store := &dialStopRow{}
	one, _ := newDialStop(store, true)
	other, changes := newDialStop(store, true)
	_, err := one.Stop(t.Context(), newDialStopRow("a complaint"))
	require.NoError(t, err)
	other.poll(t.Context())
	other.poll(t.Context())
	assert.Equal(t, one.Current(), other.Current())
	require.NoError(t, one.Resume(t.Context(), newDialStopRow("")))
	now, err := other.Stop(t.Context(), newDialStopRow("a new stop"))
	require.NoError(t, err)
	assert.Equal(t, "a new stop", now.Reason, "the known stop was removed by another node")
	require.NoError(t, one.Resume(t.Context(), newDialStopRow("")), "this node has not read the stop yet")
	other.poll(t.Context())
	assert.False(t, other.isStopped())
	assert.Equal(t, []bool{true, true, false}, *changes)
}

func TestDialStopIgnoresRowsReadBeforeItsOwnChange(t *testing.T) {
	t.Parallel()
	store := &dialStopRow{}
	s, _ := newDialStop(store, true)
	_, err := s.Stop(t.Context(), newDialStopRow("a complaint"))
	require.NoError(t, err)
	store.onRead = func() {
		store.onRead = nil
		require.NoError(t, s.Resume(t.Context(), newDialStopRow("")))
	}
	s.poll(t.Context())
	assert.False(t, s.isStopped(), "the stop that was read is older than the resumption")
}
