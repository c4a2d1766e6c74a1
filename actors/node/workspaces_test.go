package node_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/record"
)

// findTraces returns the tables, rows, events and files that contain an id.
func (h *fixture) findTraces(id string) (found []string) {
	h.Helper()
	ctx := h.Context()
	tables, err := h.driver.Tables(ctx, "")
	require.NoError(h, err)
	for _, table := range tables {
		for after := ""; ; {
			page, err := h.driver.Scan(ctx, persistence.Range{Table: table, After: after, Limit: 500})
			require.NoError(h, err)
			for _, row := range page.Rows {
				if after = row.Position; strings.Contains(table+" "+row.ID+" "+string(row.Value), id) {
					found = append(found, table+" "+row.ID)
				}
			}
			if !page.More {
				break
			}
		}
	}
	last, err := h.driver.LastOffset(ctx, id)
	require.NoError(h, err)
	if last > 0 {
		found = append(found, "events")
	}
	require.NoError(h, filepath.WalkDir(h.dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(path, id) {
			found = append(found, path)
		}
		return nil
	}))
	return found
}

// createWorkspace creates a workspace and returns a principal with the rights of the workspace's first API key.
func (h *fixture) createWorkspace(name string) domain.Principal {
	h.Helper()
	_, _, text, err := h.services().Workspaces.CreateWorkspace(h.Context(), &domain.Workspace{
		Name: name, Plan: domain.Enterprise, Limits: domain.DefaultEnterpriseLimits(), DefaultCountry: "US", Calling: domain.DestinationRules{Countries: []string{"US", "GB"}},
	})
	require.NoError(h, err)
	p, err := h.services().Keys.Authenticate(h.Context(), text, here)
	require.NoError(h, err)
	return p
}

func TestDeletedWorkspaceLeavesNoRowsOrFiles(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	p := h.createWorkspace("acme")
	e := h.createResources(p, "+12025550155")
	_, err := d.Phones.CreatePhone(ctx, p, &domain.Phone{Extension: "88", Username: "u88", Name: "p"})
	require.NoError(t, err)
	u, err := d.Users.CreateUser(ctx, p, &domain.User{Name: "Ada", Role: "viewer"})
	require.NoError(t, err)
	link, _, err := d.Users.CreateSignInLink(ctx, p, u.ID, allowAnyUser)
	require.NoError(t, err)
	cookie, _, err := d.Users.SignIn(ctx, link, here, "browser")
	require.NoError(t, err)
	c, _, err := d.OAuth.CreateClient(ctx, p, &domain.OAuthClient{Name: "c", Scopes: []domain.Permission{domain.AllRead}})
	require.NoError(t, err)
	x, err := d.Exports.CreateExport(ctx, p, &domain.Export{Type: domain.ExportCalls, Format: "csv"})
	require.NoError(t, err)
	_, _ = h.waitForExport(p, x)
	_, _, err = d.Idempotency.Reserve(ctx, p, record.IdempotencyKey{Key: "k", Method: "POST", Path: "/"}, "d")
	require.NoError(t, err)
	live, err := d.Calls.PlaceCall(ctx, p, domain.NewCall{To: carrierNumber(1, 3, "11"), AgentID: h.createAgent(p, waitingPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute, Record: true})
	require.NoError(t, err)
	h.waitUntil(longWait, "the call is answered", func() bool { return h.getCall(p, live.ID).Status == domain.CallInProgress })
	require.NotEmpty(t, h.findTraces(p.WorkspaceID))
	other := h.createWorkspace("other")

	own := d.Workspaces.DeleteWorkspace(ctx, h.live, h.live.WorkspaceID)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(own))
	require.NoError(t, d.Workspaces.DeleteWorkspace(ctx, h.live, p.WorkspaceID))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(d.Workspaces.DeleteWorkspace(ctx, h.live, p.WorkspaceID)))
	assert.Equal(t, domain.CodeInvalidAPIKey, domain.CodeOf(errorOf(d.Keys.Authenticate(ctx, e.text, here))))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(errorOf(d.Calls.PlaceCall(ctx, p, domain.NewCall{To: carrierNumber(1, 2, "11"), AgentID: e.agent}))))
	_, _, err = d.Users.AuthenticateSession(ctx, cookie, here, false)
	assert.Equal(t, domain.CodeAuthenticationRequired, domain.CodeOf(err))
	deleted, err := d.OAuth.FindClient(ctx, c.ID)
	require.NoError(t, err)
	assert.Nil(t, deleted)
	h.waitUntil(longWait, "nothing remains", func() bool { return len(h.findTraces(p.WorkspaceID)) == 0 })
	h.waitUntil(longWait, "the phones are quiet", func() bool { n, _ := h.phoneLog.liveDialogs(); return n == 0 })

	number, err := d.Numbers.CreateNumber(ctx, other, &domain.PhoneNumber{Number: "+12025550155"})
	require.NoError(t, err, "the number is free")
	h.shutdown()
	h.start()
	assert.Empty(t, h.findTraces(p.WorkspaceID), "nothing reappears")
	_, err = h.services().Numbers.Number(ctx, other, number.ID)
	require.NoError(t, err, "other workspaces keep their rows")
}

func TestRepeatedWorkspaceDeletionKeepsNumbersOfOtherWorkspaces(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, p, other := t.Context(), h.createWorkspace("acme"), h.createWorkspace("other")
	const taken = "+12025550156"
	_, err := h.services().Numbers.CreateNumber(ctx, p, &domain.PhoneNumber{Number: taken})
	require.NoError(t, err)
	h.putRow(&domain.DeletedWorkspace{ID: p.WorkspaceID, At: time.Now()})
	require.NoError(t, h.deleteRow(domain.Key{Kind: "workspace", ID: p.WorkspaceID}))
	require.NoError(t, h.deleteRow((&domain.NumberClaim{Number: taken}).Key())) // the number was released by the first attempt
	_, err = h.services().Numbers.CreateNumber(ctx, other, &domain.PhoneNumber{Number: taken})
	require.NoError(t, err)
	h.shutdown()
	h.start()
	h.waitUntil(longWait, "nothing remains", func() bool { return len(h.findTraces(p.WorkspaceID)) == 0 })
	_, err = h.services().Numbers.CreateNumber(ctx, h.createWorkspace("third"), &domain.PhoneNumber{Number: taken})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err), "the number belongs to the other workspace")
}

func TestInterruptedWorkspaceDeletionCompletesAtTheNextStart(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	p := h.createWorkspace("acme")
	h.createCampaign(p, h.createAgent(p, keyMenuPathway()), phoneNumber(0))
	h.putRow(&domain.DeletedWorkspace{ID: p.WorkspaceID, At: time.Now()}) // as a process that was killed directly afterwards left it
	require.NoError(t, h.deleteRow(domain.Key{Kind: "workspace", ID: p.WorkspaceID}))
	h.shutdown()
	h.start()
	h.waitUntil(longWait, "nothing remains", func() bool { return len(h.findTraces(p.WorkspaceID)) == 0 })
	_, err := h.services().Workspaces.AnyWorkspace(t.Context(), p.WorkspaceID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}
