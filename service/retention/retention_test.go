package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/retention"
)

// node is a fake of all dependencies of the service, with one workspace. It records what the service deletes.
type node struct {
	workspace    *domain.Workspace
	blobs        []string // names of deleted blobs
	calls, freed []string // ids of deleted calls and of appointments whose time slot was freed
	undeletable  error    // error of deleting a blob
}

func (n *node) Workspace(id string) *domain.Workspace {
	if id != n.workspace.ID {
		return nil
	}
	return n.workspace
}

func (n *node) Delete(_ context.Context, _, name string) error {
	n.blobs = append(n.blobs, name)
	return n.undeletable
}

func (n *node) DeleteCalls(_ context.Context, _ string, calls []*domain.Call) error {
	for _, c := range calls {
		n.calls = append(n.calls, c.ID)
	}
	return nil
}

func (n *node) FreeTime(_ context.Context, _ *commit.Change, a *domain.Appointment) error {
	n.freed = append(n.freed, a.ID)
	return nil
}

func (*node) OffsetBefore(context.Context, string, time.Time) (uint64, error) { return 0, nil }

func open(t *testing.T, steps ...retention.Step) (*retention.Service, *node, *persistence.Store) {
	t.Helper()
	store, n := pebbletest.Open(t), &node{workspace: &domain.Workspace{Meta: domain.Meta{ID: "ws_1", WorkspaceID: "ws_1"}}}
	return retention.New(retention.Config{
		Store: store, Workspaces: n, Blobs: n, Calls: n, Appointments: n, Events: n, DecisionKey: func(string) []byte { return nil }, Steps: steps,
		Log: slog.New(slog.DiscardHandler),
	}), n, store
}

func meta(prefix domain.Prefix, n byte, at time.Time) domain.Meta {
	return domain.Meta{ID: domain.ID(prefix, at, [10]byte{n}), WorkspaceID: "ws_1", Environment: domain.Live, CreatedAt: at, UpdatedAt: at}
}

func apply(t *testing.T, store *persistence.Store, rows ...domain.Record) {
	t.Helper()
	_, err := store.Apply(t.Context(), commit.Change{Workspace: "ws_1", Puts: rows})
	require.NoError(t, err)
}

func stored(t *testing.T, store *persistence.Store, r domain.Record) bool {
	t.Helper()
	_, err := store.Get(t.Context(), r)
	if err != nil {
		require.ErrorIs(t, err, domain.ErrNotFound)
	}
	return err == nil
}

func TestRetentionDeletesRecordingBeforeUpdatingCall(t *testing.T) {
	t.Parallel()
	s, n, store := open(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	call := func(number byte, days int) *domain.Call {
		ended := now.AddDate(0, 0, -days)
		return &domain.Call{Meta: meta(domain.PrefixCall, number, ended.Add(-time.Minute)), Status: domain.CallCompleted, EndedAt: &ended, RecordingAvailable: true}
	}
	old, young := call(1, 31), call(2, 29)
	apply(t, store, old, young)
	require.NoError(t, s.Sweep(t.Context(), "ws_1", now))
	assert.Empty(t, n.blobs, "with 0 days all recordings are retained")
	n.workspace.Retention.RecordingDays = 30
	n.undeletable = errors.New("the bucket does not answer")
	require.ErrorIs(t, s.Sweep(t.Context(), "ws_1", now), n.undeletable)
	require.True(t, stored(t, store, old))
	assert.True(t, old.RecordingAvailable, "the call is unchanged, so that the next sweep finds it")
	n.undeletable, n.blobs = nil, nil
	require.NoError(t, s.Sweep(t.Context(), "ws_1", now))
	assert.Equal(t, []string{recording.BlobName(old.ID), recording.BlobName(old.ID)}, n.blobs)
	require.True(t, stored(t, store, old))
	require.True(t, stored(t, store, young))
	assert.Equal(t, []bool{false, true}, []bool{old.RecordingAvailable, young.RecordingAvailable})
	assert.NotNil(t, old.RecordingDeletedAt)
}

func TestRetentionPeriodAppliesToEachKindOfRows(t *testing.T) {
	t.Parallel()
	s, n, store := open(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	at := now.AddDate(0, 0, -40)
	ended := at.Add(time.Minute)
	call := &domain.Call{Meta: meta(domain.PrefixCall, 1, at), Status: domain.CallCompleted, EndedAt: &ended, TranscriptAvailable: true}
	transcript := &domain.Transcript{CallID: call.ID, WorkspaceID: "ws_1"}
	trace := &domain.TraceRow{CallID: call.ID, WorkspaceID: "ws_1", Data: []byte("x")}
	sent, queued := &domain.Message{Meta: meta(domain.PrefixMessage, 1, at)}, &domain.Message{Meta: meta(domain.PrefixMessage, 2, at), Todo: domain.TodoSend}
	appointment := &domain.Appointment{Meta: meta(domain.PrefixAppointment, 1, at), EndsAt: at.Add(time.Hour)}
	entry := &domain.AuditEntry{Meta: meta(domain.PrefixAudit, 1, at), Type: "admin", Action: "x"}
	apply(t, store, call, transcript, trace, sent, queued, appointment, entry)
	rows := func() []bool {
		return []bool{
			stored(t, store, &domain.Transcript{CallID: call.ID, WorkspaceID: "ws_1"}), stored(t, store, &domain.TraceRow{CallID: call.ID, WorkspaceID: "ws_1"}),
			stored(t, store, &domain.Message{Meta: sent.Meta}), stored(t, store, &domain.Message{Meta: queued.Meta}),
			stored(t, store, &domain.Appointment{Meta: appointment.Meta}), stored(t, store, &domain.AuditEntry{Meta: entry.Meta}),
		}
	}
	for _, period := range []struct {
		set  func(r *domain.Retention)
		left []bool
	}{
		{func(*domain.Retention) {}, []bool{true, true, true, true, true, true}},
		{func(r *domain.Retention) { r.TranscriptDays, r.TraceDays = 30, 50 }, []bool{false, true, true, true, true, true}},
		{func(r *domain.Retention) { r.TraceDays = 30 }, []bool{false, false, true, true, true, true}},
		{func(r *domain.Retention) { r.MessageDays = 30 }, []bool{false, false, false, true, true, true}},
		{func(r *domain.Retention) { r.AppointmentDays = 30 }, []bool{false, false, false, true, false, true}},
		{func(r *domain.Retention) { r.AuditDays = 30 }, []bool{false, false, false, true, false, false}},
	} {
		period.set(&n.workspace.Retention)
		require.NoError(t, s.Sweep(t.Context(), "ws_1", now))
		assert.Equal(t, period.left, rows())
	}
	require.True(t, stored(t, store, call))
	assert.False(t, call.TranscriptAvailable)
	assert.Equal(t, []string{appointment.ID}, n.freed)
	assert.Empty(t, n.calls)
	n.workspace.Retention.CallDays = 30
	require.NoError(t, s.Sweep(t.Context(), "ws_1", now))
	assert.Equal(t, []string{call.ID}, n.calls)
}

func TestRetentionSweepContinuesAfterError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the sweep failed")
	var swept []string
	step := func(what string, err error) retention.Step {
		return retention.Step{Name: what, Sweep: func(_ context.Context, workspaceID string, _ time.Time) error {
			swept = append(swept, what+" of "+workspaceID)
			return err
		}}
	}
	s, _, _ := open(t, step("exports", broken), step("keys", nil))
	require.ErrorIs(t, s.Sweep(t.Context(), "ws_1", time.Now()), broken)
	assert.Equal(t, []string{"exports of ws_1", "keys of ws_1"}, swept)
}
