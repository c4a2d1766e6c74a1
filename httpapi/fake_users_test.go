package httpapi_test

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/service/oauth"
	"github.com/callboard/callboard/service/record"
)

// fakeUsers holds the users, sessions, OAuth clients and grants of fakeServices.
type fakeUsers struct {
	clients  fakeRecords[*domain.OAuthClient]
	refused  map[string]bool // revoked tokens and grants
	users    fakeRecords[*domain.User]
	sessions fakeRecords[*domain.Session]
	links    map[string]*domain.SignIn
	watching bool // the last request with a cookie was a page update
	codes    map[string]*domain.OAuthCode
	grants   map[string]*domain.OAuthGrant
}

func (p *fakeUsers) initUsers() {
	p.links, p.codes, p.grants = map[string]*domain.SignIn{}, map[string]*domain.OAuthCode{}, map[string]*domain.OAuthGrant{}
	p.clients.kind, p.refused = domain.PrefixClient, map[string]bool{}
	p.users.kind, p.sessions.kind = domain.PrefixUser, domain.PrefixSession
}

func (f *fakeServices) CreateUser(_ context.Context, _ domain.Principal, u *domain.User) (*domain.User, error) {
	u.UpdateOperatorSince(false, time.Now().UTC())
	return f.users.add(u), nil
}

func (f *fakeServices) User(_ context.Context, _ domain.Principal, id string) (*domain.User, error) {
	return f.users.get(id)
}

func (f *fakeServices) ListUsers(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.User], error) {
	return f.users.list(q), nil
}

func (f *fakeServices) UpdateUser(_ context.Context, _ domain.Principal, id string, change func(*domain.User) error) (*domain.User, error) {
	return updateRecord(&f.users, id, func(u *domain.User) error {
		was := u.Operator
		err := change(u)
		u.UpdateOperatorSince(was, time.Now().UTC())
		return err
	})
}

// manageableUser returns a user. Its error is that of may, which checks whether the caller may manage the user.
func (f *fakeServices) manageableUser(id string, may func(*domain.User) error) (*domain.User, error) {
	u, err := f.users.get(id)
	if err != nil {
		return nil, err
	}
	return u, may(u)
}

func (f *fakeServices) DeleteUser(_ context.Context, _ domain.Principal, id string, may func(*domain.User) error) error {
	if _, err := f.manageableUser(id, may); err != nil {
		return err
	}
	return f.users.remove(id)
}

func (f *fakeServices) CreateSignInLink(_ context.Context, p domain.Principal, id string, may func(*domain.User) error) (string, time.Time, error) {
	u, err := f.manageableUser(id, may)
	if err != nil {
		return "", time.Time{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text := "link-" + strconv.Itoa(len(f.links))
	f.links[text] = &domain.SignIn{Provenance: domain.Provenance{CreatedBy: p.Creator()}, UserID: id, Until: time.Now().Add(domain.SignInLinkLifetime).UTC(), OperatorSince: u.OperatorSince}
	return text, f.links[text].Until, nil
}

func (f *fakeServices) SignIn(_ context.Context, text string, from netip.Addr, agent string) (string, *domain.User, error) {
	f.mu.Lock()
	link, ok := f.links[text]
	delete(f.links, text)
	f.mu.Unlock()
	if !ok {
		return "", nil, domain.Errorf(domain.CodeInvalidLink, "It was used.")
	}
	u, err := f.users.get(link.UserID)
	if err != nil || !link.IsValidFor(u, time.Now()) {
		return "", nil, domain.Errorf(domain.CodeExpiredLink, "It is too old.")
	}
	if !access.IsAllowedIP(u.AllowedIPs, from) {
		return "", u, domain.Errorf(domain.CodeIPNotAllowed, "Not from there.")
	}
	now := time.Now().UTC()
	s := f.sessions.add(&domain.Session{Provenance: link.Provenance, UserID: u.ID, IP: from.String(), UserAgent: agent, SeenAt: now, OperatorSince: link.OperatorSince, Hash: "hash of a session"})
	f.mu.Lock()
	s.CreatedAt = now
	f.mu.Unlock()
	return "cookie-" + s.ID, u, nil
}

func (f *fakeServices) AuthenticateSession(_ context.Context, cookie string, from netip.Addr, watching bool) (*domain.User, *domain.Session, error) {
	f.mu.Lock()
	f.watching = watching
	f.mu.Unlock()
	notSignedIn := domain.Errorf(domain.CodeAuthenticationRequired, "You are not signed in.")
	s, err := f.sessions.get(strings.TrimPrefix(cookie, "cookie-"))
	if err != nil {
		return nil, nil, notSignedIn
	}
	u, err := f.users.get(s.UserID)
	switch {
	case err != nil:
		return nil, nil, notSignedIn
	case !access.IsAllowedIP(u.AllowedIPs, from):
		return u, s, domain.Errorf(domain.CodeIPNotAllowed, "Not from there.")
	}
	return u, s, nil
}

func (f *fakeServices) ListSessions(_ context.Context, _ domain.Principal, id string, q record.PageQuery) (record.Page[*domain.Session], error) {
	if _, err := f.users.get(id); err != nil {
		return record.Page[*domain.Session]{}, err
	}
	l := f.sessions.list(q)
	l.Data = slices.DeleteFunc(l.Data, func(s *domain.Session) bool { return s.UserID != id })
	return l, nil
}

func (f *fakeServices) EndSession(_ context.Context, _ domain.Principal, user, id string, may func(*domain.User) error) error {
	if _, err := f.manageableUser(user, may); err != nil {
		return err
	}
	return f.sessions.remove(id)
}

func (f *fakeServices) IssueCode(_ context.Context, c *domain.OAuthCode) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := "code-" + strconv.Itoa(len(f.codes))
	c.Until = time.Now().Add(domain.OAuthCodeLifetime)
	f.codes[text] = c
	return text, nil
}

func (f *fakeServices) rights(client *domain.OAuthClient, g *domain.OAuthGrant, asked []domain.Permission) ([]domain.Permission, error) {
	u, err := f.users.get(g.UserID)
	if err != nil {
		return nil, domain.Errorf(domain.OAuthInvalidGrant, "The user is gone.")
	}
	return access.IntersectPermissions(access.IntersectPermissions(asked, client.Scopes), u.Role.Permissions()), nil
}

func (f *fakeServices) RedeemCode(ctx context.Context, client *domain.OAuthClient, text, redirect, verifier string) (oauth.IssuedTokens, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.codes[text]
	if c == nil {
		return oauth.IssuedTokens{}, domain.Errorf(domain.OAuthInvalidGrant, "There is no such code.")
	}
	now := time.Now()
	if again, err := access.CheckCode(c, client.ID, redirect, verifier, now); err != nil {
		if again {
			f.refused[c.GrantID] = true
			err = domain.Errorf(domain.OAuthInvalidGrant, "It was used.").With("reused", c.GrantID)
		}
		return oauth.IssuedTokens{}, err
	}
	g := &domain.OAuthGrant{ClientID: client.ID, UserID: c.UserID, Scopes: c.Scopes, RefreshedAt: now}
	g.ID, g.CreatedAt = "grant_"+ulidOf(len(f.grants)+1), now
	c.GrantID, f.grants[g.ID] = g.ID, g
	rights, err := f.rights(client, g, g.Scopes)
	return oauth.IssuedTokens{GrantID: g.ID, UserID: g.UserID, Rights: rights, Refresh: access.NewRefreshToken(nil, g.ID, 0)}, err
}

func (f *fakeServices) RenewGrant(_ context.Context, client *domain.OAuthClient, text, scope string) (oauth.IssuedTokens, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, generation, ok := access.ParseRefreshToken(nil, text)
	g := f.grants[id]
	if !ok || g == nil || f.refused[id] {
		return oauth.IssuedTokens{}, domain.Errorf(domain.OAuthInvalidGrant, "There is no such refresh token.")
	}
	if again, err := access.CheckRefresh(g, client.ID, generation, time.Now()); err != nil {
		if again {
			f.refused[id] = true
			err = domain.Errorf(domain.OAuthInvalidGrant, "It was used.").With("reused", id)
		}
		return oauth.IssuedTokens{}, err
	}
	requested, err := access.ParseScope(scope, g.Scopes)
	if err != nil {
		return oauth.IssuedTokens{}, err
	}
	g.Generation++
	rights, err := f.rights(client, g, requested)
	return oauth.IssuedTokens{GrantID: id, UserID: g.UserID, Rights: rights, Refresh: access.NewRefreshToken(nil, id, g.Generation)}, err
}

func (f *fakeServices) IntrospectToken(_ context.Context, client *domain.OAuthClient, text string) (oauth.IssuedTokens, time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, generation, _ := access.ParseRefreshToken(nil, text)
	g := f.grants[id]
	if g == nil || f.refused[id] || g.ClientID != client.ID || g.Generation != generation {
		return oauth.IssuedTokens{}, time.Time{}, domain.Errorf(domain.OAuthInvalidGrant, "There is no such refresh token.")
	}
	return oauth.IssuedTokens{GrantID: id, UserID: g.UserID, Rights: g.Scopes}, g.ExpiresAt(), nil
}

func (f *fakeServices) RevokeGrant(_ context.Context, _ *domain.OAuthClient, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused[id] = true
	return nil
}

func (f *fakeServices) SwitchEnvironment(_ context.Context, _ *domain.User, id string, env domain.Environment) error {
	s, err := f.sessions.get(id)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Shows = env
	return nil
}
