package pathways_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/pathways"
	"github.com/callboard/callboard/service/record"
)

// campaigns is a fake that counts the notifications of a new pathway version.
type campaigns struct{ notified int }

func (c *campaigns) NotifyPublished(context.Context, domain.Principal) error {
	c.notified++
	return nil
}

func TestUpdatePathwayStoresPreviousVersions(t *testing.T) {
	t.Parallel()
	store := pebbletest.Open(t)
	ctx, p := t.Context(), domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
	running := &campaigns{}
	s := pathways.New(store, record.NewReferences(store), running)
	w, err := s.CreatePathway(ctx, p, &domain.Pathway{Name: "first"})
	require.NoError(t, err)
	for range domain.MaxPathwayVersions + 1 {
		_, err = s.UpdatePathway(ctx, p, w.ID, func(w *domain.Pathway) error { w.Name = "later"; return nil })
		require.NoError(t, err)
	}
	assert.Equal(t, domain.MaxPathwayVersions+1, running.notified)
	_, err = s.PathwayVersion(ctx, p, w.ID, 1)
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err), "version 1 is older than the stored versions")
	kept, err := s.PathwayVersion(ctx, p, w.ID, 2)
	require.NoError(t, err)
	assert.Equal(t, 2, kept.Version)
	require.NoError(t, s.DeletePathway(ctx, p, w.ID))
}

func TestPathwayReferencesMustExist(t *testing.T) {
	t.Parallel()
	store := pebbletest.Open(t)
	s := pathways.New(store, record.NewReferences(store), &campaigns{})
	_, err := s.CreatePathway(t.Context(), domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}, &domain.Pathway{
		Nodes: []domain.Node{{ID: "a", Type: domain.NodeTool, ToolID: "tool_01J9999999ZZZZZZZZZZZZZZZZ"}},
	})
	var refused *domain.Error
	require.ErrorAs(t, err, &refused)
	require.Len(t, refused.Details, 1)
	assert.Equal(t, "nodes[0].tool_id", refused.Details[0].Param)
}
