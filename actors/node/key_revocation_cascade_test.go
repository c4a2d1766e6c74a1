package node_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
)

// createKey creates an API key with all rights. It returns a principal with these rights, the key and its secret text.
func (h *fixture) createKey(by domain.Principal, edit func(*domain.APIKey)) (domain.Principal, *domain.APIKey, string) {
	h.Helper()
	k := &domain.APIKey{Meta: domain.Meta{Environment: by.Environment}, Name: "k", Permissions: []domain.Permission{domain.AllRead, domain.AllWrite}}
	if edit != nil {
		edit(k)
	}
	created, text, err := h.services().Keys.CreateKey(h.Context(), by, record.AuditAction{}, k)
	require.NoError(h, err)
	p := domain.Principal{KeyID: created.ID, WorkspaceID: created.WorkspaceID, Environment: created.Environment, Permissions: created.Permissions}
	return p, created, text
}

// createRightsHolders creates an OAuth client, a user, a webhook and a phone. It checks that each names p as its
// creator.
func (h *fixture) createRightsHolders(p domain.Principal, extension string) (all []domain.ResourceRef) {
	h.Helper()
	ctx, d := h.Context(), h.services()
	c, _, err := d.OAuth.CreateClient(ctx, p, &domain.OAuthClient{Name: "c", Scopes: p.Permissions, GrantTypes: []domain.GrantType{domain.GrantCredentials}})
	require.NoError(h, err)
	u, err := d.Users.CreateUser(ctx, p, &domain.User{Name: "u", Role: domain.RoleAdmin})
	require.NoError(h, err)
	w, err := d.Webhooks.CreateWebhook(ctx, p, &domain.Webhook{URL: h.receiver.url, Events: []string{"*"}})
	require.NoError(h, err)
	x, err := d.Phones.CreatePhone(ctx, p, &domain.Phone{Extension: extension, Username: "phone" + extension})
	require.NoError(h, err)
	for _, m := range []struct {
		meta *domain.Meta
		by   *domain.Creator
	}{{&c.Meta, c.CreatedBy}, {&u.Meta, u.CreatedBy}, {&w.Meta, w.CreatedBy}, {&x.Meta, x.CreatedBy}} {
		assert.Equal(h, p.Creator(), m.by, m.meta.Object)
		all = append(all, domain.ResourceRef{ID: m.meta.ID, Object: m.meta.Object})
	}
	return all
}

func TestRevokedKeyListsOrEndsWhatItCreated(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	root, rootKey, _ := h.createKey(h.live, nil)
	child, childKey, childText := h.createKey(root, nil)
	assert.Equal(t, &domain.Creator{Type: domain.CreatorOperator, ID: h.live.KeyID}, rootKey.CreatedBy)
	assert.Equal(t, &domain.Creator{Type: domain.CreatorAPIKey, ID: root.KeyID}, childKey.CreatedBy)
	created := h.createRightsHolders(root, "2001")
	below := h.createRightsHolders(child, "2002")
	user := domain.Principal{UserID: below[1].ID, WorkspaceID: root.WorkspaceID, Environment: domain.Live, Permissions: root.Permissions, UsesSession: true}
	_, byUser, userText := h.createKey(user, nil)
	assert.Equal(t, &domain.Creator{Type: domain.CreatorUser, ID: below[1].ID}, byUser.CreatedBy)
	all := append(append(created, below...), domain.ResourceRef{ID: byUser.ID, Object: "api_key"})
	other := h.createRightsHolders(h.live, "2003")

	done, err := d.Keys.RevokeKey(ctx, h.live, record.AuditAction{}, root.KeyID, keys.RevokeRequest{})
	require.NoError(t, err)
	assert.ElementsMatch(t, all, done.Remaining)
	assert.Empty(t, done.Ended)
	_, err = d.Keys.Authenticate(ctx, childText, here)
	assert.Equal(t, domain.CodeExpiredAPIKey, domain.CodeOf(err), "child keys end in any case")
	_, err = d.Keys.Authenticate(ctx, userText, here)
	require.NoError(t, err)

	refuse := func(u *domain.User) error {
		if u.ID == created[1].ID {
			return domain.Errorf(domain.CodeOperatorRequired, "no")
		}
		return nil
	}
	done, err = d.Keys.RevokeKey(ctx, h.live, record.AuditAction{}, root.KeyID, keys.RevokeRequest{Cascade: true, MayEnd: refuse})
	require.NoError(t, err)
	assert.Equal(t, created[1:2], done.Remaining, "the user whom the caller may not delete")
	assert.Len(t, done.Ended, len(all)-1)
	_, err = d.Keys.Authenticate(ctx, userText, here)
	assert.Equal(t, domain.CodeExpiredAPIKey, domain.CodeOf(err))
	for i, get := range []func(domain.Principal, string) error{
		func(p domain.Principal, id string) error { return errorOf(d.OAuth.OAuthClient(ctx, p, id)) },
		func(p domain.Principal, id string) error { return errorOf(d.Users.User(ctx, p, id)) },
		func(p domain.Principal, id string) error { return errorOf(d.Webhooks.Webhook(ctx, p, id)) },
		func(p domain.Principal, id string) error { return errorOf(d.Phones.Phone(ctx, p, id)) },
	} {
		assert.Equal(t, domain.CodeNotFound, domain.CodeOf(get(h.live, below[i].ID)), below[i].Object)
		require.NoError(t, get(h.live, other[i].ID), other[i].Object)
	}
	rows, err := d.Audit.ListAudit(ctx, h.live, audit.Query{Action: "webhook.deleted", PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	assert.Len(t, rows.Data, 2, "each end is in the audit log")
}

func TestExpiredKeyCanBeRevokedWithWhatItCreated(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	past := time.Now().Add(-time.Second)
	p, key, _ := h.createKey(h.live, nil)
	created := h.createRightsHolders(p, "2001")
	_, err := h.services().Keys.UpdateKey(t.Context(), h.live, key.ID, func(k *domain.APIKey) error { k.ExpiresAt = &past; return nil })
	require.NoError(t, err)
	done, err := h.services().Keys.RevokeKey(t.Context(), h.live, record.AuditAction{}, key.ID, keys.RevokeRequest{Cascade: true})
	require.NoError(t, err)
	assert.ElementsMatch(t, created, done.Ended)
}

func TestSignInOfARevokedKeyEnds(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	c, u := h.createClientAndUser(domain.RoleAdmin)
	p, key, _ := h.createKey(h.live, nil)
	link := func() string {
		text, _, err := d.Users.CreateSignInLink(ctx, p, u.ID, allowAnyUser)
		require.NoError(t, err)
		return text
	}
	unused := link()
	cookie, _, err := d.Users.SignIn(ctx, link(), here, "browser")
	require.NoError(t, err)
	_, session, err := d.Users.AuthenticateSession(ctx, cookie, here, true)
	require.NoError(t, err)
	code, err := d.OAuth.IssueCode(ctx, &domain.OAuthCode{
		Meta: domain.Meta{WorkspaceID: c.WorkspaceID, Environment: c.Environment}, Provenance: session.Provenance, ClientID: c.ID, UserID: u.ID,
		RedirectURI: c.RedirectURIs[0], Scopes: []domain.Permission{domain.CallsRead},
	})
	require.NoError(t, err)
	granted, err := d.OAuth.RedeemCode(ctx, c, code, c.RedirectURIs[0], "")
	require.NoError(t, err)
	assert.Equal(t, key.ID, granted.SignInKeyID, "access tokens end with the key")

	require.NoError(t, errorOf(d.Keys.RevokeKey(ctx, h.live, record.AuditAction{}, key.ID, keys.RevokeRequest{})))
	_, _, err = d.Users.SignIn(ctx, unused, here, "browser")
	assert.Equal(t, domain.CodeExpiredLink, domain.CodeOf(err))
	_, _, err = d.Users.AuthenticateSession(ctx, cookie, here, true)
	assert.Equal(t, domain.CodeAuthenticationRequired, domain.CodeOf(err))
	_, err = d.OAuth.RenewGrant(ctx, c, granted.Refresh, "")
	assert.Equal(t, domain.OAuthInvalidGrant, domain.CodeOf(err))
}

// signIn signs a user in with a sign-in link that the principal by creates. It returns the cookie and the principal
// of the session.
func (h *fixture) signIn(by domain.Principal, u *domain.User, from netip.Addr) (string, domain.Principal) {
	h.Helper()
	link, _, err := h.services().Users.CreateSignInLink(h.Context(), by, u.ID, allowAnyUser)
	require.NoError(h, err)
	cookie, _, err := h.services().Users.SignIn(h.Context(), link, from, "browser")
	require.NoError(h, err)
	_, s, err := h.services().Users.AuthenticateSession(h.Context(), cookie, from, true)
	require.NoError(h, err)
	return cookie, domain.Principal{
		UserID: u.ID, WorkspaceID: u.WorkspaceID, Environment: u.Environment, Permissions: by.Permissions, UsesSession: true, SignInKeyID: s.CreatedBy.KeyID(),
	}
}

func TestResourcesOfASessionEndWithTheKeyOfItsSignInLink(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	_, u := h.createClientAndUser(domain.RoleAdmin) // the user exists before the key, so the key is not its creator
	other, err := d.Users.CreateUser(ctx, h.live, &domain.User{Name: "Grace", Role: domain.RoleAdmin})
	require.NoError(t, err)
	p, key, _ := h.createKey(h.live, nil)
	_, session := h.signIn(p, u, here)
	assert.Equal(t, key.ID, session.SignInKeyID)
	created := h.createRightsHolders(session, "2001")
	_, child, childText := h.createKey(session, nil)
	assert.Equal(t, key.ID, child.ParentID)
	assert.Equal(t, &domain.Creator{Type: domain.CreatorUser, ID: u.ID, SignInKeyID: key.ID}, child.CreatedBy)
	link, _, err := d.Users.CreateSignInLink(ctx, session, other.ID, allowAnyUser)
	require.NoError(t, err)
	cookie, second := h.signIn(session, other, here)
	assert.Equal(t, key.ID, second.SignInKeyID)
	created = append(created, h.createRightsHolders(second, "2002")...)
	_, adopted, adoptedText := h.createKey(session, nil)
	_, err = d.Keys.UpdateKey(ctx, h.live, adopted.ID, func(k *domain.APIKey) error { k.ParentID = ""; return nil })
	require.NoError(t, err)

	done, err := d.Keys.RevokeKey(ctx, h.live, record.AuditAction{}, key.ID, keys.RevokeRequest{})
	require.NoError(t, err)
	assert.ElementsMatch(t, created, done.Remaining)
	_, err = d.Keys.Authenticate(ctx, childText, here)
	assert.Equal(t, domain.CodeExpiredAPIKey, domain.CodeOf(err))
	_, err = d.Keys.Authenticate(ctx, adoptedText, here)
	require.NoError(t, err)
	_, _, err = d.Users.SignIn(ctx, link, here, "browser")
	assert.Equal(t, domain.CodeExpiredLink, domain.CodeOf(err))
	_, _, err = d.Users.AuthenticateSession(ctx, cookie, here, true)
	assert.Equal(t, domain.CodeAuthenticationRequired, domain.CodeOf(err))
	done, err = d.Keys.RevokeKey(ctx, h.live, record.AuditAction{}, key.ID, keys.RevokeRequest{Cascade: true})
	require.NoError(t, err)
	assert.ElementsMatch(t, created, done.Ended)
	assert.Empty(t, done.Remaining)
	_, err = d.Users.User(ctx, h.live, u.ID)
	require.NoError(t, err, "the user existed before")
}

func TestSessionIsWithinTheKeyOfItsSignInLink(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	p, key, _ := h.createKey(h.live, func(k *domain.APIKey) { k.AllowedIPs, k.ExpiresAt = []string{"192.0.2.0/24"}, &end })
	u, err := d.Users.CreateUser(ctx, h.live, &domain.User{Name: "Ada", Role: domain.RoleAdmin, AllowedIPs: []string{"192.0.2.0/25"}})
	require.NoError(t, err)
	_, session := h.signIn(p, u, netip.MustParseAddr("192.0.2.7"))
	_, child, _ := h.createKey(session, nil)
	assert.Equal(t, []any{u.AllowedIPs, &end}, []any{child.AllowedIPs, child.ExpiresAt})
	created, err := d.Users.CreateUser(ctx, session, &domain.User{Name: "u", Role: domain.RoleViewer})
	require.NoError(t, err)
	assert.Equal(t, u.AllowedIPs, created.AllowedIPs)

	_, err = d.Users.UpdateUser(ctx, h.live, u.ID, func(u *domain.User) error { u.AllowedIPs = []string{}; return nil }) // by a principal with the permission
	require.NoError(t, err)
	_, child, _ = h.createKey(session, nil)
	assert.Equal(t, key.AllowedIPs, child.AllowedIPs)
	late := end.Add(time.Second)
	for name, k := range map[string]*domain.APIKey{"addresses": {AllowedIPs: []string{"198.51.100.1"}}, "expiry": {ExpiresAt: &late}} {
		k.Name, k.Permissions = "k", []domain.Permission{domain.AllRead}
		assert.Equal(t, domain.CodeValidation, domain.CodeOf(errorOf2(d.Keys.CreateKey(ctx, session, record.AuditAction{}, k))), name)
	}
	_, anywhere := h.createClientAndUser(domain.RoleAdmin)
	assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(errorOf2(d.Users.CreateSignInLink(ctx, session, anywhere.ID, allowAnyUser))))
}

func TestChildKeyStaysWithinItsParentsAddressesAndExpiry(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	parent, parentKey, _ := h.createKey(h.live, func(k *domain.APIKey) { k.AllowedIPs, k.ExpiresAt = []string{"192.0.2.0/24"}, &end })
	inside, outside := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("198.51.100.1")
	param := func(err error) string {
		var e *domain.Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Details)
		return e.Details[0].Param
	}
	create := func(edit func(*domain.APIKey)) error {
		k := &domain.APIKey{Name: "k", Permissions: []domain.Permission{domain.AllRead}}
		edit(k)
		return errorOf2(d.Keys.CreateKey(ctx, parent, record.AuditAction{}, k))
	}
	for name, list := range map[string][]string{"none": {}, "wider": {"192.0.0.0/16"}, "another": {"198.51.100.1"}, "one of two": {"192.0.2.1", "198.51.100.1"}} {
		assert.Equal(t, "allowed_ips", param(create(func(k *domain.APIKey) { k.AllowedIPs = list })), name)
		_, err := d.Users.CreateUser(ctx, parent, &domain.User{Name: "u", Role: domain.RoleViewer, AllowedIPs: list})
		assert.Equal(t, "allowed_ips", param(err), name)
		_, _, err = d.OAuth.CreateClient(ctx, parent, &domain.OAuthClient{Name: "c", Scopes: parent.Permissions, AllowedIPs: list})
		assert.Equal(t, "allowed_ips", param(err), name)
		_, err = d.Keys.UpdateKey(ctx, parent, parent.KeyID, func(k *domain.APIKey) error { k.AllowedIPs = list; return nil })
		assert.Equal(t, "allowed_ips", param(err), name)
	}
	late := end.Add(time.Second)
	assert.Equal(t, "expires_at", param(create(func(k *domain.APIKey) { k.ExpiresAt = &late })))

	_, key, text := h.createKey(parent, nil)
	assert.Equal(t, parentKey.AllowedIPs, key.AllowedIPs)
	assert.Equal(t, parentKey.ExpiresAt, key.ExpiresAt)
	user, err := d.Users.CreateUser(ctx, parent, &domain.User{Name: "u", Role: domain.RoleViewer})
	require.NoError(t, err)
	assert.Equal(t, parentKey.AllowedIPs, user.AllowedIPs)
	user, err = d.Users.UpdateUser(ctx, parent, user.ID, func(u *domain.User) error { u.AllowedIPs = nil; return nil })
	require.NoError(t, err, "null is the default: the addresses of the key")
	assert.Equal(t, parentKey.AllowedIPs, user.AllowedIPs)
	require.NoError(t, errorOf2(d.Users.CreateSignInLink(ctx, parent, user.ID, allowAnyUser)))
	_, anywhere := h.createClientAndUser(domain.RoleAdmin)
	assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(errorOf2(d.Users.CreateSignInLink(ctx, parent, anywhere.ID, allowAnyUser))))

	code := func(from netip.Addr) domain.Code { return domain.CodeOf(errorOf(d.Keys.Authenticate(ctx, text, from))) }
	assert.Empty(t, code(inside))
	assert.Equal(t, domain.CodeIPNotAllowed, code(outside))
	_, err = d.Keys.UpdateKey(ctx, h.live, key.ID, func(k *domain.APIKey) error { k.AllowedIPs = []string{}; return nil })
	assert.Equal(t, "allowed_ips", param(err), "a child key cannot exceed its parent")
	_, err = d.Keys.UpdateKey(ctx, h.live, parent.KeyID, func(k *domain.APIKey) error { k.AllowedIPs = []string{"192.0.2.1"}; return nil })
	require.NoError(t, err)
	assert.Equal(t, domain.CodeIPNotAllowed, code(inside), "restricting a parent restricts its children")

	adopted, err := d.Keys.UpdateKey(ctx, h.live, key.ID, func(k *domain.APIKey) error { k.ParentID = ""; return nil })
	require.NoError(t, err)
	assert.Nil(t, adopted.ExpiresAt, "an adopted key outlives its former parent")
}

func errorOf2[A, B any](_ A, _ B, err error) error { return err }

func TestSlowKeyChangeDoesNotDelayOtherWorkspaces(t *testing.T) {
	h, m := buildWithStoreFaults(t)
	other := h.createOtherWorkspace()
	began, goOn := make(chan struct{}), make(chan struct{})
	m.inject(func(c commit.Change, do func() error) error {
		if c.Workspace == h.live.WorkspaceID && hasPut(c, "api_key") {
			close(began)
			<-goOn
		}
		return do()
	}, nil)
	slow := make(chan error, 1)
	go func() {
		slow <- errorOf2(h.services().Keys.CreateKey(t.Context(), h.live, record.AuditAction{}, &domain.APIKey{Name: "slow", Permissions: h.live.Permissions}))
	}()
	<-began
	quick := make(chan error, 1)
	go func() {
		quick <- errorOf2(h.services().Keys.CreateKey(t.Context(), other, record.AuditAction{}, &domain.APIKey{Name: "quick", Permissions: h.live.Permissions}))
	}()
	select {
	case err := <-quick:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Error("a key of another workspace waits for a slow commit")
	}
	close(goOn)
	require.NoError(t, <-slow)
}

func TestFailedLoginsWithUnknownCredentialsAreInTheOperatorAuditLog(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	fail := func(from string) {
		h.services().Audit.RecordSoon(t.Context(), domain.Principal{}, record.AuditAction{Type: "auth", Action: "auth.failed", IP: netip.MustParseAddr(from), Failed: true, Reason: "invalid_api_key"})
	}
	for range 25 {
		fail("192.0.2.1")
	}
	for i := range 200 {
		fail(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}).String())
	}
	rows := func() (out map[string]int) {
		out = make(map[string]int)
		l, err := h.services().Audit.ListAudit(t.Context(), h.live, audit.Query{Type: "auth", Action: "auth.failed", PageQuery: record.PageQuery{Limit: 100}})
		require.NoError(t, err)
		for _, row := range l.Data {
			assert.Equal(t, "unknown", row.Actor.Type)
			out[row.IP] += row.Count
		}
		return out
	}
	h.waitUntil(10*time.Second, "the rows are stored", func() bool {
		sum := 0
		for _, n := range rows() {
			sum += n
		}
		return sum == 225
	})
	got := rows()
	assert.Equal(t, 25, got["192.0.2.1"])
	assert.Positive(t, got[""], "addresses beyond the bound share a row")
	assert.LessOrEqual(t, len(got), 2*50+1, "also where a minute ends meanwhile")
}
