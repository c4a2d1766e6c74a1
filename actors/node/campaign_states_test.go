package node_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/lifecycle"
	contactsservice "github.com/callboard/callboard/service/contacts"
)

type campaignVerb func(context.Context, domain.Principal, string) (domain.CampaignStatusObject, error)

func (h *fixture) campaignVerbs() map[lifecycle.Operation]campaignVerb {
	d := h.services()
	return map[lifecycle.Operation]campaignVerb{
		lifecycle.Start: d.Campaigns.StartCampaign, lifecycle.Pause: d.Campaigns.PauseCampaign, lifecycle.Resume: d.Campaigns.ResumeCampaign,
		lifecycle.Cancel: func(ctx context.Context, p domain.Principal, id string) (domain.CampaignStatusObject, error) {
			return d.Campaigns.CancelCampaign(ctx, p, id, false)
		},
	}
}

// createOpenCampaign creates a campaign without contacts and applies operations, for example start and pause. The
// campaign does not complete by itself.
func (h *fixture) createOpenCampaign(agent string, start *time.Time, by ...lifecycle.Operation) string {
	h.Helper()
	created, err := h.services().Campaigns.CreateCampaign(h.Context(), h.test, &domain.Campaign{
		Name: "c", Status: domain.CampaignDraft, AgentID: agent, DefaultCountry: "US",
		Schedule: domain.Schedule{Timezone: "UTC", Start: start}, Pacing: domain.Pacing{CallsPerMinute: 60, MaxConcurrent: 1}, Retry: domain.Retry{MaxAttempts: 1},
		CallerID: domain.CallerID{Number: "+15005550100"},
	}, "", nil)
	require.NoError(h, err)
	for _, on := range by {
		_, err = h.campaignVerbs()[on](h.Context(), h.test, created.Campaign.ID)
		require.NoError(h, err)
	}
	return created.Campaign.ID
}

// createExhaustedCampaign creates a campaign with one contact and waits until the campaign has called it and ended.
func (h *fixture) createExhaustedCampaign(agent string) string {
	h.Helper()
	id := h.createCampaign(h.test, agent, carrierNumber(2, 1, "19"))
	_, err := h.services().Campaigns.StartCampaign(h.Context(), h.test, id)
	require.NoError(h, err)
	h.waitForCampaignEnd(h.test, id)
	return id
}

func TestCampaignRequestsFollowTheStateTable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	agent := h.createAgent(h.test, keyMenuPathway())
	soon := time.Now().Add(24 * time.Hour)
	start, pause, cancel := lifecycle.Start, lifecycle.Pause, lifecycle.Cancel
	for _, c := range []struct {
		state domain.CampaignStatus
		ahead bool
		make  func() string
	}{
		{domain.CampaignDraft, false, func() string { return h.createOpenCampaign(agent, nil) }},
		{domain.CampaignDraft, true, func() string { return h.createOpenCampaign(agent, &soon) }},
		{domain.CampaignScheduled, true, func() string { return h.createOpenCampaign(agent, &soon, start) }},
		{domain.CampaignRunning, false, func() string { return h.createOpenCampaign(agent, nil, start) }},
		{domain.CampaignPaused, false, func() string { return h.createOpenCampaign(agent, nil, start, pause) }},
		{domain.CampaignPaused, true, func() string { return h.createOpenCampaign(agent, &soon, start, pause) }},
		{domain.CampaignCompleted, false, func() string { return h.createExhaustedCampaign(agent) }},
		{domain.CampaignCancelled, false, func() string { return h.createOpenCampaign(agent, nil, cancel) }},
	} {
		id := c.make()
		for on, do := range h.campaignVerbs() {
			if !c.state.Final() {
				id = c.make()
			}
			require.Equal(t, c.state, h.campaignStatus(h.test, id).Status)
			to, allowed, ok := lifecycle.NextCampaignStatus(c.state, on, c.ahead)
			before := len(h.events(h.test.WorkspaceID))
			st, err := do(t.Context(), h.test, id)
			what := string(on) + " of one that is " + string(c.state)
			if ok {
				require.NoError(t, err, what)
				assert.Equal(t, to, st.Status, what)
			} else {
				var refused *domain.Error
				require.ErrorAs(t, err, &refused, what)
				assert.Equal(t, []any{domain.CodeInvalidState, c.state, allowed}, []any{refused.Code, refused.Extra["current_status"], refused.Extra["allowed_from"]}, what)
			}
			if !ok || to == c.state {
				assert.Len(t, h.events(h.test.WorkspaceID), before, "%s has no effect", what)
			}
		}
	}
}

func TestConcurrentCampaignRequestsFollowTheStateTable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	id := h.createOpenCampaign(h.createAgent(h.test, keyMenuPathway()), nil)
	verbs := h.campaignVerbs()
	var wait sync.WaitGroup
	for i := range 48 { // more than 64 concurrent requests are refused
		on := []lifecycle.Operation{lifecycle.Start, lifecycle.Pause, lifecycle.Resume}[i%3]
		if i == 36 {
			on = lifecycle.Cancel
		}
		wait.Go(func() {
			st, err := verbs[on](t.Context(), h.test, id)
			if err == nil {
				_, _, ok := lifecycle.NextCampaignStatus(st.Status, on, false) // repeating an operation in its target state is allowed
				assert.True(t, ok, "%s led to %s", on, st.Status)
				return
			}
			var refused *domain.Error
			if assert.ErrorAs(t, err, &refused) && assert.Equal(t, domain.CodeInvalidState, refused.Code) {
				from, _ := refused.Extra["current_status"].(domain.CampaignStatus)
				_, allowed, ok := lifecycle.NextCampaignStatus(from, on, false)
				assert.False(t, ok, "%s is refused in the state %s", on, from)
				assert.Equal(t, allowed, refused.Extra["allowed_from"])
			}
		})
	}
	wait.Wait()
	reported := map[event.Type]lifecycle.Operation{
		event.CampaignStarted: lifecycle.Start, event.CampaignPaused: lifecycle.Pause, event.CampaignResumed: lifecycle.Resume, event.CampaignCancelled: lifecycle.Cancel,
	}
	now, changes := domain.CampaignDraft, 0
	for _, e := range h.events(h.test.WorkspaceID) {
		if on, is := reported[e.Type]; is && e.Subject == id {
			to, _, ok := lifecycle.NextCampaignStatus(now, on, false)
			assert.True(t, ok && to != now, "%s in the state %s", e.Type, now)
			now, changes = to, changes+1
		}
	}
	assert.Equal(t, []any{domain.CampaignCancelled, domain.CampaignCancelled}, []any{now, h.campaignStatus(h.test, id).Status})
	assert.Positive(t, changes)
}

func TestCampaignCopyUsesTheCurrentContacts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	id := h.createCampaign(h.test, h.createAgent(h.test, keyMenuPathway()), carrierNumber(3, 1, "11"), carrierNumber(3, 2, "14"), carrierNumber(3, 3, "14"), carrierNumber(3, 4, "19"))
	moved, zone := carrierNumber(3, 5, "14"), "Europe/Berlin"
	_, err := d.Contacts.UpdateContact(ctx, h.test, id, domain.ContactID(id, 1), contactChange{phone: moved, timezone: zone, context: domain.Context{"name": "Ada"}}.apply)
	require.NoError(t, err)
	require.NoError(t, d.Contacts.DeleteContact(ctx, h.test, id, domain.ContactID(id, 2)))
	copied := func(states ...string) (phones []string) {
		c, err := d.Campaigns.CopyCampaign(ctx, h.test, id, states, func(*domain.Campaign) error { return nil })
		require.NoError(t, err)
		assert.Equal(t, domain.CampaignDraft, c.Campaign.Status)
		l, err := d.Contacts.ListContacts(ctx, h.test, c.Campaign.ID, contactsservice.Query{Limit: 10})
		require.NoError(t, err)
		for _, one := range l.Data {
			phones = append(phones, one.Phone)
			assert.Equal(t, []any{"pending", 0}, []any{one.Status, one.Attempts})
			if one.Phone == moved {
				name, _ := one.Context.Text("name")
				assert.Equal(t, []string{"Ada", zone}, []string{name, one.Timezone})
			}
		}
		return phones
	}
	allContacts := []string{carrierNumber(3, 1, "11"), moved, carrierNumber(3, 4, "19")}
	assert.Equal(t, allContacts, copied("pending", "cancelled"), "removed contacts are not copied")
	_, err = d.Campaigns.StartCampaign(ctx, h.test, id)
	require.NoError(t, err)
	h.waitForCampaignEnd(h.test, id)
	assert.Equal(t, allContacts[1:2], copied("busy"))
	assert.Equal(t, allContacts[:1], copied("confirmed"))
	assert.Equal(t, allContacts[1:], copied("busy", "failed", "cancelled"))
	assert.Empty(t, slices.Concat(copied("cancelled"), copied("no_answer")))
}
