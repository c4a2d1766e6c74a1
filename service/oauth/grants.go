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

// Granted is what a user has granted to a client.
type Granted struct {
	GrantID     string
	UserID      string
	SignInKeyID string              // the API key whose sign-in link the user came by; "": none
	Rights      []domain.Permission // now: within what the client and the user may do
	Refresh     string              // the refresh token; "": the client gets none
}

// IssueCode keeps what a user has consented to and answers the code for it.
func (s *Service) IssueCode(ctx context.Context, c *domain.OAuthCode) (string, error) {
	text, now := record.NewSecretText(), record.Now()
	c.ID, c.CreatedAt, c.Until = access.HashKey(s.pepper, "code "+text), now, now.Add(domain.CodeLife)
	_, err := s.store.Apply(commit.Boarding(ctx), commit.Change{Workspace: c.WorkspaceID, Guards: []commit.Guard{commit.Absent(c.Key())}, Puts: []domain.Record{c}})
	return text, commit.StoreError(err)
}

// RedeemCode exchanges a code, once. Used again it ends what came of it.
func (s *Service) RedeemCode(ctx context.Context, client *domain.OAuthClient, text, redirect, verifier string) (Granted, error) {
	for range record.MaxTries {
		c := &domain.OAuthCode{Meta: domain.Meta{ID: access.HashKey(s.pepper, "code "+text), WorkspaceID: client.WorkspaceID}}
		version, err := s.store.Get(ctx, c)
		if errors.Is(err, domain.ErrNotFound) {
			return Granted{}, domain.Errorf(domain.OAuthInvalidGrant, "There is no such code.")
		}
		if err != nil {
			return Granted{}, commit.StoreError(err)
		}
		now := record.Now()
		again, err := access.Redeem(c, client.ID, redirect, verifier, now)
		if again {
			return Granted{}, s.reused(ctx, client, c.GrantID, err)
		}
		if err != nil {
			return Granted{}, err
		}
		g := &domain.OAuthGrant{Provenance: c.Provenance, ClientID: client.ID, UserID: c.UserID, Scopes: c.Scopes, RefreshedAt: now}
		p := domain.Principal{WorkspaceID: client.WorkspaceID, Environment: client.Environment}
		g.Init("oauth_grant", p, mailbox.NewID(domain.PrefixGrant), now)
		rights, err := s.rightsOf(client, g, g.Scopes)
		if err != nil {
			return Granted{}, err
		}
		c.GrantID = g.ID
		_, err = s.store.Apply(by(ctx, g), commit.Change{
			Workspace: client.WorkspaceID, Puts: []domain.Record{c, g},
			Guards: []commit.Guard{{Key: c.Key(), Version: version}, commit.Absent(g.Key())},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return s.granted(client, g, rights), commit.StoreError(err)
	}
	return Granted{}, commit.StoreError(domain.ErrConflict)
}

// by is a context for the commit that gives what a grant holds, which is an act
// of its user.
func by(ctx context.Context, g *domain.OAuthGrant) context.Context {
	commit.RiderOf(ctx).Tells("", domain.Actor{Type: "user", ID: g.UserID})
	return commit.Boarding(ctx)
}

// granted is a grant as its client learns of it.
func (s *Service) granted(client *domain.OAuthClient, g *domain.OAuthGrant, rights []domain.Permission) Granted {
	out := Granted{GrantID: g.ID, UserID: g.UserID, SignInKeyID: g.CreatedBy.KeyID(), Rights: rights}
	if client.May(domain.GrantRefresh) {
		out.Refresh = access.RefreshText(s.pepper, g.ID, g.Generation)
	}
	return out
}

// rightsOf is what a grant still gives: within what its client can be given and
// its user may do.
func (s *Service) rightsOf(client *domain.OAuthClient, g *domain.OAuthGrant, asked []domain.Permission) ([]domain.Permission, error) {
	if ended, err := s.keys.CreatorEnded(g.CreatedBy); err != nil {
		return nil, err
	} else if ended {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The API key that let the user sign in has ended.")
	}
	u := s.users.User(g.UserID)
	if u == nil || u.WorkspaceID != client.WorkspaceID {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The user who consented is gone.")
	}
	rights := access.Meet(access.Meet(asked, client.Scopes), u.Role.Permissions())
	if len(rights) == 0 {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The user who consented may do none of it any more.")
	}
	return rights, nil
}

// RenewGrant turns a refresh token into the next one, once. Used again it ends
// the grant.
func (s *Service) RenewGrant(ctx context.Context, client *domain.OAuthClient, text, scope string) (Granted, error) {
	for range record.MaxTries {
		g, version, generation, err := s.grantOf(ctx, client, text)
		if err != nil {
			return Granted{}, err
		}
		now := record.Now()
		again, err := access.Renew(g, client.ID, generation, now)
		if again {
			return Granted{}, s.reused(ctx, client, g.ID, err)
		}
		if err != nil {
			return Granted{}, err
		}
		asked, err := access.Scope(scope, g.Scopes)
		if err != nil {
			return Granted{}, err
		}
		rights, err := s.rightsOf(client, g, asked)
		if err != nil {
			return Granted{}, err
		}
		g.Generation++
		g.RefreshedAt, g.UpdatedAt = now, now
		_, err = s.store.Apply(by(ctx, g), commit.Change{
			Workspace: client.WorkspaceID, Guards: []commit.Guard{{Key: g.Key(), Version: version}}, Puts: []domain.Record{g},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return s.granted(client, g, rights), commit.StoreError(err)
	}
	return Granted{}, commit.StoreError(domain.ErrConflict)
}

// grantOf is the grant of a refresh token that we have made.
func (s *Service) grantOf(ctx context.Context, client *domain.OAuthClient, text string) (g *domain.OAuthGrant, version uint64, generation int, err error) {
	id, generation, ok := access.ReadRefresh(s.pepper, text)
	if !ok {
		return nil, 0, 0, domain.Errorf(domain.OAuthInvalidGrant, "There is no such refresh token.")
	}
	g = &domain.OAuthGrant{Meta: domain.Meta{ID: id, WorkspaceID: client.WorkspaceID}}
	version, err = s.store.Get(ctx, g)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, 0, 0, domain.Errorf(domain.OAuthInvalidGrant, "There is no such refresh token.")
	}
	return g, version, generation, commit.StoreError(err)
}

// GrantOf is what a refresh token that holds still stands for. Errors:
// invalid_grant.
func (s *Service) GrantOf(ctx context.Context, client *domain.OAuthClient, text string) (Granted, time.Time, error) {
	g, _, generation, err := s.grantOf(ctx, client, text)
	if err == nil {
		_, err = access.Renew(g, client.ID, generation, time.Now())
	}
	if err != nil {
		return Granted{}, time.Time{}, err
	}
	rights, err := s.rightsOf(client, g, g.Scopes)
	return Granted{GrantID: g.ID, UserID: g.UserID, Rights: rights}, g.Until(), err
}

// reused ends what a code or a refresh token gave that was used twice: one of
// the two is a thief.
func (s *Service) reused(ctx context.Context, client *domain.OAuthClient, grantID string, err error) error {
	commit.RiderOf(ctx).Tells("token.reused", domain.Actor{Type: "oauth_client", ID: client.ID})
	if end := s.EndGrant(ctx, client, grantID); end != nil {
		return end
	}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e.With("reused", grantID)
	}
	return err
}

// EndGrant refuses everything that a grant gave, from its return on.
func (s *Service) EndGrant(ctx context.Context, client *domain.OAuthClient, id string) error {
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
		until := now.Add(domain.AccessLife + time.Minute)
		g.RevokedAt, g.UpdatedAt = &now, now
		r := &domain.OAuthRevocation{Meta: domain.Meta{ID: id, WorkspaceID: g.WorkspaceID, Environment: g.Environment, CreatedAt: now}, Until: until}
		_, err = s.store.Apply(commit.Boarding(ctx), commit.Change{
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
