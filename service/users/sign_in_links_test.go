package users_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
	"github.com/callboard/callboard/service/users"
)

// credentials is a fake for restrictions and API keys. It limits only the networks of sign-in links. ended holds
// the ids of keys that were revoked or have expired.
type credentials struct {
	networks [][]string
	ended    map[string]bool
}

func (*credentials) LimitAllowedIPs(_ domain.Principal, list []string) ([]string, error) {
	return list, nil
}
func (c *credentials) AllowedNetworks(domain.Principal) [][]string   { return c.networks }
func (c *credentials) CreatorEnded(by *domain.Creator) (bool, error) { return c.ended[by.KeyID()], nil }

type fixture struct {
	*users.Service

	store       *pebbletest.Store
	credentials *credentials
	by          domain.Principal
	user        *domain.User
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: pebbletest.OpenStore(t), credentials: &credentials{ended: make(map[string]bool)}, by: recordtest.Live(recordtest.Workspace)}
	f.by.KeyID = "key_1"
	f.Service = users.New(users.Config{Store: f.store, Cache: users.NewUserCache(), Restrictions: f.credentials, Keys: f.credentials, Pepper: []byte("pepper")})
	var err error
	f.user, err = f.CreateUser(t.Context(), f.by, &domain.User{Name: "Ada", Role: domain.RoleAgent, AllowedIPs: []string{"192.0.2.0/24"}})
	require.NoError(t, err)
	return f
}

func anyUser(*domain.User) error { return nil }

var (
	inside  = netip.MustParseAddr("192.0.2.7")
	outside = netip.MustParseAddr("198.51.100.1")
)

func (f *fixture) link(t *testing.T) string {
	t.Helper()
	text, _, err := f.CreateSignInLink(t.Context(), f.by, f.user.ID, anyUser)
	require.NoError(t, err)
	return text
}

func (f *fixture) signIn(t *testing.T) (cookie string) {
	t.Helper()
	cookie, _, err := f.SignIn(t.Context(), f.link(t), inside, "browser")
	require.NoError(t, err)
	return cookie
}

func (f *fixture) session(t *testing.T, cookie string, from netip.Addr) (*domain.Session, domain.Code) {
	t.Helper()
	_, s, err := f.AuthenticateSession(t.Context(), cookie, from, false)
	return s, domain.CodeOf(err)
}

func TestSignInLinkIsValidOnce(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	link := f.link(t)
	signIn := func(link string, from netip.Addr) domain.Code {
		_, _, err := f.SignIn(t.Context(), link, from, "browser")
		return domain.CodeOf(err)
	}
	assert.Equal(t, domain.CodeIPNotAllowed, signIn(link, outside))
	assert.Empty(t, signIn(link, inside))
	assert.Equal(t, domain.CodeInvalidLink, signIn(link, inside))
	assert.Equal(t, domain.CodeInvalidLink, signIn("nonsense", inside))
	link = f.link(t)
	f.credentials.ended["key_1"] = true
	assert.Equal(t, domain.CodeExpiredLink, signIn(link, inside), "the key that created the link was revoked")
	f.credentials.ended["key_1"] = false
	require.NoError(t, f.DeleteUser(t.Context(), f.by, f.user.ID, anyUser))
	assert.Equal(t, domain.CodeExpiredLink, signIn(link, inside))
}

func TestSignInLinkRequiresUserWithinAllowedIPsOfKey(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.credentials.networks = [][]string{{"192.0.2.0/28"}}
	_, _, err := f.CreateSignInLink(t.Context(), f.by, f.user.ID, anyUser)
	assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(err))
	refused := domain.Errorf(domain.CodeOperatorRequired, "no")
	_, _, err = f.CreateSignInLink(t.Context(), f.by, f.user.ID, func(*domain.User) error { return refused })
	assert.ErrorIs(t, err, refused)
}

func TestSessionEndsWithUserOrSignInKey(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	cookie := f.signIn(t)
	s, code := f.session(t, cookie, inside)
	require.Empty(t, code)
	assert.Equal(t, []any{f.user.ID, "key_1"}, []any{s.UserID, s.CreatedBy.KeyID()})
	_, code = f.session(t, cookie, outside)
	assert.Equal(t, domain.CodeIPNotAllowed, code)
	_, code = f.session(t, cookie+"x", inside)
	assert.Equal(t, domain.CodeAuthenticationRequired, code)
	f.credentials.ended["key_1"] = true
	_, code = f.session(t, cookie, inside)
	assert.Equal(t, domain.CodeAuthenticationRequired, code)
	f.credentials.ended["key_1"] = false

	other, err := f.CreateUser(t.Context(), f.by, &domain.User{Name: "Bo", Role: domain.RoleAgent})
	require.NoError(t, err)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(f.EndSession(t.Context(), f.by, other.ID, s.ID, anyUser)), "the session belongs to another user")
	require.NoError(t, f.EndSession(t.Context(), f.by, f.user.ID, s.ID, anyUser))
	_, code = f.session(t, cookie, inside)
	assert.Equal(t, domain.CodeAuthenticationRequired, code)
	cookie = f.signIn(t)
	require.NoError(t, f.DeleteUser(t.Context(), f.by, f.user.ID, anyUser))
	_, code = f.session(t, cookie, inside)
	assert.Equal(t, domain.CodeAuthenticationRequired, code)
}

func TestLastUseOfSessionIsStoredInBackground(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	cookie := f.signIn(t)
	s, _ := f.session(t, cookie, inside)
	s.SeenAt = s.SeenAt.Add(-time.Hour)
	_, err := f.store.Apply(t.Context(), commit.Change{Workspace: recordtest.Workspace, Puts: []domain.Record{s}})
	require.NoError(t, err)
	saved, goOn := make(chan struct{}), make(chan struct{})
	f.store.BeforeApply = func(commit.Change) error { saved <- struct{}{}; <-goOn; return errors.New("the disk is full") }
	_, code := f.session(t, cookie, inside)
	assert.Empty(t, code, "the request does not wait for the store")
	<-saved
	close(goOn)
}

func TestUserOfAnotherWorkspaceIsNotFound(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	other := recordtest.Live(recordtest.OtherWorkspace)
	_, err := f.User(t.Context(), other, f.user.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = f.UpdateUser(t.Context(), other, f.user.ID, func(*domain.User) error { return nil })
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	_, err = f.ListSessions(t.Context(), other, f.user.ID, record.PageQuery{Limit: 10})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(f.DeleteUser(t.Context(), other, f.user.ID, anyUser)))
	_, _, err = f.CreateSignInLink(t.Context(), other, f.user.ID, anyUser)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}
