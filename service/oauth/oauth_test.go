package oauth_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/oauth"
	"github.com/callboard/callboard/service/record/recordtest"
)

// accounts is a fake of users and API keys. ended holds the ids of keys that were revoked or have expired.
type accounts struct {
	users map[string]*domain.User
	ended map[string]bool
}

func (a *accounts) User(id string) *domain.User                  { return a.users[id] }
func (a *accounts) CreatorEnded(c *domain.Creator) (bool, error) { return a.ended[c.KeyID()], nil }
func (*accounts) LimitAllowedIPs(_ domain.Principal, list []string) ([]string, error) {
	if slices.Contains(list, "0.0.0.0/0") {
		return nil, domain.FieldError("allowed_ips", domain.CodeValidation, "is too wide")
	}
	return list, nil
}

const callback = "https://crm.example/callback"

type fixture struct {
	*oauth.Service

	store      *pebbletest.Store
	workspaces recordtest.Workspaces
	accounts   *accounts
	cache      *oauth.ClientCache
	client     *domain.OAuthClient
	secret     string
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		store: pebbletest.OpenStore(t), workspaces: recordtest.Workspaces{"ws_1": {Plan: domain.Enterprise}, "ws_2": {Plan: domain.Enterprise}}, cache: oauth.NewClientCache(),
		accounts: &accounts{users: map[string]*domain.User{"user_1": {Meta: domain.Meta{WorkspaceID: "ws_1"}, Role: domain.RoleAdmin}}, ended: make(map[string]bool)},
	}
	f.cache.SetLoaded()
	f.Service = f.open(f.cache)
	var err error
	f.client, f.secret, err = f.CreateClient(t.Context(), recordtest.Live("ws_1"), &domain.OAuthClient{
		Name: "crm", Scopes: []domain.Permission{domain.CallsRead, domain.CallsWrite}, GrantTypes: []domain.GrantType{domain.GrantCode, domain.GrantRefresh}, RedirectURIs: []string{callback},
	})
	require.NoError(t, err)
	return f
}

func (f *fixture) open(cache *oauth.ClientCache) *oauth.Service {
	return oauth.New(oauth.Config{
		Store: f.store, Cache: cache, Workspaces: f.workspaces, Restrictions: f.accounts, Users: f.accounts, Keys: f.accounts, Pepper: []byte("pepper"),
	})
}

// issue returns an authorization code for the consent of user_1 to the client.
func (f *fixture) issue(t *testing.T) string {
	t.Helper()
	code, err := f.IssueCode(t.Context(), &domain.OAuthCode{
		Meta: domain.Meta{WorkspaceID: "ws_1", Environment: domain.Live}, Provenance: domain.Provenance{CreatedBy: &domain.Creator{Type: domain.CreatorUser, ID: "user_1", SignInKeyID: "key_1"}},
		ClientID: f.client.ID, UserID: "user_1", RedirectURI: callback, Scopes: []domain.Permission{domain.CallsRead},
	})
	require.NoError(t, err)
	return code
}

// checkToken checks an access token of a grant and returns its permissions or its error code.
func (f *fixture) checkToken(t *testing.T, s *oauth.Service, grant, token string) ([]domain.Permission, domain.Code) {
	t.Helper()
	p := domain.Principal{ClientID: f.client.ID, WorkspaceID: "ws_1", Environment: domain.Live, Permissions: []domain.Permission{domain.AllRead}}
	rights, err := s.CheckOAuthToken(t.Context(), p, grant, token)
	return rights, domain.CodeOf(err)
}

func TestSecondUseOfAuthorizationCodeRevokesGrant(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	code := f.issue(t)
	_, err := f.RedeemCode(t.Context(), f.client, code, "https://other.example", "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err), "another redirect URI")
	granted, err := f.RedeemCode(t.Context(), f.client, code, callback, "")
	require.NoError(t, err)
	assert.Equal(t, []domain.Permission{domain.CallsRead}, granted.Rights)
	assert.Equal(t, "key_1", granted.SignInKeyID)
	_, refused := f.checkToken(t, f.Service, granted.GrantID, "")
	assert.Empty(t, refused)

	_, err = f.RedeemCode(t.Context(), f.client, code, callback, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err))
	_, refused = f.checkToken(t, f.Service, granted.GrantID, "")
	assert.Equal(t, domain.CodeExpiredToken, refused)
	_, err = f.RenewGrant(t.Context(), f.client, granted.Refresh, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err))
}

func TestRefreshTokenIsValidOnceWhileUserAndKeyAreValid(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	granted, err := f.RedeemCode(t.Context(), f.client, f.issue(t), callback, "")
	require.NoError(t, err)
	next, err := f.RenewGrant(t.Context(), f.client, granted.Refresh, "")
	require.NoError(t, err)
	assert.NotEqual(t, granted.Refresh, next.Refresh)
	f.accounts.ended["key_1"] = true
	_, err = f.RenewGrant(t.Context(), f.client, next.Refresh, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err), "the key of the user's sign-in link was revoked")
	f.accounts.ended["key_1"] = false
	f.accounts.users["user_1"].Role = "none"
	_, err = f.RenewGrant(t.Context(), f.client, next.Refresh, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err), "the user has no rights now")
	delete(f.accounts.users, "user_1")
	_, _, err = f.IntrospectToken(t.Context(), f.client, next.Refresh)
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err))
}

func TestOAuthClientsAndRevocationsAreLoadedAfterRestart(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	require.NoError(t, f.RevokeOAuth(t.Context(), f.client, "token_1", time.Now().Add(-time.Second)))
	cache := oauth.NewClientCache()
	restarted := f.open(cache)
	_, err := restarted.FindClient(t.Context(), f.client.ID)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "workspaces are loading")
	require.NoError(t, cache.Load(t.Context(), f.store, "ws_1"))
	cache.SetLoaded()
	for _, s := range []*oauth.Service{f.Service, restarted} {
		c, err := s.FindClient(t.Context(), f.client.ID)
		require.NoError(t, err)
		assert.True(t, s.IsClientSecret(c, f.secret))
		assert.False(t, s.IsClientSecret(c, f.secret+"x"))
		assert.False(t, s.IsClientSecret(nil, f.secret))
		rights, refused := f.checkToken(t, s, "", "token_0")
		assert.Empty(t, refused)
		assert.Equal(t, []domain.Permission{domain.CallsRead}, rights, "within the scopes of the client")
		_, refused = f.checkToken(t, s, "", "token_1")
		assert.Equal(t, domain.CodeExpiredToken, refused)
	}
	require.NoError(t, f.SweepOAuth(t.Context(), "ws_1", time.Now()))
	_, refused := f.checkToken(t, f.Service, "", "token_1")
	assert.Empty(t, refused, "the sweep deletes the revocation after the token has expired")
}

func TestOAuthClientRequiresPlanAndWorkspace(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	_, _, err := f.CreateClient(t.Context(), recordtest.Live("ws_1"), &domain.OAuthClient{AllowedIPs: []string{"0.0.0.0/0"}})
	assert.Equal(t, "allowed_ips", recordtest.ErrorField(err))
	for _, other := range []domain.Principal{recordtest.Live("ws_2"), {WorkspaceID: "ws_1", Environment: domain.Test}} {
		_, err = f.OAuthClient(t.Context(), other, f.client.ID)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(f.DeleteClient(t.Context(), other, f.client.ID)))
	}
	f.workspaces["ws_1"].Plan = domain.Professional
	_, refused := f.checkToken(t, f.Service, "", "")
	assert.Equal(t, domain.CodePlanRequired, refused)
	f.workspaces["ws_1"].Plan = domain.Enterprise

	f.store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(f.DeleteClient(t.Context(), recordtest.Live("ws_1"), f.client.ID)))
	_, refused = f.checkToken(t, f.Service, "", "")
	assert.Empty(t, refused, "the client was not deleted")
	f.store.BeforeApply = nil
	require.NoError(t, f.DeleteClient(t.Context(), recordtest.Live("ws_1"), f.client.ID))
	_, refused = f.checkToken(t, f.Service, "", "")
	assert.Equal(t, domain.CodeExpiredToken, refused)
}
