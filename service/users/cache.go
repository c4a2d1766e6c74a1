package users

import (
	"context"
	"maps"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Cache holds the users of all workspaces in memory: each request of a session or
// of an OAuth token needs its user. A change is committed before the cache has it.
type Cache struct {
	change record.KeyedMutex // by workspace: held from the commit of a user until the cache has it
	mu     sync.RWMutex
	users  map[string]*domain.User
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{users: make(map[string]*domain.User)} }

// Load reads the users of a workspace.
func (c *Cache) Load(ctx context.Context, store commit.Store, workspace string) error {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		if err := commit.Each(ctx, store, "user", workspace, "env="+string(env), c.add); err != nil {
			return err
		}
	}
	return nil
}

// DeleteWorkspace removes the users of a deleted workspace.
func (c *Cache) DeleteWorkspace(workspace string) {
	if unlock, err := c.change.Lock(context.Background(), workspace); err == nil { // the context never ends
		defer unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.users, func(_ string, u *domain.User) bool { return u.WorkspaceID == workspace })
}

func (c *Cache) add(u *domain.User) {
	c.mu.Lock()
	c.users[u.ID] = u
	c.mu.Unlock()
}

func (c *Cache) remove(id string) {
	c.mu.Lock()
	delete(c.users, id)
	c.mu.Unlock()
}

// User returns a user of any workspace; nil if there is none.
func (c *Cache) User(id string) *domain.User {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.users[id]
}

// count returns the number of users of a workspace.
func (c *Cache) count(workspace string) (n int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, u := range c.users {
		if u.WorkspaceID == workspace {
			n++
		}
	}
	return n
}
