package record_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

func createTool(t *testing.T, store commit.Store, p domain.Principal, name string) *domain.Tool {
	t.Helper()
	tool := &domain.Tool{Name: name}
	tool.Init("tool", p, record.RequestResourceID(t.Context(), domain.PrefixTool), record.Now())
	require.NoError(t, record.Create(t.Context(), store, tool))
	return tool
}

func TestRecordUpdateRetriesAfterConflict(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	tool := createTool(t, store, p, "one")
	meddled := 0
	update := func(conflicts int) error {
		meddled = 0
		_, err := record.Update(t.Context(), store, p, domain.PrefixTool, tool.ID, func(now *domain.Tool) error {
			if meddled < conflicts {
				meddled++
				other := *now
				other.Description += "x"
				_, err := store.Apply(t.Context(), commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{&other}})
				require.NoError(t, err)
			}
			now.Name = "two"
			return nil
		})
		return err
	}
	require.NoError(t, update(2))
	now, _, err := record.Get[domain.Tool](t.Context(), store, p, domain.PrefixTool, tool.ID)
	require.NoError(t, err)
	assert.Equal(t, []string{"two", "xx"}, []string{now.Name, now.Description}, "both changes are stored")
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(update(1000)))
	assert.Equal(t, record.MaxTries, meddled)
}

func TestRecordOfAnotherWorkspaceOrEnvironmentIsNotFound(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	tool := createTool(t, store, p, "one")
	for _, other := range []domain.Principal{recordtest.Live(recordtest.OtherWorkspace), {WorkspaceID: recordtest.Workspace, Environment: domain.Test}} {
		_, _, err := record.Get[domain.Tool](t.Context(), store, other, domain.PrefixTool, tool.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		_, err = record.Update[domain.Tool](t.Context(), store, other, domain.PrefixTool, tool.ID, nil)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(record.Delete[domain.Tool](t.Context(), store, other, domain.PrefixTool, tool.ID)))
	}
	require.NoError(t, record.Delete[domain.Tool](t.Context(), store, p, domain.PrefixTool, tool.ID))
}

func TestListFillsFilteredPage(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	for _, name := range []string{"a", "b", "a", "b", "a"} {
		createTool(t, store, p, name)
	}
	list := func(cursor string) record.Page[*domain.Tool] {
		l, err := record.List(t.Context(), store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixTool, record.PageQuery{Limit: 2, Cursor: cursor}, func(x *domain.Tool) bool { return x.Name == "a" })
		require.NoError(t, err)
		return l
	}
	page := list("")
	assert.Len(t, page.Data, 2)
	page = list(page.Next)
	assert.Len(t, page.Data, 1)
	assert.Empty(t, page.Next)
}

func TestStoreErrorsAreConvertedToAPIErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	err := commit.StoreError(broken)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	require.ErrorIs(t, err, broken)
	assert.Equal(t, domain.CodeStoreFull, domain.CodeOf(commit.StoreError(domain.ErrStoreFull)))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(commit.StoreError(domain.NotFound("tool"))))
}

func TestDeletionErrorListsReferringResources(t *testing.T) {
	t.Parallel()
	store, p := pebbletest.OpenStore(t), recordtest.Live(recordtest.Workspace)
	tool, references := createTool(t, store, p, "one"), record.NewReferences(store)
	require.NoError(t, references.CheckUnused(t.Context(), p, "tool", tool.ID))
	agent := &domain.Agent{Name: "a", References: []string{tool.ID}}
	agent.Init("agent", p, record.RequestResourceID(t.Context(), domain.PrefixAgent), record.Now())
	require.NoError(t, record.Create(t.Context(), store, agent))
	err := references.CheckUnused(t.Context(), p, "tool", tool.ID)
	var refused *domain.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, domain.CodeInvalidState, refused.Code)
	assert.Contains(t, refused.Message, agent.ID)
}

func TestResourceCacheIsLoadedByWorkspace(t *testing.T) {
	t.Parallel()
	store := pebbletest.OpenStore(t)
	one, two := createTool(t, store, recordtest.Live(recordtest.Workspace), "one"), createTool(t, store, recordtest.Live(recordtest.OtherWorkspace), "two")
	var cache record.ResourceCache[domain.Tool, *domain.Tool]
	require.NoError(t, cache.Load(t.Context(), store, recordtest.Workspace))
	assert.Nil(t, cache.Get(two.ID))
	require.NoError(t, cache.Load(t.Context(), store, recordtest.OtherWorkspace))
	assert.Equal(t, "two", cache.Get(two.ID).Name)
	assert.Equal(t, 1, cache.Count(recordtest.Workspace))
	cache.DeleteWorkspace(recordtest.Workspace)
	assert.Nil(t, cache.Get(one.ID))
	cache.Remove(two.ID)
	assert.Zero(t, cache.Count(recordtest.OtherWorkspace))
}
