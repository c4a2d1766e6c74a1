package actors

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// clientsMost bounds the OAuth clients of a workspace: they are kept in memory.
const clientsMost = 1000

// OAuthPlan fails with plan_required where the workspace's plan has no OAuth.
func (d *Desk) OAuthPlan(workspace string) error {
	w := d.node.Workspace(workspace)
	if w == nil {
		return d.node.WorkspaceNotFound()
	}
	if w.Plan != domain.Enterprise {
		return domain.Errorf(domain.CodePlanRequired, "OAuth 2.0 needs the plan enterprise").With("required", domain.Enterprise)
	}
	return nil
}

// CreateClient keeps a new OAuth client and makes its secret, unless it is a
// public one.
func (d *Desk) CreateClient(ctx context.Context, p domain.Principal, c *domain.OAuthClient) (made *domain.OAuthClient, secret string, err error) {
	defer d.guests.changing.lock(p.WorkspaceID)()
	restrictions := d.restrictionsOf(p)
	if c.AllowedIPs, err = restrictions.limitAllowedIPs(c.AllowedIPs); err != nil {
		return nil, "", err
	}
	if d.guests.count(p.WorkspaceID) >= clientsMost {
		return nil, "", domain.Errorf(domain.CodeInvalidState, "the workspace has %d OAuth clients, which is the most; delete some first", clientsMost)
	}
	record.SetMeta(&c.Meta, "oauth_client", p, record.NewID(ctx, domain.PrefixClient), record.Now())
	c.CreatedBy = p.Creator()
	if !c.Public {
		var random [24]byte
		_, _ = rand.Read(random[:]) // never fails
		secret, c.Last4 = access.NewSecret(random)
		c.Hash = d.clientHash(c.ID, secret)
	}
	if err = record.CreateWithSecret(ctx, d.store, c); err != nil {
		return nil, "", err
	}
	d.guests.remember(c)
	return c, secret, nil
}

func (d *Desk) clientHash(id, secret string) string {
	return access.HashKey(d.guests.pepper, "client "+id+" "+secret)
}

// OAuthClient reads one client.
func (d *Desk) OAuthClient(ctx context.Context, p domain.Principal, id string) (*domain.OAuthClient, error) {
	c, _, err := record.Get[domain.OAuthClient](ctx, d.store, p, domain.PrefixClient, id)
	return c, err
}

// ListClients reads a page.
func (d *Desk) ListClients(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.OAuthClient], error) {
	return record.List[domain.OAuthClient](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixClient, q, nil)
}

// DeleteClient removes a client; its tokens are refused from the return on.
func (d *Desk) DeleteClient(ctx context.Context, p domain.Principal, id string) error {
	defer d.guests.changing.lock(p.WorkspaceID)()
	c, _, err := record.Get[domain.OAuthClient](ctx, d.store, p, domain.PrefixClient, id)
	if err != nil {
		return err
	}
	if err = record.Delete[domain.OAuthClient](ctx, d.store, p, domain.PrefixClient, id); err == nil {
		d.guests.forget(c.ID)
	}
	return err
}

// ClientOf is the client of an id, of any workspace, before anything is proven;
// nil: there is none.
func (d *Desk) ClientOf(_ context.Context, id string) (*domain.OAuthClient, error) {
	return d.guests.client(id)
}

// ClientProves says whether a secret is the client's. nil takes as long and is
// never right; so is a public client, which has none.
func (d *Desk) ClientProves(c *domain.OAuthClient, secret string) bool {
	id, hash := "client_", "none"
	if c != nil {
		id, hash = c.ID, c.Hash
	}
	return access.SameHash(d.clientHash(id, secret), hash) && c != nil && !c.Public
}

// OAuthAlive is what the holder of an OAuth token may do now: at most what the
// token says. expired_token where its client is gone or it was revoked.
func (d *Desk) OAuthAlive(_ context.Context, p domain.Principal, grant, token string) ([]domain.Permission, error) {
	c, err := d.guests.client(p.ClientID)
	if err != nil {
		return nil, err
	}
	if c == nil || c.WorkspaceID != p.WorkspaceID || c.Environment != p.Environment || d.guests.isRefused(grant, token) {
		return nil, domain.Errorf(domain.CodeExpiredToken, "The token was revoked, or its client is gone.")
	}
	if err = d.OAuthPlan(p.WorkspaceID); err != nil {
		return nil, err
	}
	rights := access.Meet(p.Permissions, c.Scopes)
	if p.UserID == "" {
		return rights, nil
	}
	u := d.guests.user(p.UserID)
	if u == nil || u.WorkspaceID != p.WorkspaceID {
		return nil, domain.Errorf(domain.CodeExpiredToken, "The user who let the client in is gone.")
	}
	return access.Meet(rights, u.Role.Permissions()), nil
}

// RevokeOAuth refuses all access tokens of a grant, or a single one, from its
// return on; until is when the last of them ends by itself.
func (d *Desk) RevokeOAuth(ctx context.Context, c *domain.OAuthClient, id string, until time.Time) error {
	r := &domain.OAuthRevocation{Meta: domain.Meta{ID: id, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CreatedAt: record.Now()}, Until: until}
	if _, err := d.store.Apply(commit.Boarding(ctx), commit.Change{Workspace: c.WorkspaceID, Puts: []domain.Record{r}}); err != nil {
		return record.StoreError(err)
	}
	d.guests.refuse(id, until)
	return nil
}
