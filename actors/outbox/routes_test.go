package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

func TestEndpointFiltersSelectEventsAndChangesApplyToLaterEvents(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := newFixture(t, sys)
		with := func(f *domain.EventFilters) func(*domain.Webhook) { return func(w *domain.Webhook) { w.Filters = f } }
		s.addWebhook("wh_all", nil)
		s.addWebhook("wh_campaign", func(w *domain.Webhook) { w.CampaignID = "campaign_1" })
		s.addWebhook("wh_agents", with(&domain.EventFilters{AgentIDs: []string{"agent_1", "agent_2", "agent_1"}}))
		s.addWebhook("wh_both", with(&domain.EventFilters{AgentIDs: []string{"agent_2"}, CampaignIDs: []string{"campaign_1", "campaign_2"}}))
		s.addWebhook("wh_in", with(&domain.EventFilters{Directions: []domain.Direction{domain.Inbound}}))
		s.startOutbox()
		call := func(agent, campaign, direction string) string {
			return s.commitEvents(1, func(d *event.Draft) {
				d.Data = map[string]string{"agent_id": agent, "campaign_id": campaign, "direction": direction}
			})[0]
		}
		a := call("agent_1", "campaign_1", "outbound")
		b := call("agent_2", "campaign_2", "outbound")
		c := call("agent_2", "", "inbound")
		started := s.commitEvents(1, func(d *event.Draft) {
			d.Type, d.Subject, d.Data = event.CampaignStarted, "campaign_1", map[string]string{}
		})[0]
		advanceTime(time.Second)
		want := map[string][]string{"wh_all": {a, b, c, started}, "wh_campaign": {a, started}, "wh_agents": {a, b, c}, "wh_both": {b}, "wh_in": {c}}
		for id, ids := range want {
			assert.Equal(t, ids, s.queuedEvents(id), id)
		}
		s.addWebhook("wh_in", with(&domain.EventFilters{Directions: []domain.Direction{domain.Outbound}}))
		sys.Root.Send(s.pid, outbox.EndpointDeleted{WebhookID: "wh_agents"})
		d := call("agent_1", "", "outbound")
		advanceTime(time.Second)
		assert.Equal(t, []string{c, d}, s.queuedEvents("wh_in"))
		assert.Empty(t, s.queuedEvents("wh_agents"), "it is gone, with its deliveries")
		s.close()
	})
}

// BenchmarkFanOutWithManyCampaignEndpoints measures how many events per second the outbox queues for two endpoints,
// while a thousand other endpoints have filters for other campaigns.
func BenchmarkFanOutWithManyCampaignEndpoints(b *testing.B) {
	benchmarkFanOut(b, func(s *fixture) {
		for n := range 1000 {
			s.addWebhook(fmt.Sprint("wh_other_", n), func(w *domain.Webhook) { w.CampaignID = fmt.Sprint("campaign_", n) })
		}
	})
}
