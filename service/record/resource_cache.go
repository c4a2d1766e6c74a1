package record

import (
	"context"
	"maps"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// ResourceCache holds all resources of one type in memory, because each API request needs one of them. A change is
// committed to the store before it is made in the cache. The zero value is empty and ready.
type ResourceCache[T any, R Resource[T]] struct {
	changes KeyedMutex // by workspace id
	mu      sync.RWMutex
	byID    map[string]R
}

// Load reads the resources of a workspace from the store into the cache.
func (c *ResourceCache[T, R]) Load(ctx context.Context, store commit.Store, workspace string) error {
	kind := R(new(T)).Key().Kind
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		if err := commit.ForEachRow[T, R](ctx, store, kind, workspace, "env="+string(env), c.Add); err != nil {
			return err
		}
	}
	return nil
}

// LockChanges locks the resources of a workspace against other changes. Callers lock before a commit and unlock
// after they have changed the cache, so that the cache applies changes in commit order.
func (c *ResourceCache[T, R]) LockChanges(ctx context.Context, workspace string) (unlock func(), err error) {
	return c.changes.Lock(ctx, workspace)
}

// Add adds a resource, or replaces the resource with the same id.
func (c *ResourceCache[T, R]) Add(r R) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = make(map[string]R)
	}
	c.byID[r.Base().ID] = r
}

// Remove removes the resource with this id.
func (c *ResourceCache[T, R]) Remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
}

// Get returns the resource with this id, of any workspace; nil if there is none.
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
	if unlock, err := c.changes.Lock(context.Background(), workspace); err == nil { // cannot fail: the context never ends
		defer unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.byID, func(_ string, r R) bool { return r.Base().WorkspaceID == workspace })
}
