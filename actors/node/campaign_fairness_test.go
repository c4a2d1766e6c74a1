package node_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
)

func TestCampaignAtItsConcurrencyLimitBlocksNoOtherCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error {
		w.Limits.ConcurrentInbound, w.Limits.ConcurrentOutbound, w.Limits.CallsPerMinute = 2, 12, 6000
		return nil
	})
	require.NoError(t, err)
	agent := h.createAgent(h.test, keyMenuPathway())
	_, err = d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: "+15005550142", AgentID: agent})
	require.NoError(t, err)
	phones := make([]string, 400)
	for i := range phones {
		phones[i] = fmt.Sprintf("+1202555%04d", i) // numbers whose phones answer
	}
	id := h.createCampaign(h.test, agent, phones...)
	_, err = d.Campaigns.StartCampaign(ctx, h.test, id)
	require.NoError(t, err)
	used := func() int {
		now, err := h.node.LinesUsage(ctx, h.test.WorkspaceID, domain.Outbound)
		require.NoError(t, err)
		return now.Active
	}
	h.waitUntil(20*time.Second, "the campaign uses all its permits", func() bool { return used() >= 10 })
	for i := range 6 {
		var c *domain.Call
		h.waitUntil(20*time.Second, "the inbound call is accepted", func() bool {
			c, err = d.Calls.TestInboundCall(ctx, h.test, calls.InboundTest{To: "+15005550142", From: "+12025550100", HangUp: 200 * time.Millisecond})
			if domain.CodeOf(err) == domain.CodeUnavailable || errors.Is(err, context.DeadlineExceeded) {
				return false // a slow machine exceeded the time limit; a missing permit is another refusal
			}
			require.NoError(t, err, "call %d in", i)
			return true
		})
		h.waitUntil(20*time.Second, "the inbound call is answered and ended", func() bool {
			now := h.getCall(h.test, c.ID)
			return now.Final() && now.AnsweredAt != nil
		})
	}
	out, err := d.Calls.PlaceCall(ctx, h.test, domain.NewCall{To: carrierNumber(1, 2, "14"), AgentID: agent, RingTimeout: 5 * time.Second, MaxDuration: time.Minute})
	require.NoError(t, err, "a tenth of the permits is reserved for single calls")
	h.waitUntil(20*time.Second, "the single call is placed", func() bool { return h.getCall(h.test, out.ID).Status == domain.CallBusy })
	s, err := d.Campaigns.CampaignStatus(ctx, h.test, id)
	require.NoError(t, err)
	assert.Equal(t, domain.CampaignRunning, s.Status, "the campaign still runs")
	assert.LessOrEqual(t, s.Progress.InProgress, 12)
	_, err = d.Campaigns.CancelCampaign(ctx, h.test, id, true)
	require.NoError(t, err)
}
