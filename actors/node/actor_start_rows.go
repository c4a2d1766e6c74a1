package node

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// actorRows reads and writes the stored records that the actors of a workspace need at their start.
type actorRows struct {
	store       *storecache.Store
	processID   string // of this process, stored in its attempts
	resume      bool   // this node may resume live calls of an earlier process
	quarantined bool   // the store was restored from a backup and is not released
	campaign    func(workspaceID, id string) *actor.PID
}

// workspaces returns the stored workspaces for which owned returns true.
func (st *actorRows) workspaces(ctx context.Context, owned func(id string) bool) (all []*domain.Workspace, err error) {
	err = commit.ForEachRow(ctx, st.store, "workspace", "", "all", func(w *domain.Workspace) {
		if owned(w.ID) {
			all = append(all, w)
		}
	})
	return all, err
}

// trunks returns the trunks of a workspace, each with the numbers that the trunk may present as caller IDs.
func (st *actorRows) trunks(ctx context.Context, workspaceID string) ([]domain.Trunk, error) {
	var out []domain.Trunk
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		numbers, err := trunk.LiveNumbers(ctx, st.store, workspaceID, env)
		if err != nil {
			return nil, err
		}
		err = commit.ForEachRow(ctx, st.store, "trunk", workspaceID, "env="+string(env), func(t *domain.Trunk) {
			t.CallerIDs = trunk.CallerIDs(t, numbers)
			out = append(out, *t)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
