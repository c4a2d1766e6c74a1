package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// AllWorkspaces returns all workspaces of a store.
func AllWorkspaces(ctx context.Context, store commit.Store) ([]*domain.Workspace, error) {
	var all []*domain.Workspace
	err := commit.ForEachRow(ctx, store, "workspace", "", "all", func(w *domain.Workspace) { all = append(all, w) })
	return all, err
}
