package httpapi_test

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/service/record"
)

func (f *fakeServices) CheckOAuthPlan(string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.workspace.Plan != domain.Enterprise {
		return domain.Errorf(domain.CodePlanRequired, "OAuth 2.0 needs another plan.")
	}
	return nil
}

func (f *fakeServices) CreateClient(_ context.Context, p domain.Principal, c *domain.OAuthClient) (*domain.OAuthClient, string, error) {
	c.CreatedBy = p.Creator()
	if c.Public {
		return f.clients.add(c), "", nil
	}
	c.Last4, c.Hash = "wxyz", "kept"
	return f.clients.add(c), "s3cret & more", nil
}

func (f *fakeServices) OAuthClient(_ context.Context, _ domain.Principal, id string) (*domain.OAuthClient, error) {
	return f.clients.get(id)
}

func (f *fakeServices) ListClients(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.OAuthClient], error) {
	return f.clients.list(q), nil
}

func (f *fakeServices) DeleteClient(_ context.Context, _ domain.Principal, id string) error {
	return f.clients.remove(id)
}

func (f *fakeServices) FindClient(_ context.Context, id string) (*domain.OAuthClient, error) {
	c, err := f.clients.get(id)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // unknown client
	}
	return c, nil
}

func (f *fakeServices) IsClientSecret(c *domain.OAuthClient, secret string) bool {
	return c != nil && !c.Public && secret == "s3cret & more"
}

func (f *fakeServices) CheckOAuthToken(ctx context.Context, p domain.Principal, grant, token string) ([]domain.Permission, error) {
	c, _ := f.FindClient(ctx, p.ClientID)
	f.mu.Lock()
	refused := c == nil || f.refused[grant] || f.refused[token]
	f.mu.Unlock()
	if refused {
		return nil, domain.Errorf(domain.CodeExpiredToken, "It was revoked.")
	}
	rights := access.IntersectPermissions(p.Permissions, c.Scopes)
	if p.UserID != "" {
		u, err := f.users.get(p.UserID)
		if err != nil {
			return nil, domain.Errorf(domain.CodeExpiredToken, "The user is gone.")
		}
		rights = access.IntersectPermissions(rights, u.Role.Permissions())
	}
	return rights, f.CheckOAuthPlan("")
}

func (f *fakeServices) RevokeOAuth(_ context.Context, _ *domain.OAuthClient, id string, _ time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused[id] = true
	return nil
}
