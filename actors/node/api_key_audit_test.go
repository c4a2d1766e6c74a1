package node_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
)

func TestKeyCreationAndRevocationWriteOneAuditRowInTheirCommit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	key := func() *domain.APIKey {
		return &domain.APIKey{Meta: domain.Meta{WorkspaceID: h.live.WorkspaceID, Environment: domain.Live}, Name: "k", Permissions: []domain.Permission{domain.AllRead}}
	}
	rows := func(id string) (reported []string) {
		l, err := d.Audit.ListAudit(ctx, h.live, audit.Query{PageQuery: record.PageQuery{Limit: 100}})
		require.NoError(t, err)
		for _, e := range slices.Backward(l.Data) {
			if e.Resource.ID == id {
				reported = append(reported, e.Type+" "+e.Action+" by "+e.Actor.Type+" "+e.Actor.ID+" from "+e.IP+" "+e.UserAgent)
			}
		}
		return reported
	}
	act := record.AuditAction{IP: netip.MustParseAddr("192.0.2.7"), UserAgent: "curl"}
	created, _, err := d.Keys.CreateKey(ctx, h.live, act, key())
	require.NoError(t, err)
	require.NoError(t, errorOf(d.Keys.RevokeKey(ctx, h.live, act, created.ID, keys.RevokeRequest{})))
	require.NoError(t, errorOf(d.Keys.RevokeKey(ctx, h.live, act, created.ID, keys.RevokeRequest{})), "a repeated revocation changes nothing")
	by := " by operator " + h.live.KeyID + " from 192.0.2.7 curl"
	if !h.live.Operator {
		by = " by api_key " + h.live.KeyID + " from 192.0.2.7 curl"
	}
	assert.Equal(t, []string{"auth api_key.created" + by, "auth api_key.revoked" + by}, rows(created.ID))

	local, _, err := h.keys.Create(ctx, record.Author{}, key())
	require.NoError(t, err)
	require.NoError(t, h.keys.Revoke(ctx, record.Author{}, h.live.WorkspaceID, local.ID))
	assert.Equal(t, []string{"auth api_key.created by system  from  ", "auth api_key.revoked by system  from  "}, rows(local.ID), "by the command line")
}

func TestCommandLineChangesToWorkspacesAndUsersWriteAuditRowsInTheirCommit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	rows := func(workspace string) (reported []string) {
		l, err := h.services().Audit.ListAudit(ctx, domain.Principal{WorkspaceID: workspace, Environment: domain.Live}, audit.Query{PageQuery: record.PageQuery{Limit: 100}})
		require.NoError(t, err)
		for _, e := range slices.Backward(l.Data) {
			if e.Actor.Type == "system" && e.Resource.Type != "api_key" {
				reported = append(reported, e.Type+" "+e.Action+" "+e.Resource.ID)
			}
		}
		return reported
	}
	acme := func(name string) *domain.Workspace {
		return &domain.Workspace{Name: name, Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US"}}}
	}
	first, _, _, err := d.Workspaces.Local().CreateWorkspace(ctx, acme("first"))
	require.NoError(t, err)
	u, err := d.Users.CreateUserInWorkspace(ctx, first.ID, &domain.User{Name: "Ada", Role: "viewer"})
	require.NoError(t, err)
	_, _, err = d.Users.CreateSignInLinkForAnyUser(ctx, u)
	require.NoError(t, err)
	assert.Equal(t, []string{"admin workspace.created " + first.ID, "admin user.created " + u.ID, "auth user.sign_in_link_created " + u.ID}, rows(first.ID))
	require.NoError(t, d.Workspaces.Local().DeleteWorkspace(ctx, first.ID, h.live.WorkspaceID))
	home := []string{"admin workspace.deleted " + first.ID}
	assert.Equal(t, home, rows(h.live.WorkspaceID))

	h.shutdown()
	h.start()
	assert.Equal(t, home, rows(h.live.WorkspaceID), "once")
}
