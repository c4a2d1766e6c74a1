package actors

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// secretText spells 24 random bytes.
func secretText() string {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	return domain.KeyText(random[:])
}

// IssueCode keeps what a user has consented to and answers the code for it.
func (d *Desk) IssueCode(ctx context.Context, c *domain.OAuthCode) (string, error) {
	text, now := secretText(), record.Now()
	c.ID, c.CreatedAt, c.Until = access.HashKey(d.guests.pepper, "code "+text), now, now.Add(domain.CodeLife)
	_, err := d.store.Apply(commit.Boarding(ctx), commit.Change{Workspace: c.WorkspaceID, Guards: []commit.Guard{commit.Absent(c.Key())}, Puts: []domain.Record{c}})
	return text, record.StoreError(err)
}

// RedeemCode exchanges a code, once. Used again it ends what came of it.
func (d *Desk) RedeemCode(ctx context.Context, client *domain.OAuthClient, text, redirect, verifier string) (ask.Granted, error) {
	for range record.MaxTries {
		c := &domain.OAuthCode{Meta: domain.Meta{ID: access.HashKey(d.guests.pepper, "code "+text), WorkspaceID: client.WorkspaceID}}
		version, err := d.store.Get(ctx, c)
		if errors.Is(err, domain.ErrNotFound) {
			return ask.Granted{}, domain.Errorf(domain.OAuthInvalidGrant, "There is no such code.")
		}
		if err != nil {
			return ask.Granted{}, record.StoreError(err)
		}
		now := record.Now()
		again, err := access.Redeem(c, client.ID, redirect, verifier, now)
		if again {
			return ask.Granted{}, d.reused(ctx, client, c.GrantID, err)
		}
		if err != nil {
			return ask.Granted{}, err
		}
		g := &domain.OAuthGrant{Provenance: c.Provenance, ClientID: client.ID, UserID: c.UserID, Scopes: c.Scopes, RefreshedAt: now}
		p := domain.Principal{WorkspaceID: client.WorkspaceID, Environment: client.Environment}
		record.SetMeta(&g.Meta, "oauth_grant", p, mailbox.NewID(domain.PrefixGrant), now)
		rights, err := d.rightsOf(client, g, g.Scopes)
		if err != nil {
			return ask.Granted{}, err
		}
		c.GrantID = g.ID
		_, err = d.store.Apply(by(ctx, g), commit.Change{
			Workspace: client.WorkspaceID, Puts: []domain.Record{c, g},
			Guards: []commit.Guard{{Key: c.Key(), Version: version}, commit.Absent(g.Key())},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return d.granted(client, g, rights), record.StoreError(err)
	}
	return ask.Granted{}, record.StoreError(domain.ErrConflict)
}

// by is a context for the commit that gives what a grant holds, which is an act
// of its user.
func by(ctx context.Context, g *domain.OAuthGrant) context.Context {
	commit.RiderOf(ctx).Tells("", domain.Actor{Type: "user", ID: g.UserID})
	return commit.Boarding(ctx)
}

// granted is a grant as its client learns of it.
func (d *Desk) granted(client *domain.OAuthClient, g *domain.OAuthGrant, rights []domain.Permission) ask.Granted {
	out := ask.Granted{GrantID: g.ID, UserID: g.UserID, SignInKeyID: g.CreatedBy.KeyID(), Rights: rights}
	if client.May(domain.GrantRefresh) {
		out.Refresh = access.RefreshText(d.guests.pepper, g.ID, g.Generation)
	}
	return out
}

// rightsOf is what a grant still gives: within what its client can be given and
// its user may do.
func (d *Desk) rightsOf(client *domain.OAuthClient, g *domain.OAuthGrant, asked []domain.Permission) ([]domain.Permission, error) {
	if ended, err := d.creatorKeyInvalid(g.CreatedBy); err != nil {
		return nil, err
	} else if ended {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The API key that let the user sign in has ended.")
	}
	u := d.guests.user(g.UserID)
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
func (d *Desk) RenewGrant(ctx context.Context, client *domain.OAuthClient, text, scope string) (ask.Granted, error) {
	for range record.MaxTries {
		g, version, generation, err := d.grantOf(ctx, client, text)
		if err != nil {
			return ask.Granted{}, err
		}
		now := record.Now()
		again, err := access.Renew(g, client.ID, generation, now)
		if again {
			return ask.Granted{}, d.reused(ctx, client, g.ID, err)
		}
		if err != nil {
			return ask.Granted{}, err
		}
		asked, err := access.Scope(scope, g.Scopes)
		if err != nil {
			return ask.Granted{}, err
		}
		rights, err := d.rightsOf(client, g, asked)
		if err != nil {
			return ask.Granted{}, err
		}
		g.Generation++
		g.RefreshedAt, g.UpdatedAt = now, now
		_, err = d.store.Apply(by(ctx, g), commit.Change{
			Workspace: client.WorkspaceID, Guards: []commit.Guard{{Key: g.Key(), Version: version}}, Puts: []domain.Record{g},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return d.granted(client, g, rights), record.StoreError(err)
	}
	return ask.Granted{}, record.StoreError(domain.ErrConflict)
}

// grantOf is the grant of a refresh token that we have made.
func (d *Desk) grantOf(ctx context.Context, client *domain.OAuthClient, text string) (g *domain.OAuthGrant, version uint64, generation int, err error) {
	id, generation, ok := access.ReadRefresh(d.guests.pepper, text)
	if !ok {
		return nil, 0, 0, domain.Errorf(domain.OAuthInvalidGrant, "There is no such refresh token.")
	}
	g = &domain.OAuthGrant{Meta: domain.Meta{ID: id, WorkspaceID: client.WorkspaceID}}
	version, err = d.store.Get(ctx, g)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, 0, 0, domain.Errorf(domain.OAuthInvalidGrant, "There is no such refresh token.")
	}
	return g, version, generation, record.StoreError(err)
}

// GrantOf is what a refresh token that holds still stands for. Errors:
// invalid_grant.
func (d *Desk) GrantOf(ctx context.Context, client *domain.OAuthClient, text string) (ask.Granted, time.Time, error) {
	g, _, generation, err := d.grantOf(ctx, client, text)
	if err == nil {
		_, err = access.Renew(g, client.ID, generation, time.Now())
	}
	if err != nil {
		return ask.Granted{}, time.Time{}, err
	}
	rights, err := d.rightsOf(client, g, g.Scopes)
	return ask.Granted{GrantID: g.ID, UserID: g.UserID, Rights: rights}, g.Until(), err
}

// reused ends what a code or a refresh token gave that was used twice: one of
// the two is a thief.
func (d *Desk) reused(ctx context.Context, client *domain.OAuthClient, grantID string, err error) error {
	commit.RiderOf(ctx).Tells("token.reused", domain.Actor{Type: "oauth_client", ID: client.ID})
	if end := d.EndGrant(ctx, client, grantID); end != nil {
		return end
	}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e.With("reused", grantID)
	}
	return err
}

// EndGrant refuses everything that a grant gave, from its return on.
func (d *Desk) EndGrant(ctx context.Context, client *domain.OAuthClient, id string) error {
	for range record.MaxTries {
		g := &domain.OAuthGrant{Meta: domain.Meta{ID: id, WorkspaceID: client.WorkspaceID}}
		version, err := d.store.Get(ctx, g)
		if errors.Is(err, domain.ErrNotFound) || err == nil && (g.RevokedAt != nil || g.ClientID != client.ID) {
			return nil
		}
		if err != nil {
			return record.StoreError(err)
		}
		now := record.Now()
		until := now.Add(domain.AccessLife + time.Minute)
		g.RevokedAt, g.UpdatedAt = &now, now
		r := &domain.OAuthRevocation{Meta: domain.Meta{ID: id, WorkspaceID: g.WorkspaceID, Environment: g.Environment, CreatedAt: now}, Until: until}
		_, err = d.store.Apply(commit.Boarding(ctx), commit.Change{
			Workspace: g.WorkspaceID, Guards: []commit.Guard{{Key: g.Key(), Version: version}}, Puts: []domain.Record{g, r},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err == nil {
			d.guests.refuse(id, until)
		}
		return record.StoreError(err)
	}
	return record.StoreError(domain.ErrConflict)
}
