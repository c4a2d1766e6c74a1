package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Limits of reading the workspaces of other shards.
const (
	otherShardsMaxAge      = 5 * time.Second // of a result that is used again
	otherShardsReadTimeout = 2 * time.Second
)

// otherShards knows which workspaces belong to this shard, and those of the other shards
// of the installation.
type otherShards struct {
	store commit.Store
	owned func(workspaceID string) bool              // as Config.Mine; nil: there are no other shards
	local func(workspaceID string) *domain.Workspace // that runs on this node; nil: it does not
	log   *slog.Logger

	mu     sync.Mutex
	readAt time.Time
	all    []*domain.Workspace
	known  bool // read once at least
}

// alone reports whether there are no other shards.
func (o *otherShards) alone() bool { return o.owned == nil }

// OwnsWorkspace reports whether a workspace of this id runs, or would run, on this node.
func (o *otherShards) OwnsWorkspace(workspaceID string) bool {
	return o.owned == nil || o.owned(workspaceID)
}

// OtherWorkspaces returns the workspaces of the other shards, at most otherShardsMaxAge old.
// If they cannot be read, it returns the last ones. known is false until they were read once.
func (o *otherShards) OtherWorkspaces() (all []*domain.Workspace, known bool) {
	if o.alone() {
		return nil, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.readAt) < otherShardsMaxAge {
		return o.all, o.known
	}
	ctx, cancel := context.WithTimeout(context.Background(), otherShardsReadTimeout)
	defer cancel()
	err := commit.Each(ctx, o.store, "workspace", "", "all", func(w *domain.Workspace) {
		if !o.owned(w.ID) {
			all = append(all, w)
		}
	})
	if err != nil {
		o.log.Warn("the workspaces of other nodes cannot be read", slog.Any("error", err))
	} else {
		o.all, o.known = all, true
	}
	o.readAt = time.Now()
	return o.all, o.known
}

// WorkspaceExists reports whether there is such a workspace in the installation.
func (o *otherShards) WorkspaceExists(ctx context.Context, workspaceID string) bool {
	if o.local(workspaceID) != nil {
		return true
	}
	if o.OwnsWorkspace(workspaceID) {
		return false
	}
	_, err := o.store.Get(ctx, &domain.Workspace{Meta: domain.Meta{ID: workspaceID}})
	return err == nil
}
