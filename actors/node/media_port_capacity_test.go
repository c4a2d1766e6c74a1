package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain/event"
)

func TestCampaignOpensNoAttemptWithoutAFreePortPair(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.portPairs = 4
	h.start()
	who := make([]string, 16)
	for i := range who {
		who[i] = carrierNumber(3+i/10, i%10, "11")
	}
	id := h.createCampaign(h.test, h.createAgent(h.test, keyMenuPathway()), who...)
	_, err := h.services().Campaigns.StartCampaign(t.Context(), h.test, id)
	require.NoError(t, err)
	h.waitForCampaignEnd(h.test, id)
	assert.Equal(t, len(who), h.campaignStatus(h.test, id).Progress.Attempted)
	begun := 0
	for _, e := range h.events(h.live.WorkspaceID) {
		if e.Type == event.CallStarted {
			begun++
		}
	}
	assert.Equal(t, len(who), begun, "each contact has one attempt")
}
