package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

func TestOAuthClientIsBoundToWorkspaceAndEnvironmentAcrossRestart(t *testing.T) {
	h := newFixture(t, nil)
	ctx := t.Context()
	rights := []domain.Permission{domain.CallsRead, domain.AllWrite}
	c, secret, err := h.services().OAuth.CreateClient(ctx, h.live, &domain.OAuthClient{Name: "crm", Scopes: rights, GrantTypes: []domain.GrantType{domain.GrantCredentials}})
	require.NoError(t, err)
	public, none, err := h.services().OAuth.CreateClient(ctx, h.live, &domain.OAuthClient{Name: "page", Scopes: rights, Public: true})
	require.NoError(t, err)
	assert.Empty(t, none)
	_, err = h.services().OAuth.OAuthClient(ctx, h.test, c.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(h.services().OAuth.DeleteClient(ctx, h.test, c.ID)))
	l, err := h.services().OAuth.ListClients(ctx, h.test, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, l.Data)

	holder := domain.Principal{ClientID: c.ID, WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, Permissions: []domain.Permission{domain.AllRead, domain.CallsWrite}}
	require.NoError(t, h.services().OAuth.RevokeOAuth(ctx, c, "token-1", time.Now().Add(time.Hour)))
	require.NoError(t, h.services().OAuth.RevokeOAuth(ctx, c, "token-2", time.Now().Add(-time.Second)))
	for _, again := range []bool{false, true} {
		if again {
			h.shutdown()
			h.start()
		}
		d := h.services()
		known, err := d.OAuth.FindClient(ctx, c.ID)
		require.NoError(t, err)
		assert.Equal(t, c, known)
		assert.True(t, d.OAuth.IsClientSecret(known, secret))
		assert.False(t, d.OAuth.IsClientSecret(known, secret+"x"))
		assert.False(t, d.OAuth.IsClientSecret(nil, secret))
		assert.False(t, d.OAuth.IsClientSecret(public, ""), "a public client has no secret")
		got, err := d.OAuth.CheckOAuthToken(ctx, holder, "", "token-0")
		require.NoError(t, err)
		assert.Equal(t, []domain.Permission{domain.CallsWrite, domain.CallsRead}, got, "no more than the client can be given")
		for _, refused := range []string{"token-1", "token-2"} {
			_, err = d.OAuth.CheckOAuthToken(ctx, holder, "", refused)
			assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(err), refused)
		}
	}
	h.node.Sweep(ctx)
	_, err = h.services().OAuth.CheckOAuthToken(ctx, holder, "", "token-1")
	assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(err), "still to be refused")
	_, err = h.services().OAuth.CheckOAuthToken(ctx, holder, "", "token-2")
	require.NoError(t, err, "the grant has expired and is deleted")

	other := holder
	other.Environment = domain.Test
	_, err = h.services().OAuth.CheckOAuthToken(ctx, other, "", "")
	assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(err), "of another environment")
	plan := func(p domain.Plan) {
		_, err := h.services().Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error { w.Plan = p; return nil })
		require.NoError(t, err)
	}
	plan(domain.Professional)
	_, err = h.services().OAuth.CheckOAuthToken(ctx, holder, "", "")
	assert.Equal(t, domain.CodePlanRequired, domain.CodeOf(err))
	plan(domain.Enterprise)
	require.NoError(t, h.services().OAuth.DeleteClient(ctx, h.live, c.ID))
	_, err = h.services().OAuth.CheckOAuthToken(ctx, holder, "", "")
	assert.Equal(t, domain.CodeExpiredToken, domain.CodeOf(err))
}
