package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
	contactsservice "github.com/callboard/callboard/service/contacts"
)

// contactsByStatus returns the phone numbers of the contacts of a campaign that have the given status.
func (h *fixture) contactsByStatus(id, status string) (phones []string) {
	h.Helper()
	l, err := h.services().Contacts.ListContacts(h.Context(), h.test, id, contactsservice.Query{Limit: 10, Status: status})
	require.NoError(h, err)
	for _, c := range l.Data {
		if status != "" {
			assert.Equal(h, status, c.Status)
		}
		phones = append(phones, c.Phone)
	}
	return phones
}

func TestContactStatusIsInCallDuringTheConversation(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	talks, rings, waits := carrierNumber(7, 1, "11"), carrierNumber(7, 2, "15"), carrierNumber(7, 3, "11")
	id := h.createCampaign(h.test, h.createAgent(h.test, waitingPathway()), talks, rings, waits)
	_, _, err := d.Campaigns.UpdateCampaign(ctx, h.test, id, func(c *domain.Campaign) error { c.Pacing.MaxConcurrent = 2; return nil })
	require.NoError(t, err)
	assert.Zero(t, h.engine.Live(), "uploads need not give way")
	_, err = d.Campaigns.StartCampaign(ctx, h.test, id)
	require.NoError(t, err)
	h.waitUntil(10*time.Second, "one contact is in a call and one is being dialled", func() bool {
		return len(h.contactsByStatus(id, "in_call")) == 1 && len(h.contactsByStatus(id, "dialing")) == 1
	})
	assert.NotZero(t, h.engine.Live(), "uploads give way")
	assert.Equal(t, []string{talks}, h.contactsByStatus(id, "in_call"))
	assert.Equal(t, []string{rings}, h.contactsByStatus(id, "dialing"))
	assert.Equal(t, []string{waits}, h.contactsByStatus(id, "pending"))
	assert.Equal(t, []string{talks, rings, waits}, h.contactsByStatus(id, ""))
	l, err := d.Contacts.ListContacts(ctx, h.test, id, contactsservice.Query{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "in_call", l.Data[0].Status)
	one, err := d.Contacts.Contact(ctx, h.test, id, l.Data[0].ID)
	require.NoError(t, err)
	assert.Equal(t, "in_call", one.Status)
	export, err := d.Contacts.ExportContacts(ctx, h.test, id, "in_call")
	require.NoError(t, err)
	for c, err := range export.Rows {
		require.NoError(t, err)
		assert.Equal(t, []string{talks, "in_call"}, []string{c.Phone, c.Status})
	}
	_, err = d.Campaigns.CancelCampaign(ctx, h.test, id, true)
	require.NoError(t, err)
	h.waitUntil(20*time.Second, "no contact is in a call", func() bool {
		return len(h.contactsByStatus(id, "in_call"))+len(h.contactsByStatus(id, "dialing")) == 0
	})
}

func TestInboundCallOverTheLimitIsRejectedWithTheLimit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	_, err := d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error { w.Limits.ConcurrentInbound = 1; return nil })
	require.NoError(t, err)
	_, err = d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: "+15005550142", AgentID: h.createAgent(h.test, waitingPathway())})
	require.NoError(t, err)
	order := calls.InboundTest{To: "+15005550142", From: "+12025550100", HangUp: time.Minute}
	_, err = d.Calls.TestInboundCall(ctx, h.test, order)
	require.NoError(t, err)
	_, err = d.Calls.TestInboundCall(ctx, h.test, order)
	var busy *domain.Error
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, []any{domain.CodeConcurrentLimit, map[string]any{"active_calls": 1, "limit": 1}}, []any{busy.Code, busy.Extra})
}
