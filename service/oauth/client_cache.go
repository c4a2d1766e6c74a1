package oauth

import (
	"context"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// ClientCache holds in memory the OAuth clients of all workspaces and the revoked grants and tokens, because each
// request with an OAuth token needs them. A change is committed to the store before it takes effect in the cache.
type ClientCache struct {
	clients record.ResourceCache[domain.OAuthClient, *domain.OAuthClient]
	mu      sync.RWMutex
	loaded  bool                 // all workspaces were loaded
	revoked map[string]time.Time // expiry of revoked grants and tokens, by id
}

// NewClientCache returns an empty cache.
func NewClientCache() *ClientCache { return &ClientCache{revoked: make(map[string]time.Time)} }

// Load reads the clients and revocations of a workspace.
func (c *ClientCache) Load(ctx context.Context, store commit.Store, workspace string) error {
	if err := c.clients.Load(ctx, store, workspace); err != nil {
		return err
	}
	return commit.ForEachRow(ctx, store, "oauth_revocation", workspace, "all", func(r *domain.OAuthRevocation) { c.revoke(r.ID, r.Until) })
}

// SetLoaded records that the clients of all workspaces are loaded. From then on Client reports an unknown client as nil
// instead of unavailable.
func (c *ClientCache) SetLoaded() {
	c.mu.Lock()
	c.loaded = true
	c.mu.Unlock()
}

// DeleteWorkspace removes the clients of a deleted workspace from the cache.
func (c *ClientCache) DeleteWorkspace(workspace string) { c.clients.DeleteWorkspace(workspace) }

// Client returns a client of any workspace, or nil if the client does not exist. While workspaces are loading, it
// returns the error unavailable for an unknown client.
func (c *ClientCache) Client(id string) (*domain.OAuthClient, error) {
	c.mu.RLock()
	loaded := c.loaded // read before the lookup: the client may be loaded in between
	c.mu.RUnlock()
	if client := c.clients.Get(id); client != nil || loaded {
		return client, nil
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "the service is starting; try again").With("retry_after", 1)
}

func (c *ClientCache) revoke(id string, until time.Time) {
	c.mu.Lock()
	c.revoked[id] = until
	c.mu.Unlock()
}

// isRevoked reports whether one of these ids of grants or tokens was revoked.
func (c *ClientCache) isRevoked(ids ...string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, id := range ids {
		if _, ok := c.revoked[id]; ok && id != "" {
			return true
		}
	}
	return false
}

func (c *ClientCache) removeRevocations(keys []domain.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		delete(c.revoked, k.ID)
	}
}
