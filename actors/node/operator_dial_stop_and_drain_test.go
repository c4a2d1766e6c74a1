package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/operator"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
)

// campaignWaitReason returns the reason why a campaign places no calls at the moment. It is empty if there is none.
func (h *fixture) campaignWaitReason(id string) string {
	h.Helper()
	st := h.campaignStatus(h.live, id)
	if st.Waiting == nil {
		return ""
	}
	return st.Waiting.Reason
}

// nodeLoad returns the load of the node, summed over all workspaces.
func (h *fixture) nodeLoad(ctx context.Context, requests func(*domain.Workspace) int) (*load.NodeLoad, error) {
	part, err := h.services().Operator.LocalReport(ctx, requests)
	if err != nil {
		return nil, err
	}
	return load.Merge(part).Node, nil
}

// reportOf merges the load of several workspaces into one report.
func reportOf(rows ...*load.WorkspaceLoad) *load.Report {
	return load.Merge(&load.Report{Node: &load.NodeLoad{}, Workspaces: rows})
}

// noRequests reports 0 API requests for every workspace.
func noRequests(*domain.Workspace) int { return 0 }

func TestDialStopHoldsCampaignsBulkJobsAndCallsUntilResumed(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	act := record.AuditAction{Type: "admin", Action: "dialling.stopped", Resource: domain.Resource{Type: "dialling"}}
	now, err := d.Operator.StopDialling(d.Audit.WithAuditEntry(ctx, h.live, act), h.live, "a complaint")
	require.NoError(t, err)
	assert.Equal(t, []any{true, "a complaint", h.live.KeyID}, []any{now.Stopped, now.Reason, now.By.ID})
	log, err := d.Audit.ListAudit(ctx, h.live, audit.Query{Action: "dialling.stopped", PageQuery: record.PageQuery{Limit: 2}})
	require.NoError(t, err)
	assert.Len(t, log.Data, 1, "the audit row is part of the commit")
	id := h.createCampaign(h.live, agent, carrierNumber(1, 1, "14"), carrierNumber(1, 2, "14"), carrierNumber(1, 3, "14"))
	_, err = d.Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	order := domain.NewCall{To: carrierNumber(2, 1, "14"), AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute}
	bulk, err := d.Bulk.StartBulk(ctx, h.live, bulk.NewJob{Type: domain.BulkCalls, Items: []bulk.NewItem{{Call: &order}}})
	require.NoError(t, err)
	for restarted := range 2 {
		h.waitUntil(time.Minute, "the campaign reports why it waits", func() bool { return h.campaignWaitReason(id) == "dialling_stopped" })
		h.waitUntil(time.Minute, "and so does the bulk job", func() bool {
			b, err := h.services().Bulk.Bulk(ctx, h.live, bulk.ID)
			return err == nil && b.Waiting == "dialling_stopped"
		})
		_, err = h.services().Calls.PlaceCall(ctx, h.live, order)
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), restarted)
		assert.Empty(t, h.phoneLog.all(), restarted)
		load, err := h.nodeLoad(ctx, noRequests)
		require.NoError(t, err)
		assert.Equal(t, []any{true, "a complaint", true}, []any{load.Dialling.Stopped, load.Dialling.Reason, load.Ready})
		if restarted == 0 {
			h.shutdown()
			h.start()
		}
	}
	again, err := h.services().Operator.StopDialling(ctx, h.live, "another reason")
	require.NoError(t, err)
	assert.Equal(t, "a complaint", again.Reason)
	_, err = h.services().Operator.ResumeDialling(ctx, h.live)
	require.NoError(t, err)
	h.waitUntil(time.Minute, "every contact was called", func() bool {
		return h.campaignStatus(h.live, id).Status == domain.CampaignCompleted && len(h.phoneLog.all()) == 4
	})
	h.shutdown()
	h.start()
	load, err := h.nodeLoad(ctx, noRequests)
	require.NoError(t, err)
	assert.False(t, load.Dialling.Stopped)
}

func TestDialStopDuringACampaignCallsEachContactOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	phones := make([]string, 30)
	for i := range phones {
		phones[i] = carrierNumber(3+i/10, i%10, "14")
	}
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), phones...)
	pace := func(perMinute int) {
		_, _, err := d.Campaigns.UpdateCampaign(ctx, h.live, id, func(c *domain.Campaign) error {
			c.Pacing.CallsPerMinute = perMinute
			return nil
		})
		require.NoError(t, err)
	}
	pace(60) // the pace leaves contacts for after the stop, even on a slow machine
	_, err := d.Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	h.waitUntil(time.Minute, "a contact was called", func() bool { return len(h.phoneLog.all()) > 0 })
	_, err = d.Operator.StopDialling(ctx, h.live, "")
	require.NoError(t, err)
	h.waitUntil(time.Minute, "calls in progress have ended", func() bool {
		return h.campaignWaitReason(id) == "dialling_stopped" && h.openAttempts("campaign="+id) == 0
	})
	assert.Less(t, len(h.phoneLog.all()), 30)
	pace(1200)
	_, err = d.Operator.ResumeDialling(ctx, h.live)
	require.NoError(t, err)
	h.waitUntil(time.Minute, "the campaign has ended", func() bool { return h.campaignStatus(h.live, id).Status == domain.CampaignCompleted })
	seen := map[string]int{}
	for _, r := range h.phoneLog.all() {
		seen[r.number]++
	}
	assert.Len(t, seen, 30)
	for n, times := range seen {
		assert.Equal(t, 1, times, n)
	}
}

func TestDrainedNodeRefusesCallsUntilTheDrainEnds(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	const own = "+15005550150"
	agent := h.createAgent(h.test, waitingPathway())
	_, err := d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: own, AgentID: agent})
	require.NoError(t, err)
	live, err := d.Calls.TestInboundCall(ctx, h.test, calls.InboundTest{To: own, From: carrierNumber(1, 1, "11")})
	require.NoError(t, err)
	_, err = d.Operator.DrainNode(ctx, h.live)
	require.NoError(t, err)
	require.ErrorContains(t, h.node.Ready(ctx), "drained the node")
	_, err = d.Calls.TestInboundCall(ctx, h.test, calls.InboundTest{To: own, From: carrierNumber(1, 2, "11")})
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	at := h.ua.Addr("udp")
	refused := h.phones.Call(ctx, testcarrier.CallRequest{To: own, From: carrierNumber(1, 3, "11"), Target: resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}})
	require.ErrorContains(t, refused, "503")
	_, err = d.Calls.PlaceCall(ctx, h.test, domain.NewCall{To: carrierNumber(2, 1, "14"), AgentID: agent, RingTimeout: time.Second, MaxDuration: time.Minute})
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	assert.False(t, h.getCall(h.test, live.ID).Final(), "the live call continues")
	_, err = d.Operator.UndrainNode(ctx, h.live)
	require.NoError(t, err)
	require.NoError(t, h.node.Ready(ctx))
	_, err = d.Calls.TestInboundCall(ctx, h.test, calls.InboundTest{To: own, From: carrierNumber(1, 4, "11")})
	require.NoError(t, err)
	_, err = d.Operator.DrainNode(ctx, h.live)
	require.NoError(t, err)
	over, cancel := context.WithCancel(ctx)
	cancel() // live calls are hung up
	h.node.Drain(over)
	_, err = d.Operator.UndrainNode(ctx, h.live)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "the node is stopping")
	refused = h.phones.Call(ctx, testcarrier.CallRequest{To: own, From: carrierNumber(1, 5, "11"), TestID: "late", Target: resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}})
	require.ErrorContains(t, refused, "503")
}

func TestSpendingIsReportedAfterEveryWorkspaceReadItsLedger(t *testing.T) {
	t.Parallel()
	a := &load.WorkspaceLoad{SpentToday: domain.Dollars(700_000), SpentKnown: true}
	b := &load.WorkspaceLoad{SpentToday: domain.Dollars(200_000)}
	sum := reportOf(a, b).Node
	assert.Equal(t, []any{domain.Dollars(900_000), false}, []any{sum.SpentToday, sum.SpentKnown})
	b.SpentKnown = true
	assert.True(t, reportOf(a, b).Node.SpentKnown)
	assert.True(t, reportOf().Node.SpentKnown)
	h := newFixture(t, nil)
	h.waitUntil(time.Minute, "the ledger was read", func() bool {
		load, err := h.nodeLoad(t.Context(), noRequests)
		require.NoError(t, err)
		return load.SpentKnown
	})
}

func TestLoadReportListsTheBusiestWorkspaces(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx := t.Context()
	loud, quiet := h.createWorkspace("loud"), h.createWorkspace("<quiet>")
	agent := h.createAgent(loud, keyMenuPathway())
	for i := range 3 {
		_, err := h.services().Calls.PlaceCall(ctx, loud, domain.NewCall{To: carrierNumber(4, i, "14"), From: "+15005550100", AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
		_ = err // a refused call does not count
	}
	calls := len(countEvents(h.events(loud.WorkspaceID), event.CallStarted))
	load, err := h.nodeLoad(ctx, func(w *domain.Workspace) int { return map[string]int{"<quiet>": 1, "loud": 3}[w.Name] })
	require.NoError(t, err)
	require.NotEmpty(t, load.Noisy)
	assert.Equal(t, []any{"loud", 3, calls, 4}, []any{load.Noisy[0].Name, load.Workspaces, load.LastMinute.Calls, load.LastMinute.Requests})
	assert.InDelta(t, 0.75, load.Noisy[0].Requests, 0.001)
	assert.Positive(t, load.Noisy[0].Commits)
	part, err := h.services().Operator.LocalReport(ctx, noRequests)
	require.NoError(t, err)
	first := operator.PageWorkspaceLoads(part, record.PageQuery{Limit: 2})
	require.Len(t, first.Data, 2)
	assert.Equal(t, quiet.WorkspaceID, first.Data[0].ID, "the newest workspace is first")
	rest := operator.PageWorkspaceLoads(part, record.PageQuery{Limit: 2, Cursor: first.Next})
	assert.Len(t, rest.Data, 1)
	assert.Empty(t, rest.Next)
	assert.Equal(t, 3, load.Trunks.Up/2, "each workspace has its trunks to the test carrier")
}
