// Package oauth is the service of the OAuth 2.0 server. It manages the OAuth clients of workspaces, and issues and
// revokes codes, grants and refresh tokens (RFC 6749, RFC 7009).
package oauth

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// maxClients is the maximum number of OAuth clients of a workspace. All clients are held in memory.
const maxClients = 1000

// restrictions limit the resources that a credential creates.
type restrictions interface {
	LimitAllowedIPs(p domain.Principal, list []string) ([]string, error)
}

// users returns the users of all workspaces.
type users interface {
	User(id string) *domain.User // nil: there is none
}

// keyValidity checks whether the API key behind a user's session is still valid.
type keyValidity interface {
	CreatorEnded(c *domain.Creator) (bool, error)
}

// Config holds the dependencies of a Service.
type Config struct {
	Store        commit.Store
	Cache        *ClientCache
	Workspaces   record.Workspaces
	Restrictions restrictions
	Users        users
	Keys         keyValidity
	Pepper       []byte // for the hashes of secrets and codes
}

// Service manages OAuth clients and the grants of users to them.
type Service struct {
	store        commit.Store
	cache        *ClientCache
	workspaces   record.Workspaces
	restrictions restrictions
	users        users
	keys         keyValidity
	pepper       []byte
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{
		store: cfg.Store, cache: cfg.Cache, workspaces: cfg.Workspaces, restrictions: cfg.Restrictions, users: cfg.Users, keys: cfg.Keys, pepper: cfg.Pepper,
	}
}

// CheckOAuthPlan returns plan_required if the workspace's plan does not include OAuth.
func (s *Service) CheckOAuthPlan(workspace string) error {
	w := s.workspaces.Workspace(workspace)
	if w == nil {
		return s.workspaces.WorkspaceNotFound()
	}
	if w.Plan != domain.Enterprise {
		return domain.Errorf(domain.CodePlanRequired, "OAuth 2.0 requires the plan enterprise").With("required", domain.Enterprise)
	}
	return nil
}

// CreateClient creates an OAuth client. A confidential client gets a secret, which can be read only from this result.
func (s *Service) CreateClient(ctx context.Context, p domain.Principal, c *domain.OAuthClient) (created *domain.OAuthClient, secret string, err error) {
	unlock, err := s.cache.clients.LockChanges(ctx, p.WorkspaceID)
	if err != nil {
		return nil, "", err
	}
	defer unlock()
	if c.AllowedIPs, err = s.restrictions.LimitAllowedIPs(p, c.AllowedIPs); err != nil {
		return nil, "", err
	}
	if s.cache.clients.Count(p.WorkspaceID) >= maxClients {
		return nil, "", domain.Errorf(domain.CodeInvalidState, "the workspace has %d OAuth clients, which is the maximum; delete one first", maxClients)
	}
	c.Init("oauth_client", p, record.RequestResourceID(ctx, domain.PrefixClient), record.Now())
	c.CreatedBy = p.Creator()
	if !c.Public {
		var random [24]byte
		_, _ = rand.Read(random[:]) // crypto/rand.Read never returns an error
		secret, c.Last4 = access.NewClientSecret(random)
		c.Hash = s.clientHash(c.ID, secret)
	}
	if err = record.CreateWithSecret(ctx, s.store, c); err != nil {
		return nil, "", err
	}
	s.cache.clients.Add(c)
	return c, secret, nil
}

func (s *Service) clientHash(id, secret string) string {
	return access.HashKey(s.pepper, "client "+id+" "+secret)
}

// OAuthClient returns one client. Errors: not_found.
func (s *Service) OAuthClient(ctx context.Context, p domain.Principal, id string) (*domain.OAuthClient, error) {
	c, _, err := record.Get[domain.OAuthClient](ctx, s.store, p, domain.PrefixClient, id)
	return c, err
}

// ListClients returns a page of clients.
func (s *Service) ListClients(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.OAuthClient], error) {
	return record.List[domain.OAuthClient](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixClient, q, nil)
}

// DeleteClient deletes a client. Its tokens are invalid when DeleteClient returns.
func (s *Service) DeleteClient(ctx context.Context, p domain.Principal, id string) error {
	unlock, err := s.cache.clients.LockChanges(ctx, p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	c, _, err := record.Get[domain.OAuthClient](ctx, s.store, p, domain.PrefixClient, id)
	if err != nil {
		return err
	}
	if err = record.Delete[domain.OAuthClient](ctx, s.store, p, domain.PrefixClient, id); err == nil {
		s.cache.clients.Remove(c.ID)
	}
	return err
}

// FindClient returns the client with this id, of any workspace, or nil if there is none. It does not authenticate the
// client.
func (s *Service) FindClient(_ context.Context, id string) (*domain.OAuthClient, error) {
	return s.cache.Client(id)
}

// IsClientSecret reports whether secret is the secret of the client. For a nil client and for public clients it returns
// false, and takes as long as for a wrong secret.
func (s *Service) IsClientSecret(c *domain.OAuthClient, secret string) bool {
	id, hash := "client_", "none"
	if c != nil {
		id, hash = c.ID, c.Hash
	}
	return access.SameHash(s.clientHash(id, secret), hash) && c != nil && !c.Public
}

// CheckOAuthToken returns the current permissions of an OAuth token: the permissions in the token that its client and
// its user still have. It returns expired_token if the token was revoked, or if its client or user was deleted.
func (s *Service) CheckOAuthToken(_ context.Context, p domain.Principal, grant, token string) ([]domain.Permission, error) {
	c, err := s.cache.Client(p.ClientID)
	if err != nil {
		return nil, err
	}
	if c == nil || c.WorkspaceID != p.WorkspaceID || c.Environment != p.Environment || s.cache.isRevoked(grant, token) {
		return nil, domain.Errorf(domain.CodeExpiredToken, "The token was revoked, or its client was deleted.")
	}
	if err = s.CheckOAuthPlan(p.WorkspaceID); err != nil {
		return nil, err
	}
	rights := access.IntersectPermissions(p.Permissions, c.Scopes)
	if p.UserID == "" {
		return rights, nil
	}
	u := s.users.User(p.UserID)
	if u == nil || u.WorkspaceID != p.WorkspaceID {
		return nil, domain.Errorf(domain.CodeExpiredToken, "The user who authorized the client was deleted.")
	}
	return access.IntersectPermissions(rights, u.Role.Permissions()), nil
}

// RevokeOAuth revokes all access tokens of a grant, or a single token. id is the id of the grant or token. The revocation
// is effective when RevokeOAuth returns. until is the time at which the last revoked token expires.
func (s *Service) RevokeOAuth(ctx context.Context, c *domain.OAuthClient, id string, until time.Time) error {
	r := &domain.OAuthRevocation{Meta: domain.Meta{ID: id, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CreatedAt: record.Now()}, Until: until}
	if _, err := s.store.Apply(commit.WithAuditInNextCommit(ctx), commit.Change{Workspace: c.WorkspaceID, Puts: []domain.Record{r}}); err != nil {
		return commit.StoreError(err)
	}
	s.cache.revoke(id, until)
	return nil
}

// SweepOAuth deletes expired revocations, codes and grants of a workspace, up to
// 1,000 of each.
func (s *Service) SweepOAuth(ctx context.Context, workspace string, now time.Time) error {
	over, err := record.DeleteBefore[domain.OAuthRevocation](ctx, s.store, workspace, "oauth_revocation", domain.OAuthSortKey(now))
	if err != nil {
		return err
	}
	s.cache.removeRevocations(over)
	if _, err = record.DeleteBefore[domain.OAuthCode](ctx, s.store, workspace, "oauth_code", domain.OAuthSortKey(now.Add(-domain.OAuthCodeRetention))); err != nil {
		return err
	}
	_, err = record.DeleteBefore[domain.OAuthGrant](ctx, s.store, workspace, "oauth_grant", domain.FirstIDAt(domain.PrefixGrant, now.Add(-domain.RefreshTokenLifetime)))
	return err
}
