package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// callFromTestCarrier makes the test carrier place an inbound call to a number of the test environment.
func (h *fixture) callFromTestCarrier(to string) error {
	h.Helper()
	_, err := h.services().Calls.TestInboundCall(h.Context(), h.test, calls.InboundTest{To: to, From: "+12025550100", HangUp: 200 * time.Millisecond})
	return err
}

func TestOperatorApprovesNumbersIfSeveralWorkspacesExist(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	staff := h.live // a principal of the only workspace without operator rights
	staff.Operator = false
	alone, err := d.Numbers.CreateNumber(ctx, staff, &domain.PhoneNumber{Number: "+12025550140", AgentID: h.createAgent(h.live, keyMenuPathway())})
	require.NoError(t, err)
	assert.Equal(t, domain.NumberLive, alone.Status, "the only workspace needs no approval")

	tenant := h.createWorkspace("acme")
	agent := h.createAgent(tenant, keyMenuPathway())
	const claimed = "+12025550141"
	n, err := d.Numbers.CreateNumber(ctx, tenant, &domain.PhoneNumber{Number: claimed, AgentID: agent, SMSEnabled: true})
	require.NoError(t, err)
	assert.Equal(t, domain.NumberPending, n.Status)
	mine, err := d.Numbers.CreateNumber(ctx, h.live, &domain.PhoneNumber{Number: "+12025550142", AgentID: alone.AgentID})
	require.NoError(t, err)
	assert.Equal(t, domain.NumberLive, mine.Status, "an operator's own")
	own, err := d.Numbers.CallerIDs(ctx, tenant)
	require.NoError(t, err)
	assert.NotContains(t, own, claimed)
	_, err = d.Calls.PlaceCall(ctx, tenant, domain.NewCall{To: carrierNumber(1, 4, "11"), From: claimed, AgentID: agent, RingTimeout: time.Second, MaxDuration: time.Minute})
	assert.Equal(t, domain.CodeCallerIDNotAllowed, domain.CodeOf(err))
	_, err = d.Numbers.UpdateNumber(ctx, tenant, n.ID, func(n *domain.PhoneNumber) error { n.SMSEnabled = true; return nil })
	require.NoError(t, err)

	waiting, err := d.Numbers.ListNumbersByStatus(ctx, tenant.WorkspaceID, domain.NumberPending, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, waiting.Data, 1)
	assert.Equal(t, n.ID, waiting.Data[0].ID)
	_, err = d.Numbers.ApproveNumber(ctx, h.live.WorkspaceID, n.ID)
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "the number belongs to another workspace")
	for range 2 {
		live, err := d.Numbers.ApproveNumber(ctx, tenant.WorkspaceID, n.ID)
		require.NoError(t, err)
		assert.Equal(t, domain.NumberLive, live.Status)
	}
	own, err = d.Numbers.CallerIDs(ctx, tenant)
	require.NoError(t, err)
	assert.Contains(t, own, claimed)
	waiting, err = d.Numbers.ListNumbersByStatus(ctx, tenant.WorkspaceID, domain.NumberPending, record.PageQuery{Limit: 10})
	require.NoError(t, err)
	assert.Empty(t, waiting.Data)
}

func TestPendingNumberNeitherReceivesNorPlacesCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	n, err := d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: "+15005550142", AgentID: h.createAgent(h.test, keyMenuPathway()), SMSEnabled: true})
	require.NoError(t, err)
	become := func(s domain.NumberStatus) {
		_, err := d.Numbers.UpdateNumber(ctx, h.test, n.ID, func(n *domain.PhoneNumber) error { n.Status = s; return nil })
		require.NoError(t, err)
	}
	sender := func() string {
		created, err := d.SMS.SendMessage(ctx, h.test, domain.NewMessage{To: "+15005550000", Body: "Hello."})
		require.NoError(t, err)
		return created.From
	}
	require.NoError(t, h.callFromTestCarrier(n.Number))
	assert.Equal(t, n.Number, sender())
	become(domain.NumberPending)
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(h.callFromTestCarrier(n.Number)))
	assert.NotEqual(t, n.Number, sender())
}
