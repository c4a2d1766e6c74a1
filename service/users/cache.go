package users

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// Cache holds the users of all workspaces in memory: each request of a session or
// of an OAuth token needs its user.
type Cache struct {
	record.ResourceCache[domain.User, *domain.User]
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{} }

// User returns a user of any workspace; nil if there is none.
func (c *Cache) User(id string) *domain.User { return c.Get(id) }
