package keys_test

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

// fakeUsers is a fake that maps user ids to users. It has no OAuth clients.
type fakeUsers map[string]*domain.User

func (u fakeUsers) User(id string) *domain.User              { return u[id] }
func (fakeUsers) Client(string) (*domain.OAuthClient, error) { return nil, nil }

// fixture is a service with one valid key that has no parent.
type fixture struct {
	*keys.Service

	store   *pebbletest.Store
	keyring *keys.Keyring
	users   fakeUsers
	root    domain.Principal
	text    string   // text of the key of root
	deleted []string // ids of the resources that were deleted with a key
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: pebbletest.OpenStore(t), users: make(fakeUsers)}
	f.keyring = newKeyring(f.store)
	f.Service = keys.New(keys.Config{
		Store: f.store, Keyring: f.keyring, Restrictions: keys.NewRestrictionRules(f.keyring, f.users, f.users),
		DeleteUser: func(_ context.Context, _ domain.Principal, id string, may func(*domain.User) error) error {
			if err := may(f.users[id]); err != nil {
				return err
			}
			f.deleted = append(f.deleted, id)
			return nil
		},
		Deleters: map[string]func(context.Context, domain.Principal, string) error{"webhook": func(_ context.Context, _ domain.Principal, id string) error {
			f.deleted = append(f.deleted, id)
			return nil
		}},
	})
	f.root, f.text = f.create(t, recordtest.Live("ws_1"), &domain.APIKey{})
	return f
}

func newKeyring(store commit.Store) *keys.Keyring {
	return keys.NewKeyring(store, bytes.Repeat([]byte{7}, 32))
}

// create creates a key and returns its principal and its text.
func (f *fixture) create(t *testing.T, by domain.Principal, k *domain.APIKey) (domain.Principal, string) {
	t.Helper()
	k, text, err := f.CreateKey(t.Context(), by, record.AuditAction{}, k)
	require.NoError(t, err)
	return domain.Principal{KeyID: k.ID, WorkspaceID: k.WorkspaceID, Environment: k.Environment}, text
}

// code authenticates with a key text from an address. It returns the error code, or "" if the key is valid.
func (f *fixture) code(t *testing.T, text, from string) domain.Code {
	t.Helper()
	_, err := f.Authenticate(t.Context(), text, netip.MustParseAddr(from))
	return domain.CodeOf(err)
}

func (f *fixture) update(t *testing.T, id string, change func(*domain.APIKey)) {
	t.Helper()
	_, err := f.UpdateKey(t.Context(), recordtest.Live("ws_1"), id, func(k *domain.APIKey) error { change(k); return nil })
	require.NoError(t, err)
}

func TestAPIKeyIsValidUntilExpiryFromAllowedIPs(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	p, text := f.create(t, f.root, &domain.APIKey{AllowedIPs: []string{"192.0.2.0/24"}, Permissions: []domain.Permission{domain.CallsRead}})
	for range 2 { // without and with the cache of texts
		got, err := f.Authenticate(t.Context(), text, netip.MustParseAddr("192.0.2.7"))
		require.NoError(t, err)
		assert.Equal(t, domain.Principal{KeyID: p.KeyID, WorkspaceID: "ws_1", Environment: domain.Live, Permissions: []domain.Permission{domain.CallsRead}}, got)
	}
	assert.Equal(t, domain.CodeIPNotAllowed, f.code(t, text, "198.51.100.1"))
	assert.Equal(t, domain.CodeInvalidAPIKey, f.code(t, text[:len(text)-1]+"!", "192.0.2.7"))
	past := time.Now().Add(-time.Second)
	f.update(t, p.KeyID, func(k *domain.APIKey) { k.ExpiresAt = &past })
	assert.Equal(t, domain.CodeExpiredAPIKey, f.code(t, text, "192.0.2.7"))
	f.keyring.DeleteWorkspace("ws_1")
	assert.Equal(t, domain.CodeInvalidAPIKey, f.code(t, f.text, "192.0.2.7"))
}

func TestUnknownAPIKeyIsUnavailableWhileKeysAreLoading(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	keyring := newKeyring(f.store)
	keyring.SetLoading(true)
	here := netip.MustParseAddr("192.0.2.7")
	_, err := keyring.Authenticate(t.Context(), f.text, here)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	require.NoError(t, keyring.Load(t.Context(), "ws_1"))
	keyring.SetLoading(false)
	_, err = keyring.Authenticate(t.Context(), f.text, here)
	require.NoError(t, err)
}

func TestRevokedAPIKeyRevokesChildKeys(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	child, childText := f.create(t, f.root, &domain.APIKey{})
	_, below := f.create(t, child, &domain.APIKey{})
	_, other := f.create(t, recordtest.Live("ws_1"), &domain.APIKey{})

	f.store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	_, err := f.RevokeKey(t.Context(), recordtest.Live("ws_1"), record.AuditAction{}, f.root.KeyID, keys.RevokeRequest{})
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	assert.Empty(t, f.code(t, below, "192.0.2.7"), "a failed commit revokes no key")
	f.store.BeforeApply = nil
	_, err = f.RevokeKey(t.Context(), recordtest.Live("ws_1"), record.AuditAction{}, f.root.KeyID, keys.RevokeRequest{})
	require.NoError(t, err)
	for _, text := range []string{f.text, childText, below} {
		assert.Equal(t, domain.CodeExpiredAPIKey, f.code(t, text, "192.0.2.7"))
	}
	assert.Empty(t, f.code(t, other, "192.0.2.7"))
	assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(f.CheckKeyIsValid(t.Context(), "ws_1", child.KeyID)))
	ended, err := f.keyring.CreatorEnded(child.Creator())
	require.NoError(t, err)
	assert.True(t, ended)
}

func TestRevokeKeyListsOrDeletesCreatedResources(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	meta := func(prefix domain.Prefix, object string) domain.Meta {
		return domain.Meta{ID: record.RequestResourceID(t.Context(), prefix), Object: object, WorkspaceID: "ws_1", Environment: domain.Live}
	}
	user := &domain.User{Meta: meta(domain.PrefixUser, "user"), Provenance: domain.Provenance{CreatedBy: f.root.Creator()}}
	hook := &domain.Webhook{Meta: meta(domain.PrefixWebhook, "webhook"), Provenance: domain.Provenance{CreatedBy: &domain.Creator{Type: domain.CreatorUser, ID: user.ID}}}
	tool := &domain.Tool{Meta: meta(domain.PrefixTool, "tool"), Provenance: domain.Provenance{CreatedBy: f.root.Creator()}}
	other := &domain.Webhook{Meta: meta(domain.PrefixWebhook, "webhook")}
	for _, r := range []domain.Record{user, hook, tool, other} {
		require.NoError(t, record.Create(t.Context(), f.store, r))
	}
	f.users[user.ID] = user
	ref := func(m domain.Meta) domain.ResourceRef { return domain.ResourceRef{ID: m.ID, Object: m.Object} }
	revoke := func(r keys.RevokeRequest) keys.RevokeResult {
		done, err := f.RevokeKey(t.Context(), recordtest.Live("ws_1"), record.AuditAction{}, f.root.KeyID, r)
		require.NoError(t, err)
		return done
	}
	done := revoke(keys.RevokeRequest{})
	assert.ElementsMatch(t, []domain.ResourceRef{ref(user.Meta), ref(hook.Meta), ref(tool.Meta)}, done.Remaining)
	assert.Empty(t, done.Ended)
	assert.Empty(t, f.deleted)

	done = revoke(keys.RevokeRequest{Cascade: true, MayEnd: func(*domain.User) error { return domain.Errorf(domain.CodeOperatorRequired, "no") }})
	assert.Equal(t, []string{hook.ID}, f.deleted, "the caller may not delete the user, and calls may need the tool")
	assert.Equal(t, []domain.ResourceRef{ref(hook.Meta)}, done.Ended)
	assert.ElementsMatch(t, []domain.ResourceRef{ref(user.Meta), ref(tool.Meta)}, done.Remaining)
	revoke(keys.RevokeRequest{Cascade: true, MayEnd: func(*domain.User) error { return nil }})
	assert.Equal(t, user.ID, f.deleted[len(f.deleted)-1])
}

func TestChildKeyIsLimitedByParent(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	parent, _ := f.create(t, f.root, &domain.APIKey{AllowedIPs: []string{"192.0.2.0/24"}, ExpiresAt: &end})
	late := end.Add(time.Second)
	for param, k := range map[string]*domain.APIKey{"allowed_ips": {AllowedIPs: []string{"198.51.100.1"}}, "expires_at": {ExpiresAt: &late}} {
		_, _, err := f.CreateKey(t.Context(), parent, record.AuditAction{}, k)
		assert.Equal(t, param, recordtest.ErrorField(err))
	}
	child, text := f.create(t, parent, &domain.APIKey{})
	k, err := f.APIKey(t.Context(), f.root, child.KeyID)
	require.NoError(t, err)
	assert.Equal(t, []any{[]string{"192.0.2.0/24"}, &end}, []any{k.AllowedIPs, k.ExpiresAt})
	_, err = f.UpdateKey(t.Context(), f.root, child.KeyID, func(k *domain.APIKey) error { k.AllowedIPs = []string{}; return nil })
	assert.Equal(t, "allowed_ips", recordtest.ErrorField(err))

	f.update(t, parent.KeyID, func(k *domain.APIKey) { k.AllowedIPs = []string{"192.0.2.1"} })
	assert.Equal(t, domain.CodeIPNotAllowed, f.code(t, text, "192.0.2.7"), "the addresses of the parent apply at once")
	soon := end.Add(-time.Minute)
	f.update(t, parent.KeyID, func(k *domain.APIKey) { k.ExpiresAt = &soon })
	below, _ := f.create(t, child, &domain.APIKey{})
	k, err = f.APIKey(t.Context(), f.root, below.KeyID)
	require.NoError(t, err)
	assert.Equal(t, &soon, k.ExpiresAt, "the earliest expiry of all parents")
	f.update(t, parent.KeyID, func(k *domain.APIKey) { k.ExpiresAt = &end })

	f.update(t, child.KeyID, func(k *domain.APIKey) { k.ParentID = "" })
	assert.Empty(t, f.code(t, text, "192.0.2.7"), "a detached key has no parent")
	k, err = f.APIKey(t.Context(), f.root, child.KeyID)
	require.NoError(t, err)
	assert.Nil(t, k.ExpiresAt, "the inherited expiry is removed")
}

func TestUserRestrictionsApplyToCreatedResources(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.users["user_1"] = &domain.User{AllowedIPs: []string{"192.0.2.0/24"}}
	rules := keys.NewRestrictionRules(f.keyring, f.users, f.users)
	p := domain.Principal{UserID: "user_1", WorkspaceID: "ws_1"}
	list, err := rules.LimitAllowedIPs(p, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"192.0.2.0/24"}, list)
	narrow, _ := f.create(t, f.root, &domain.APIKey{AllowedIPs: []string{"192.0.2.8/29"}})
	p.SignInKeyID = narrow.KeyID
	list, err = rules.LimitAllowedIPs(p, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"192.0.2.8/29"}, list, "the list that lies within the other one")
	_, err = rules.LimitAllowedIPs(p, []string{"192.0.2.1"})
	assert.Equal(t, "allowed_ips", recordtest.ErrorField(err))
}

func TestListKeysHidesOtherWorkspacesAndLiveKeys(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	test, _ := f.create(t, f.root, &domain.APIKey{Meta: domain.Meta{Environment: domain.Test}})
	hidden := func(p domain.Principal, id string) {
		_, err := f.APIKey(t.Context(), p, id)
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		_, err = f.UpdateKey(t.Context(), p, id, func(*domain.APIKey) error { return nil })
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
		_, err = f.RevokeKey(t.Context(), p, record.AuditAction{}, id, keys.RevokeRequest{})
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	}
	hidden(recordtest.Live("ws_2"), f.root.KeyID)
	hidden(test, f.root.KeyID)
	_, err := f.APIKey(t.Context(), f.root, test.KeyID)
	require.NoError(t, err)
	assert.Empty(t, f.code(t, f.text, "192.0.2.7"))
}
