package oauth

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Cache holds the OAuth clients of all workspaces and the revoked grants and tokens
// in memory: each request with an OAuth token needs them. A change is committed
// before the cache has it.
type Cache struct {
	change  record.KeyedMutex // by workspace: held from the commit of a client until the cache has it
	mu      sync.RWMutex
	loaded  bool // all workspaces were loaded
	clients map[string]*domain.OAuthClient
	revoked map[string]time.Time // grants and tokens, by id: until when they would be valid
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{clients: make(map[string]*domain.OAuthClient), revoked: make(map[string]time.Time)}
}

// Load reads the clients and revocations of a workspace.
func (c *Cache) Load(ctx context.Context, store commit.Store, workspace string) error {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		if err := commit.Each(ctx, store, "oauth_client", workspace, "env="+string(env), c.add); err != nil {
			return err
		}
	}
	return commit.Each(ctx, store, "oauth_revocation", workspace, "all", func(r *domain.OAuthRevocation) { c.revoke(r.ID, r.Until) })
}

// SetLoaded says that all workspaces were loaded: an unknown client does not exist.
func (c *Cache) SetLoaded() {
	c.mu.Lock()
	c.loaded = true
	c.mu.Unlock()
}

// DeleteWorkspace removes the clients of a deleted workspace.
func (c *Cache) DeleteWorkspace(workspace string) {
	if unlock, err := c.change.Lock(context.Background(), workspace); err == nil { // the context never ends
		defer unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.clients, func(_ string, client *domain.OAuthClient) bool { return client.WorkspaceID == workspace })
}

func (c *Cache) add(client *domain.OAuthClient) {
	c.mu.Lock()
	c.clients[client.ID] = client
	c.mu.Unlock()
}

func (c *Cache) remove(id string) {
	c.mu.Lock()
	delete(c.clients, id)
	c.mu.Unlock()
}

// Client returns a client of any workspace; nil if there is none. Errors:
// unavailable while workspaces are loading.
func (c *Cache) Client(id string) (*domain.OAuthClient, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if client := c.clients[id]; client != nil || c.loaded {
		return client, nil
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "the service is still starting").With("retry_after", 1)
}

// count returns the number of clients of a workspace.
func (c *Cache) count(workspace string) (n int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, client := range c.clients {
		if client.WorkspaceID == workspace {
			n++
		}
	}
	return n
}

func (c *Cache) revoke(id string, until time.Time) {
	c.mu.Lock()
	c.revoked[id] = until
	c.mu.Unlock()
}

// isRevoked reports whether any of the ids was revoked.
func (c *Cache) isRevoked(ids ...string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, id := range ids {
		if _, ok := c.revoked[id]; ok && id != "" {
			return true
		}
	}
	return false
}

func (c *Cache) removeRevocations(keys []domain.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		delete(c.revoked, k.ID)
	}
}
