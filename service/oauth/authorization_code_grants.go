package oauth

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// IssuedTokens is the result of a token request: a grant of a user to a client with its refresh token.
type IssuedTokens struct {
	GrantID     string
	UserID      string
	SignInKeyID string              // id of the API key whose sign-in link the user used; "": none
	Rights      []domain.Permission // permissions that client and user have now
	Refresh     string              // refresh token; "": the client gets no refresh token
}

// IssueCode stores the consent of a user to a client and returns the authorization code.
func (s *Service) IssueCode(ctx context.Context, c *domain.OAuthCode) (string, error) {
	text, now := record.NewSecretText(), record.Now()
	c.ID, c.CreatedAt, c.Until = access.HashKey(s.pepper, "code "+text), now, now.Add(domain.OAuthCodeLifetime)
	_, err := s.store.Apply(commit.WithAuditInNextCommit(ctx), commit.Change{Workspace: c.WorkspaceID, Guards: []commit.Guard{commit.Absent(c.Key())}, Puts: []domain.Record{c}})
	return text, commit.StoreError(err)
}

// RedeemCode exchanges an authorization code for tokens. A code is valid for one use. A second use revokes the grant
// (RFC 6749 §4.1.2).
func (s *Service) RedeemCode(ctx context.Context, client *domain.OAuthClient, text, redirect, verifier string) (IssuedTokens, error) {
	for range record.MaxTries {
		c := &domain.OAuthCode{Meta: domain.Meta{ID: access.HashKey(s.pepper, "code "+text), WorkspaceID: client.WorkspaceID}}
		version, err := s.store.Get(ctx, c)
		if errors.Is(err, domain.ErrNotFound) {
			return IssuedTokens{}, domain.Errorf(domain.OAuthInvalidGrant, "The authorization code is unknown.")
		}
		if err != nil {
			return IssuedTokens{}, commit.StoreError(err)
		}
		now := record.Now()
		again, err := access.CheckCode(c, client.ID, redirect, verifier, now)
		if again {
			return IssuedTokens{}, s.revokeReused(ctx, client, c.GrantID, err)
		}
		if err != nil {
			return IssuedTokens{}, err
		}
		g := &domain.OAuthGrant{Provenance: c.Provenance, ClientID: client.ID, UserID: c.UserID, Scopes: c.Scopes, RefreshedAt: now}
		p := domain.Principal{WorkspaceID: client.WorkspaceID, Environment: client.Environment}
		g.Init("oauth_grant", p, mailbox.NewID(domain.PrefixGrant), now)
		rights, err := s.currentRights(client, g, g.Scopes)
		if err != nil {
			return IssuedTokens{}, err
		}
		c.GrantID = g.ID
		_, err = s.store.Apply(withUser(ctx, g), commit.Change{
			Workspace: client.WorkspaceID, Puts: []domain.Record{c, g},
			Guards: []commit.Guard{{Key: c.Key(), Version: version}, commit.Absent(g.Key())},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return s.issueTokens(client, g, rights), commit.StoreError(err)
	}
	return IssuedTokens{}, commit.StoreError(domain.ErrConflict)
}

// withUser returns a context whose audit entry names the user of the grant as the actor.
func withUser(ctx context.Context, g *domain.OAuthGrant) context.Context {
	commit.AuditFrom(ctx).SetActionAndActor("", domain.Actor{Type: "user", ID: g.UserID})
	return commit.WithAuditInNextCommit(ctx)
}

// issueTokens returns the result of a token request for a grant. It contains a refresh token if the client may use one.
func (s *Service) issueTokens(client *domain.OAuthClient, g *domain.OAuthGrant, rights []domain.Permission) IssuedTokens {
	out := IssuedTokens{GrantID: g.ID, UserID: g.UserID, SignInKeyID: g.CreatedBy.KeyID(), Rights: rights}
	if client.AllowsGrant(domain.GrantRefresh) {
		out.Refresh = access.NewRefreshToken(s.pepper, g.ID, g.Generation)
	}
	return out
}

// currentRights returns those requested permissions of a grant that its client and its user still have. It returns
// invalid_grant if there are none.
func (s *Service) currentRights(client *domain.OAuthClient, g *domain.OAuthGrant, asked []domain.Permission) ([]domain.Permission, error) {
	if ended, err := s.keys.CreatorEnded(g.CreatedBy); err != nil {
		return nil, err
	} else if ended {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The API key that created the user's sign-in link was revoked or has expired.")
	}
	u := s.users.User(g.UserID)
	if u == nil || u.WorkspaceID != client.WorkspaceID {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The user who gave consent was deleted.")
	}
	rights := access.IntersectPermissions(access.IntersectPermissions(asked, client.Scopes), u.Role.Permissions())
	if len(rights) == 0 {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The user who gave consent has none of the requested permissions.")
	}
	return rights, nil
}

// RenewGrant exchanges a refresh token for new tokens. A refresh token is valid for one use. A second use revokes the
// grant (RFC 9700 §4.14.2).
func (s *Service) RenewGrant(ctx context.Context, client *domain.OAuthClient, text, scope string) (IssuedTokens, error) {
	for range record.MaxTries {
		g, version, generation, err := s.findGrant(ctx, client, text)
		if err != nil {
			return IssuedTokens{}, err
		}
		now := record.Now()
		again, err := access.CheckRefresh(g, client.ID, generation, now)
		if again {
			return IssuedTokens{}, s.revokeReused(ctx, client, g.ID, err)
		}
		if err != nil {
			return IssuedTokens{}, err
		}
		asked, err := access.ParseScope(scope, g.Scopes)
		if err != nil {
			return IssuedTokens{}, err
		}
		rights, err := s.currentRights(client, g, asked)
		if err != nil {
			return IssuedTokens{}, err
		}
		g.Generation++
		g.RefreshedAt, g.UpdatedAt = now, now
		_, err = s.store.Apply(withUser(ctx, g), commit.Change{
			Workspace: client.WorkspaceID, Guards: []commit.Guard{{Key: g.Key(), Version: version}}, Puts: []domain.Record{g},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return s.issueTokens(client, g, rights), commit.StoreError(err)
	}
	return IssuedTokens{}, commit.StoreError(domain.ErrConflict)
}

// findGrant returns the grant of a refresh token that this service has issued.
func (s *Service) findGrant(ctx context.Context, client *domain.OAuthClient, text string) (g *domain.OAuthGrant, version uint64, generation int, err error) {
	id, generation, ok := access.ParseRefreshToken(s.pepper, text)
	if !ok {
		return nil, 0, 0, domain.Errorf(domain.OAuthInvalidGrant, "The refresh token is unknown.")
	}
	g = &domain.OAuthGrant{Meta: domain.Meta{ID: id, WorkspaceID: client.WorkspaceID}}
	version, err = s.store.Get(ctx, g)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, 0, 0, domain.Errorf(domain.OAuthInvalidGrant, "The refresh token is unknown.")
	}
	return g, version, generation, commit.StoreError(err)
}

// IntrospectToken returns the grant of a valid refresh token and the time at which the grant expires. Errors:
// invalid_grant.
func (s *Service) IntrospectToken(ctx context.Context, client *domain.OAuthClient, text string) (IssuedTokens, time.Time, error) {
	g, _, generation, err := s.findGrant(ctx, client, text)
	if err == nil {
		_, err = access.CheckRefresh(g, client.ID, generation, time.Now())
	}
	if err != nil {
		return IssuedTokens{}, time.Time{}, err
	}
	rights, err := s.currentRights(client, g, g.Scopes)
	return IssuedTokens{GrantID: g.ID, UserID: g.UserID, Rights: rights}, g.ExpiresAt(), err
}

// revokeReused revokes the grant of an authorization code or refresh token that was used twice, because one of the two
// uses may come from an attacker.
func (s *Service) revokeReused(ctx context.Context, client *domain.OAuthClient, grantID string, err error) error {
	commit.AuditFrom(ctx).SetActionAndActor("token.reused", domain.Actor{Type: "oauth_client", ID: client.ID})
	if end := s.RevokeGrant(ctx, client, grantID); end != nil {
		return end
	}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e.With("reused", grantID)
	}
	return err
}

// RevokeGrant revokes a grant with all its tokens. The revocation is effective when RevokeGrant returns.
func (s *Service) RevokeGrant(ctx context.Context, client *domain.OAuthClient, id string) error {
	for range record.MaxTries {
		g := &domain.OAuthGrant{Meta: domain.Meta{ID: id, WorkspaceID: client.WorkspaceID}}
		version, err := s.store.Get(ctx, g)
		if errors.Is(err, domain.ErrNotFound) || err == nil && (g.RevokedAt != nil || g.ClientID != client.ID) {
			return nil
		}
		if err != nil {
			return commit.StoreError(err)
		}
		now := record.Now()
		until := now.Add(domain.AccessTokenLifetime + time.Minute)
		g.RevokedAt, g.UpdatedAt = &now, now
		r := &domain.OAuthRevocation{Meta: domain.Meta{ID: id, WorkspaceID: g.WorkspaceID, Environment: g.Environment, CreatedAt: now}, Until: until}
		_, err = s.store.Apply(commit.WithAuditInNextCommit(ctx), commit.Change{
			Workspace: g.WorkspaceID, Guards: []commit.Guard{{Key: g.Key(), Version: version}}, Puts: []domain.Record{g, r},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err == nil {
			s.cache.revoke(id, until)
		}
		return commit.StoreError(err)
	}
	return commit.StoreError(domain.ErrConflict)
}
