package node

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// actorRows reads and writes the rows from which the actors of a workspace start.
type actorRows struct {
	rows        *storecache.Store
	boot        string
	resume      bool // live calls of an earlier process may be resumed
	quarantined bool
	campaign    func(workspaceID, id string) *actor.PID
}

// workspaces returns the workspaces that are owned.
func (st *actorRows) workspaces(ctx context.Context, owned func(id string) bool) (all []*domain.Workspace, err error) {
	err = commit.Each(ctx, st.rows, "workspace", "", "all", func(w *domain.Workspace) {
		if owned(w.ID) {
			all = append(all, w)
		}
	})
	return all, err
}
