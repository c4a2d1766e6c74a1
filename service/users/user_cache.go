package users

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// UserCache holds the users of all workspaces in memory, because each request with a session or an OAuth token
// needs its user.
type UserCache struct {
	record.ResourceCache[domain.User, *domain.User]
}

// NewUserCache returns an empty cache.
func NewUserCache() *UserCache { return &UserCache{} }

// User returns a user of any workspace; nil if there is none.
func (c *UserCache) User(id string) *domain.User { return c.Get(id) }
