package record

import (
	"context"
	"maps"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// ResourceCache holds the resources of one type of all workspaces in memory: each
// request needs one. The store has the truth; a change is committed before the cache
// has it. The zero value is empty and ready.
type ResourceCache[T any, R Resource[T]] struct {
	changes KeyedMutex // by workspace
	mu      sync.RWMutex
	byID    map[string]R
}

// Load reads the resources of a workspace.
func (c *ResourceCache[T, R]) Load(ctx context.Context, store commit.Store, workspace string) error {
	kind := R(new(T)).Key().Kind
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		if err := commit.Each[T, R](ctx, store, kind, workspace, "env="+string(env), c.Add); err != nil {
			return err
		}
	}
	return nil
}

// LockChanges is called before a resource of a workspace is committed. The caller
// unlocks after the cache has the change: commits and cache have the same order.
func (c *ResourceCache[T, R]) LockChanges(ctx context.Context, workspace string) (unlock func(), err error) {
	return c.changes.Lock(ctx, workspace)
}

// Add adds a resource or replaces it.
func (c *ResourceCache[T, R]) Add(r R) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = make(map[string]R)
	}
	c.byID[r.Base().ID] = r
}

// Remove removes a resource.
func (c *ResourceCache[T, R]) Remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
}

// Get returns a resource of any workspace; nil if there is none.
func (c *ResourceCache[T, R]) Get(id string) R {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}

// Count returns the number of resources of a workspace.
func (c *ResourceCache[T, R]) Count(workspace string) (n int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, r := range c.byID {
		if r.Base().WorkspaceID == workspace {
			n++
		}
	}
	return n
}

// DeleteWorkspace removes the resources of a deleted workspace.
func (c *ResourceCache[T, R]) DeleteWorkspace(workspace string) {
	if unlock, err := c.changes.Lock(context.Background(), workspace); err == nil { // the context never ends
		defer unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.byID, func(_ string, r R) bool { return r.Base().WorkspaceID == workspace })
}
