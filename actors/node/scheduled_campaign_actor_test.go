package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestScheduledCampaignHasAnActorFromItsCreation(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	start := time.Now().Add(time.Hour)
	created, err := d.Campaigns.CreateCampaign(ctx, h.test, &domain.Campaign{
		Name: "later", Status: domain.CampaignScheduled, AgentID: h.createAgent(h.test, waitingPathway()), DefaultCountry: "US", AutoComplete: true,
		Schedule: domain.Schedule{Start: &start, Timezone: "UTC", Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}},
		CallerID: domain.CallerID{Number: "+15005550100"},
	}, "", contactRows(carrierNumber(4, 1, "09")))
	require.NoError(t, err)
	st, err := d.Campaigns.CampaignStatus(ctx, h.test, created.Campaign.ID)
	require.NoError(t, err)
	assert.Equal(t, domain.CampaignScheduled, st.Status)
	assert.True(t, h.hasCampaignActor(created.Campaign.ID), "the campaign actor runs")
}
