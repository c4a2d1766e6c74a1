package node_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/oauth"
	"github.com/callboard/callboard/service/record"
)

// createClientAndUser creates an OAuth client and a user with a role.
func (h *fixture) createClientAndUser(role domain.Role) (*domain.OAuthClient, *domain.User) {
	h.Helper()
	c, _, err := h.services().OAuth.CreateClient(h.Context(), h.live, &domain.OAuthClient{
		Name: "crm", Scopes: []domain.Permission{domain.AllRead, domain.CallsWrite}, GrantTypes: []domain.GrantType{domain.GrantCode, domain.GrantRefresh}, RedirectURIs: []string{"https://a.example/"},
	})
	require.NoError(h, err)
	u, err := h.services().Users.CreateUser(h.Context(), h.live, &domain.User{Name: "Ada", Role: role})
	require.NoError(h, err)
	return c, u
}

// createConsentCode returns the authorization code that a user's consent gives to an OAuth client.
func (h *fixture) createConsentCode(c *domain.OAuthClient, u *domain.User) string {
	h.Helper()
	text, err := h.services().OAuth.IssueCode(h.Context(), &domain.OAuthCode{
		Meta: domain.Meta{WorkspaceID: c.WorkspaceID, Environment: c.Environment}, ClientID: c.ID, UserID: u.ID, RedirectURI: c.RedirectURIs[0], Scopes: []domain.Permission{domain.CallsRead, domain.CallsWrite},
	})
	require.NoError(h, err)
	return text
}

func holderOf(c *domain.OAuthClient, g oauth.IssuedTokens) domain.Principal {
	return domain.Principal{ClientID: c.ID, UserID: g.UserID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, Permissions: g.Rights}
}

func TestConcurrentOAuthExchangesOfOneCodeSucceedOnce(t *testing.T) {
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	c, u := h.createClientAndUser(domain.RoleAdmin)
	race := func(exchange func() (oauth.IssuedTokens, error)) (won []oauth.IssuedTokens) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				g, err := exchange()
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, g)
					return
				}
				assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err))
			})
		}
		all.Wait()
		return won
	}
	code := h.createConsentCode(c, u)
	won := race(func() (oauth.IssuedTokens, error) { return d.OAuth.RedeemCode(ctx, c, code, "https://a.example/", "") })
	require.Len(t, won, 1)
	_, err := d.OAuth.CheckOAuthToken(ctx, holderOf(c, won[0]), won[0].GrantID, "")
	assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(err), "a token that is used twice is refused")

	g, err := d.OAuth.RedeemCode(ctx, c, h.createConsentCode(c, u), "https://a.example/", "")
	require.NoError(t, err)
	won = race(func() (oauth.IssuedTokens, error) { return d.OAuth.RenewGrant(ctx, c, g.Refresh, "") })
	require.Len(t, won, 1)
	_, err = d.OAuth.RenewGrant(ctx, c, won[0].Refresh, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err), "a token that is used twice is refused")
}

func TestOAuthGrantSurvivesRestartAndEndsWithItsUser(t *testing.T) {
	h := newFixture(t, nil)
	ctx := t.Context()
	c, u := h.createClientAndUser(domain.RoleAgent)
	other, _ := h.createClientAndUser(domain.RoleAgent)
	stored, used := h.createConsentCode(c, u), h.createConsentCode(c, u)
	g, err := h.services().OAuth.RedeemCode(ctx, c, used, "https://a.example/", "")
	require.NoError(t, err)
	text, _, err := h.services().Users.CreateSignInLink(ctx, h.live, u.ID, allowAnyUser)
	require.NoError(t, err)
	_, _, err = h.services().Users.CreateSignInLink(ctx, h.test, u.ID, allowAnyUser)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "of another environment")
	cookie, who, err := h.services().Users.SignIn(ctx, text, here, "browser")
	require.NoError(t, err)
	assert.Equal(t, u, who)
	_, _, err = h.services().Users.SignIn(ctx, text, here, "browser")
	assert.Equal(t, domain.CodeInvalidLink, domain.CodeOf(err), "once")

	h.shutdown()
	h.start()
	d := h.services()
	next, err := d.OAuth.RenewGrant(ctx, c, g.Refresh, "calls:read")
	require.NoError(t, err)
	assert.Equal(t, []domain.Permission{domain.CallsRead}, next.Rights)
	_, err = d.OAuth.RenewGrant(ctx, other, next.Refresh, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err), "another client's")
	_, err = d.OAuth.RenewGrant(ctx, c, next.Refresh, "agents:write")
	assert.Equal(t, domain.OAuthInvalidScope, domain.CodeOf(err))
	again, until, err := d.OAuth.IntrospectToken(ctx, c, next.Refresh)
	require.NoError(t, err)
	assert.Equal(t, []domain.Permission{domain.CallsRead, domain.CallsWrite}, again.Rights, "a narrower token narrows no grant")
	assert.WithinDuration(t, time.Now().Add(domain.RefreshTokenIdleTime), until, time.Minute)
	_, err = d.OAuth.RedeemCode(ctx, c, stored, "https://a.example/", "")
	require.NoError(t, err)
	who, session, err := d.Users.AuthenticateSession(ctx, cookie, elsewhere, false)
	require.NoError(t, err)
	assert.Equal(t, u.ID, who.ID)
	for _, bad := range []string{"", "x", cookie + "x", cookie[:len(cookie)-1], "x" + cookie} {
		_, _, err = d.Users.AuthenticateSession(ctx, bad, here, false)
		assert.Equal(t, domain.CodeAuthenticationRequired, domain.CodeOf(err), bad)
	}
	change := func(f func(*domain.User)) {
		_, err := d.Users.UpdateUser(ctx, h.live, u.ID, func(u *domain.User) error { f(u); return nil })
		require.NoError(t, err)
	}
	change(func(u *domain.User) { u.AllowedIPs = []string{here.String()} })
	_, _, err = d.Users.AuthenticateSession(ctx, cookie, elsewhere, false)
	assert.Equal(t, domain.CodeIPNotAllowed, domain.CodeOf(err))
	change(func(u *domain.User) { u.Role = domain.RoleViewer })
	rights, err := d.OAuth.CheckOAuthToken(ctx, holderOf(c, g), g.GrantID, "")
	require.NoError(t, err)
	assert.Equal(t, []domain.Permission{domain.CallsRead}, rights, "never more than the user may now")
	l, err := d.Users.ListSessions(ctx, h.live, u.ID, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, l.Data, 1)
	assert.Equal(t, session.ID, l.Data[0].ID)

	require.NoError(t, d.OAuth.RevokeGrant(ctx, other, g.GrantID), "a token of another client is ignored")
	_, err = d.OAuth.CheckOAuthToken(ctx, holderOf(c, g), g.GrantID, "")
	require.NoError(t, err)
	require.NoError(t, d.Users.DeleteUser(ctx, h.live, u.ID, allowAnyUser))
	_, _, err = d.Users.AuthenticateSession(ctx, cookie, here, false)
	assert.Equal(t, domain.CodeAuthenticationRequired, domain.CodeOf(err))
	_, err = d.OAuth.CheckOAuthToken(ctx, holderOf(c, g), g.GrantID, "")
	assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(err))
	_, err = d.OAuth.RenewGrant(ctx, c, next.Refresh, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err))
	h.node.Sweep(ctx)
}

// allowAnyUser is a permission check that allows every user.
func allowAnyUser(*domain.User) error { return nil }

func TestSignInLinkAndSessionIssuedBeforePromotionHaveNoOperatorRights(t *testing.T) {
	h := newFixture(t, nil)
	ctx := t.Context()
	_, u := h.createClientAndUser(domain.RoleAdmin)
	sign := func() (*domain.User, *domain.Session) {
		text, _, err := h.services().Users.CreateSignInLink(ctx, h.live, u.ID, allowAnyUser)
		require.NoError(t, err)
		cookie, _, err := h.services().Users.SignIn(ctx, text, here, "browser")
		require.NoError(t, err)
		who, s, err := h.services().Users.AuthenticateSession(ctx, cookie, here, false)
		require.NoError(t, err)
		return who, s
	}
	_, before := sign()
	link, _, err := h.services().Users.CreateSignInLink(ctx, h.live, u.ID, allowAnyUser)
	require.NoError(t, err)
	_, err = h.services().Users.UpdateUser(ctx, h.live, u.ID, func(u *domain.User) error { u.Operator = true; return nil })
	require.NoError(t, err)
	_, _, err = h.services().Users.SignIn(ctx, link, here, "browser")
	assert.Equal(t, domain.CodeExpiredLink, domain.CodeOf(err))
	h.shutdown()
	h.start()
	who, after := sign()
	assert.True(t, after.IsOperator(who))
	assert.False(t, before.IsOperator(who))

	no := domain.Errorf(domain.CodeOperatorRequired, "no")
	mayNot := func(u *domain.User) error {
		assert.True(t, u.Operator, "the check sees the committed user")
		return no
	}
	_, _, err = h.services().Users.CreateSignInLink(ctx, h.live, u.ID, mayNot)
	require.ErrorIs(t, err, no)
	require.ErrorIs(t, h.services().Users.DeleteUser(ctx, h.live, u.ID, mayNot), no)
	require.ErrorIs(t, h.services().Users.EndSession(ctx, h.live, u.ID, after.ID, mayNot), no)
	_, err = h.services().Users.User(ctx, h.live, u.ID)
	require.NoError(t, err)
}

func TestEventStreamDoesNotExtendTheSession(t *testing.T) {
	h := newFixture(t, nil)
	ctx := t.Context()
	_, u := h.createClientAndUser(domain.RoleAgent)
	text, _, err := h.services().Users.CreateSignInLink(ctx, h.live, u.ID, allowAnyUser)
	require.NoError(t, err)
	cookie, _, err := h.services().Users.SignIn(ctx, text, here, "browser")
	require.NoError(t, err)
	_, s, err := h.services().Users.AuthenticateSession(ctx, cookie, here, false)
	require.NoError(t, err)

	row := &domain.Session{Meta: domain.Meta{ID: s.ID, WorkspaceID: s.WorkspaceID}}
	version, err := h.store.Get(ctx, row)
	require.NoError(t, err)
	long := time.Now().UTC().Add(time.Minute - domain.SessionIdleTime)
	row.SeenAt = long
	_, err = h.store.Apply(ctx, commit.Change{Workspace: row.WorkspaceID, Guards: []commit.Guard{{Key: row.Key(), Version: version}}, Puts: []domain.Record{row}})
	require.NoError(t, err)
	_, s, err = h.services().Users.AuthenticateSession(ctx, cookie, here, true)
	require.NoError(t, err)
	assert.True(t, s.SeenAt.Equal(long), "looking on is none")
	_, s, err = h.services().Users.AuthenticateSession(ctx, cookie, here, false)
	require.NoError(t, err)
	assert.True(t, s.SeenAt.After(long), "a page that is opened is use")
}
