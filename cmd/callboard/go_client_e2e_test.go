package main_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/client"
)

// apiClient returns the public Go client with the test key.
func (s *service) apiClient() *client.Client {
	s.t.Helper()
	return &client.Client{URL: "http://" + s.http, Key: s.testKey(), Retries: 3}
}

func TestGoClientFollowsCampaignThroughCrash(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.apiClient()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	mute, err := c.CreatePathway(ctx, &client.NewPathway{Name: "mute", Start: "bye", Nodes: []client.Node{{ID: "bye", Type: "end"}}})
	require.NoError(t, err)
	agent, err := c.CreateAgent(ctx, &client.NewAgent{Name: "mute", PathwayID: &mute.ID})
	require.NoError(t, err)
	campaign, err := c.CreateCampaign(ctx, &client.NewCampaign{
		Name: "c", AgentID: &agent.ID, Pacing: &client.NewPacing{MaxConcurrent: new(int64(1))},
		CallerID: &client.NewCallerID{Number: new("+15005550100")}, Contacts: []client.NewContact{{Phone: "+15005551011"}, {Phone: "+15005551111"}, {Phone: "+15005551211"}},
	})
	require.NoError(t, err)
	_, err = c.CreateCampaign(ctx, &client.NewCampaign{Name: "nobody speaks"})
	var refusal *client.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, 422, refusal.Status)
	_, err = c.StartCampaign(ctx, campaign.ID)
	require.NoError(t, err)

	var followed []string
	crashed := false
	for e, err := range c.Events(ctx, client.StreamEventsQuery{}) {
		require.NoError(t, err)
		followed = append(followed, e.ID)
		if e.Type == "call.ended" && !crashed {
			crashed = true
			s.kill9()
			s.start()
		}
		if e.Type == "campaign.completed" {
			break
		}
	}
	require.True(t, crashed)
	var listed []string
	for e, err := range c.AllEvents(ctx, client.ListEventsQuery{Limit: 10}) {
		require.NoError(t, err)
		listed = append(listed, e.ID)
		if e.Type == "campaign.completed" {
			break
		}
	}
	assert.Equal(t, listed, followed, "each event once, in order, across the crash")
	st, err := c.GetCampaignStatus(ctx, campaign.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{"completed", int64(3)}, []any{st.Status, st.Progress.Total})
}
