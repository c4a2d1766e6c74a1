package workspaces_test

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
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/workspaces"
)

// fake is a fake node with its store, for all dependencies of the service.
type fake struct {
	*persistence.Store

	running     map[string]*domain.Workspace
	more        int // number of further workspaces that run
	cannotStart error
	quarantined bool
	stopped     []string // workspaces whose actors were stopped
	refused     []string // workspaces whose credentials were dropped
	closed      []string // workspaces that accept no commits
	forgotten   []string
	noBlobs     []string // workspaces whose blobs were deleted
	keys        []*domain.APIKey
	jobs        []func(context.Context) error
	background  []func()
}

func open(t *testing.T) (*fake, *workspaces.Service) {
	t.Helper()
	f := &fake{Store: pebbletest.Open(t), running: make(map[string]*domain.Workspace)}
	return f, workspaces.New(workspaces.Config{
		Store: f, Workspaces: f, Outbox: f, Actors: f, Settings: f, Node: f, Background: f, Keys: f, Jobs: f, Blobs: f, DNC: f,
		Credentials: []workspaces.CredentialCache{f}, Forget: []func(string){func(id string) { f.forgotten = append(f.forgotten, id) }},
		TestCarrier: func() bool { return true }, SpoolDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
}

func (f *fake) CloseWorkspace(id string)                     { f.closed = append(f.closed, id) }
func (f *fake) Workspace(id string) *domain.Workspace        { return f.running[id] }
func (f *fake) WorkspaceNotFound() error                     { return domain.NotFound("workspace") }
func (f *fake) Committed(string)                             {}
func (f *fake) RemoveInboundSources(context.Context, string) {}
func (f *fake) LockSettings(string) (func(), error)          { return func() {}, nil }
func (f *fake) SetWorkspace(w *domain.Workspace)             { f.running[w.ID] = w }
func (f *fake) OwnsWorkspace(string) bool                    { return true }
func (f *fake) WorkspaceCount() int                          { return len(f.running) + f.more }
func (f *fake) Quarantined() bool                            { return f.quarantined }
func (f *fake) Context() context.Context                     { return context.Background() }
func (f *fake) RunInBackground(run func())                   { f.background = append(f.background, run) }
func (f *fake) StopAllAndWait(string)                        {}
func (f *fake) DeleteAll(_ context.Context, id string) error {
	f.noBlobs = append(f.noBlobs, id)
	return nil
}
func (f *fake) LoadWorkspace(context.Context, string) {}
func (f *fake) UnloadList(string, string)             {}
func (f *fake) DeleteWorkspace(id string)             { f.refused = append(f.refused, id) }

func (f *fake) StartWorkspace(_ context.Context, w *domain.Workspace) error {
	if f.cannotStart != nil {
		return f.cannotStart
	}
	f.running[w.ID] = w
	return nil
}

func (f *fake) DetachWorkspace(id string) func(context.Context) {
	if f.running[id] == nil {
		return nil
	}
	delete(f.running, id)
	return func(context.Context) { f.stopped = append(f.stopped, id) }
}

func (f *fake) Create(ctx context.Context, _ record.Author, key *domain.APIKey) (*domain.APIKey, string, error) {
	key.ID = record.RequestResourceID(ctx, domain.PrefixKey)
	f.keys = append(f.keys, key)
	return key, "text of " + key.Name, nil
}

func (f *fake) Start(_ context.Context, _ string, work func(context.Context) error) bool {
	f.jobs = append(f.jobs, work)
	return true
}

func (f *fake) put(t *testing.T, records ...domain.Record) {
	t.Helper()
	_, err := f.Apply(t.Context(), commit.Change{Workspace: records[0].Key().Workspace, Puts: records})
	require.NoError(t, err)
}

func (f *fake) exists(t *testing.T, r domain.Record) bool {
	t.Helper()
	_, err := f.Get(t.Context(), r)
	if !errors.Is(err, domain.ErrNotFound) {
		require.NoError(t, err)
	}
	return err == nil
}

func create(t *testing.T, s *workspaces.Service, name string) *domain.Workspace {
	t.Helper()
	w, _, _, err := s.CreateWorkspace(t.Context(), &domain.Workspace{Name: name, Plan: domain.Starter})
	require.NoError(t, err)
	return w
}

var operator = domain.Principal{WorkspaceID: "ws_operator", Environment: domain.Live, Operator: true} //nolint:gochecknoglobals // of every test

func TestNewWorkspaceHasKeyAndTestCarrierTrunks(t *testing.T) {
	t.Parallel()
	f, s := open(t)
	w, key, text, err := s.CreateWorkspace(t.Context(), &domain.Workspace{Name: "acme", Plan: domain.Starter})
	require.NoError(t, err)
	assert.Equal(t, []any{w.ID, "text of first"}, []any{key.WorkspaceID, text})
	got, err := s.Workspace(t.Context(), domain.Principal{WorkspaceID: w.ID})
	require.NoError(t, err)
	assert.Equal(t, "acme", got.Name)
	trunks := 0
	require.NoError(t, commit.ForEachRow(t.Context(), f, "trunk", w.ID, "env=live", func(*domain.Trunk) { trunks++ }))
	assert.Equal(t, 1, trunks)
}

func TestCreateWorkspaceFailsAtMaximum(t *testing.T) {
	t.Parallel()
	f, s := open(t)
	f.more = 1000
	_, _, _, err := s.CreateWorkspace(t.Context(), &domain.Workspace{Name: "acme"})
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	assert.Empty(t, f.keys)
	l, err := s.ListWorkspaces(t.Context(), record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, l.Data)
}

func TestFailedWorkspaceStartIsRetried(t *testing.T) {
	t.Parallel()
	f, s := open(t)
	f.cannotStart = errors.New("the store is slow")
	_, _, _, err := s.CreateWorkspace(t.Context(), &domain.Workspace{Name: "acme"})
	require.Error(t, err)
	f.cannotStart = nil
	require.Len(t, f.background, 1)
	f.background[0]()
	assert.Len(t, f.running, 1)
}

func TestDeletedWorkspaceIsErased(t *testing.T) {
	t.Parallel()
	f, s := open(t)
	ctx, w, other := t.Context(), create(t, s, "acme"), create(t, s, "other")
	claim := &domain.NumberClaim{Number: "+12025550155", WorkspaceID: w.ID}
	lost := &domain.NumberClaim{Number: "+12025550156", WorkspaceID: other.ID} // another workspace has acquired the number
	number := func(id, e164 string) *domain.PhoneNumber {
		return &domain.PhoneNumber{Meta: domain.Meta{ID: id, WorkspaceID: w.ID, Environment: domain.Live}, Number: e164}
	}
	f.put(t, number("number_1", claim.Number), number("number_2", lost.Number))
	f.put(t, claim, lost)

	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(s.DeleteWorkspace(ctx, domain.Principal{WorkspaceID: w.ID}, w.ID)), "a principal cannot delete its own workspace")
	require.NoError(t, s.DeleteWorkspace(ctx, operator, w.ID))
	assert.Equal(t, []string{w.ID}, f.refused, "credentials are dropped before the erasure")
	_, err := s.AnyWorkspace(ctx, w.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(s.DeleteWorkspace(ctx, operator, w.ID)))

	require.Len(t, f.jobs, 1)
	for range 2 { // an interrupted job runs again
		require.NoError(t, f.jobs[0](ctx))
	}
	assert.Equal(t, []string{w.ID}, f.stopped)
	assert.Contains(t, f.closed, w.ID)
	assert.Contains(t, f.forgotten, w.ID)
	assert.Contains(t, f.noBlobs, w.ID)
	assert.False(t, f.exists(t, number("number_1", "")))
	assert.False(t, f.exists(t, claim), "the claim of the number is deleted")
	assert.True(t, f.exists(t, lost), "the number belongs to another workspace")
	assert.False(t, f.exists(t, &domain.DeletedWorkspace{ID: w.ID}))
	assert.NotNil(t, f.running[other.ID])
	l, err := s.ListWorkspaces(ctx, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Len(t, l.Data, 1)
}

func TestInterruptedWorkspaceDeletionIsResumed(t *testing.T) {
	t.Parallel()
	f, s := open(t)
	gone := &domain.DeletedWorkspace{ID: "ws_1", At: time.Now()}
	f.put(t, gone)
	f.quarantined = true
	require.NoError(t, s.ResumeWorkspaceDeletions(t.Context()))
	assert.Empty(t, f.jobs, "a store in quarantine may share its recordings")
	f.quarantined = false
	require.NoError(t, s.ResumeWorkspaceDeletions(t.Context()))
	require.Len(t, f.jobs, 1)
	require.NoError(t, f.jobs[0](t.Context()))
	assert.False(t, f.exists(t, gone))
}

func TestPlanChangeStartsTariffAndSendsEvent(t *testing.T) {
	t.Parallel()
	f, s := open(t)
	ctx, w := t.Context(), create(t, s, "acme")
	p := domain.Principal{WorkspaceID: w.ID, Environment: domain.Live}
	w, err := s.UpdateWorkspace(ctx, p, func(w *domain.Workspace) error { w.Plan = domain.Professional; return nil })
	require.NoError(t, err)
	assert.Equal(t, 1, w.Tariff)
	assert.Equal(t, w, f.running[w.ID], "the actors got the new settings")
	assert.True(t, f.exists(t, &domain.Tariff{WorkspaceID: w.ID, Number: 0}))
	assert.True(t, f.exists(t, &domain.Tariff{WorkspaceID: w.ID, Number: 1}))
	events, err := f.Events(ctx, w.ID, 0, 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	assert.Equal(t, event.WorkspaceUpdated, events[0].Type)
}

func TestRateWindowsAreStoredPerWorkspace(t *testing.T) {
	t.Parallel()
	_, s := open(t)
	ctx := t.Context()
	require.NoError(t, s.StoreRateWindows(ctx, &domain.RateWindows{WorkspaceID: "ws_1"}))
	for _, id := range []string{"ws_1", "ws_2"} {
		w, err := s.RateWindows(ctx, id)
		require.NoError(t, err)
		assert.Equal(t, id, w.WorkspaceID)
	}
}

func TestBootstrapFillsEmptyStoreOnce(t *testing.T) {
	t.Parallel()
	f, _ := open(t)
	b := workspaces.Bootstrap{Store: f, Keys: f, Plan: domain.Starter, Owns: func(string) bool { return true }}
	first, err := b.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"text of admin", "text of test"}, []string{first.AdminKey, first.TestKey})
	assert.True(t, f.keys[0].Operator)
	assert.True(t, f.exists(t, &domain.Workspace{Meta: domain.Meta{ID: first.Workspace.ID}}))
	again, err := b.Run(t.Context())
	require.NoError(t, err)
	assert.Nil(t, again)
}

func TestOfflineAndLocalCommandsAreAudited(t *testing.T) {
	t.Parallel()
	f, s := open(t)
	ctx := t.Context()
	actions := func(workspaceID string) (names []string) {
		require.NoError(t, commit.ForEachRow(ctx, f, "audit", workspaceID, "all", func(e *domain.AuditEntry) { names = append(names, e.Action+" "+e.Resource.ID) }))
		return names
	}
	o := workspaces.NewOffline(f, f)
	w, key, _, err := o.CreateWorkspace(ctx, &domain.Workspace{Name: "offline"}, false)
	require.NoError(t, err)
	assert.Equal(t, w.ID, key.WorkspaceID)
	assert.Equal(t, []string{"workspace.created " + w.ID}, actions(w.ID))
	require.NoError(t, o.DeleteWorkspace(ctx, w.ID, "ws_operator"))
	assert.True(t, f.exists(t, &domain.DeletedWorkspace{ID: w.ID}), "the next start erases the data")

	local, _, _, err := s.Local().CreateWorkspace(ctx, &domain.Workspace{Name: "local"})
	require.NoError(t, err)
	assert.Equal(t, []string{"workspace.created " + local.ID}, actions(local.ID))
	require.NoError(t, s.Local().DeleteWorkspace(ctx, local.ID, "ws_operator"))
	assert.ElementsMatch(t, []string{"workspace.deleted " + w.ID, "workspace.deleted " + local.ID}, actions("ws_operator"))
}
