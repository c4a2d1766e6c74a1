package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain/event"
)

// TestACampaignOpensNoAttemptForWhichThereAreNoPorts: its attempts wait for a
// pair before they are opened, instead of being given up for want of one.
func TestACampaignOpensNoAttemptForWhichThereAreNoPorts(t *testing.T) {
	t.Parallel()
	h := build(t, nil)
	h.shut()
	h.pairs = 4
	h.open()
	who := make([]string, 16)
	for i := range who {
		who[i] = number(3+i/10, i%10, "11")
	}
	id := h.campaign(h.test, h.agent(h.test, menu()), who...)
	_, err := h.services().Campaigns.StartCampaign(t.Context(), h.test, id)
	require.NoError(t, err)
	h.over(h.test, id)
	assert.Equal(t, len(who), h.status(h.test, id).Progress.Attempted)
	begun := 0
	for _, e := range h.events(h.live.WorkspaceID) {
		if e.Type == event.CallStarted {
			begun++
		}
	}
	assert.Equal(t, len(who), begun, "each of them once")
}
