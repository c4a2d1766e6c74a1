// Package users is the service for the users of workspaces, their sign-in links and their dashboard sessions.
package users

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// maxUsers is the maximum number of users of a workspace. All users are held in memory.
const maxUsers = 10_000

// restrictions are the limits of a credential, such as allowed_ips, which also apply to the resources that it creates.
type restrictions interface {
	LimitAllowedIPs(p domain.Principal, list []string) ([]string, error)
	AllowedNetworks(p domain.Principal) [][]string
}

// creators reports whether the credential that created a resource has ended.
type creators interface {
	CreatorEnded(c *domain.Creator) (bool, error)
}

// Config holds the dependencies of a Service.
type Config struct {
	Store        commit.Store
	Cache        *UserCache
	Restrictions restrictions
	Keys         creators
	Pepper       []byte // for the hashes of links and cookies
}

// Service manages users, their sign-in links and their sessions.
type Service struct {
	store        commit.Store
	cache        *UserCache
	restrictions restrictions
	keys         creators
	pepper       []byte
	saving       sync.Map // ids of sessions whose last use is being stored
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, cache: cfg.Cache, restrictions: cfg.Restrictions, keys: cfg.Keys, pepper: cfg.Pepper}
}

// CreateUserInWorkspace creates a user in any workspace. It is for operator commands on the server itself, which need no
// credential.
func (s *Service) CreateUserInWorkspace(ctx context.Context, workspace string, u *domain.User) (*domain.User, error) {
	p := domain.Principal{WorkspaceID: workspace, Environment: cmp.Or(u.Environment, domain.Live), Operator: true}
	return s.CreateUser(record.WithLocalAuditEntry(ctx, workspace, "admin", "user.created", domain.Resource{Type: "user"}), p, u)
}

// CreateUser creates a user.
func (s *Service) CreateUser(ctx context.Context, p domain.Principal, u *domain.User) (*domain.User, error) {
	if created, err := record.CreatedBySameRequest[domain.User](ctx, s.store, p, domain.PrefixUser); created != nil || err != nil {
		return created, err
	}
	unlock, err := s.cache.LockChanges(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if u.AllowedIPs, err = s.restrictions.LimitAllowedIPs(p, u.AllowedIPs); err != nil {
		return nil, err
	}
	if u.AllowedIPs == nil {
		u.AllowedIPs = []string{}
	}
	if s.cache.Count(p.WorkspaceID) >= maxUsers {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d users, which is the maximum; delete one first", maxUsers)
	}
	u.Init("user", p, record.RequestResourceID(ctx, domain.PrefixUser), record.Now())
	u.CreatedBy = p.Creator()
	u.UpdateOperatorSince(false, u.CreatedAt)
	if err = record.Create(ctx, s.store, u); err != nil {
		return nil, err
	}
	s.cache.Add(u)
	return u, nil
}

// User returns one user. Errors: not_found.
func (s *Service) User(ctx context.Context, p domain.Principal, id string) (*domain.User, error) {
	u, _, err := record.Get[domain.User](ctx, s.store, p, domain.PrefixUser, id)
	return u, err
}

// ListUsers returns a page of users.
func (s *Service) ListUsers(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.User], error) {
	return record.List[domain.User](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixUser, q, nil)
}

// UpdateUser changes a user. A new role is effective when UpdateUser returns, also for OAuth clients that act for
// the user.
func (s *Service) UpdateUser(ctx context.Context, p domain.Principal, id string, change func(*domain.User) error) (*domain.User, error) {
	unlock, err := s.cache.LockChanges(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	u, err := record.Update(ctx, s.store, p, domain.PrefixUser, id, func(u *domain.User) error {
		was, from := u.Operator, u.AllowedIPs
		err = change(u)
		u.UpdateOperatorSince(was, record.Now())
		if err == nil && (u.AllowedIPs == nil || !slices.Equal(from, u.AllowedIPs)) {
			u.AllowedIPs, err = s.restrictions.LimitAllowedIPs(p, u.AllowedIPs)
		}
		if u.AllowedIPs == nil {
			u.AllowedIPs = []string{}
		}
		return err
	})
	if err == nil {
		s.cache.Add(u)
	}
	return u, err
}

// guardedUser returns a user whom the caller may delete, sign in or sign out; may returns an error if not. The guard
// makes a commit fail if the user has changed since this read.
func (s *Service) guardedUser(ctx context.Context, p domain.Principal, id string, may func(*domain.User) error) (*domain.User, commit.Guard, error) {
	u, version, err := record.Get[domain.User](ctx, s.store, p, domain.PrefixUser, id)
	if err != nil {
		return nil, commit.Guard{}, err
	}
	return u, commit.Guard{Key: u.Key(), Version: version}, may(u)
}

// DeleteUser deletes a user. may returns an error if the caller must not delete this user. The user's sessions and
// grants to OAuth clients are invalid when DeleteUser returns.
func (s *Service) DeleteUser(ctx context.Context, p domain.Principal, id string, may func(*domain.User) error) error {
	unlock, err := s.cache.LockChanges(ctx, p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	u, _, err := s.guardedUser(ctx, p, id, may) // LockChanges excludes other changes
	if err != nil {
		return err
	}
	if err = record.Delete[domain.User](ctx, s.store, p, domain.PrefixUser, id); err == nil {
		s.cache.Remove(u.ID)
	}
	return err
}
