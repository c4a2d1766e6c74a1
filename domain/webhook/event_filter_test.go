package webhook_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

func TestEventPassesIfItMatchesEveryFilter(t *testing.T) {
	call := `{"call_id":"call_1","direction":"inbound","agent_id":"agent_1","campaign_id":"campaign_1","from":"+12025550100","to":"+12025550123"}`
	sms := `{"message_id":"msg_1","from":"+12025550100","to":"+12025550123"}`
	for _, c := range []struct {
		name    string
		filters *domain.EventFilters
		owner   string
		subject string
		data    string
		want    bool
	}{
		{"no filter", nil, "", "call_1", call, true},
		{"empty filters", &domain.EventFilters{}, "", "call_1", call, true},
		{"its agent", &domain.EventFilters{AgentIDs: []string{"agent_2", "agent_1"}}, "", "call_1", call, true},
		{"another agent", &domain.EventFilters{AgentIDs: []string{"agent_2"}}, "", "call_1", call, false},
		{"its agent, another direction", &domain.EventFilters{AgentIDs: []string{"agent_1"}, Directions: []domain.Direction{domain.Outbound}}, "", "call_1", call, false},
		{"all at once", &domain.EventFilters{
			AgentIDs: []string{"agent_1"}, CampaignIDs: []string{"campaign_1"}, Directions: []domain.Direction{domain.Inbound}, Numbers: []string{"+12025550123"},
		}, "", "call_1", call, true},
		{"a number of a message", &domain.EventFilters{Numbers: []string{"+12025550100"}}, "", "msg_1", sms, true},
		{"an agent of a message", &domain.EventFilters{AgentIDs: []string{"agent_1"}}, "", "msg_1", sms, false},
		{"a campaign by its subject", &domain.EventFilters{CampaignIDs: []string{"campaign_1"}}, "", "campaign_1", `{"name":"x"}`, true},
		{"an agent by its subject", &domain.EventFilters{AgentIDs: []string{"agent_1"}}, "", "agent_1", `{"id":"agent_1"}`, true},
		{"nothing that can be read", &domain.EventFilters{Directions: []domain.Direction{domain.Inbound}}, "", "call_1", `[]`, false},
		{"the campaign that owns it", nil, "campaign_1", "call_1", call, true},
		{"another campaign owns it", nil, "campaign_2", "call_1", call, false},
		{"the owner, and a filter", &domain.EventFilters{AgentIDs: []string{"agent_2"}}, "campaign_1", "call_1", call, false},
		{"the phone of somebody who opted out", &domain.EventFilters{Numbers: []string{"+12025550199"}}, "", "call_1", `{"phone":"+12025550199"}`, true},
	} {
		w := &domain.Webhook{Meta: domain.Meta{Environment: domain.Live}, Events: []string{"call.initiated", "call.ended"}, Filters: c.filters, CampaignID: c.owner}
		e := &event.Event{Type: event.CallStarted, Environment: domain.Live, Subject: c.subject, Data: json.RawMessage(c.data)}
		name, ok := webhook.MatchEvent(w, e, func() event.Attributes { return event.AttributesOf(e) })
		assert.Equal(t, c.want, ok, c.name)
		assert.Equal(t, "call.initiated", name, c.name)
		e.Environment = domain.Test
		_, ok = webhook.MatchEvent(w, e, nil)
		assert.False(t, ok, c.name)
		e.Environment, e.Type = domain.Live, event.SMSSent
		_, ok = webhook.MatchEvent(w, e, nil)
		assert.False(t, ok, "it is not subscribed to this")
	}
}

func TestEventSubjectsTakePrecedenceOverPayload(t *testing.T) {
	t.Parallel()
	said := &event.Attributes{AgentID: "agent_1", CampaignID: "campaign_1", Direction: domain.Inbound, From: "+12025550100", To: "+12025550123"}
	for data, want := range map[string]event.Attributes{
		`{"call_id":"call_1"}`:                         *said,
		`{"call_id":"call_1","agent_id":"agent_2"}`:    {AgentID: "agent_2", CampaignID: "campaign_1", Direction: domain.Inbound, From: "+12025550100", To: "+12025550123"},
		`{"call_id":"call_1","to":"+12025550199"}`:     *said, // payload of a transfer
		`{"campaign_id":"campaign_1","phone":"+1202"}`: *said,
	} {
		assert.Equal(t, want, event.AttributesOf(&event.Event{Subject: "call_1", Data: json.RawMessage(data), Attributes: said}), data)
	}
	assert.Equal(t, event.Attributes{From: "+1202"}, event.AttributesOf(&event.Event{Subject: "call_1", Data: json.RawMessage(`{"phone":"+1202"}`), Attributes: &event.Attributes{}}))
}
