package httpapi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func TestWebhookFiltersAreValidatedReplacedAndRemoved(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	body := func(f m) m { return m{"url": "https://example.com", "events": []string{"*"}, "filters": f} }
	e := d.must(422, "POST", "/v1/webhooks", "operator", body(m{
		"agent_ids": []string{"agent_1"}, "campaign_ids": []string{"agent_" + ulidOf(1)}, "directions": []string{"inbound"}, "numbers": []string{"12"},
	})).failure(t)
	var params []any
	for _, detail := range e["details"].([]any) {
		params = append(params, detail.(m)["param"])
	}
	assert.Equal(t, []any{"filters.agent_ids[0]", "filters.campaign_ids[0]", "filters.numbers[0]"}, params)
	d.must(422, "POST", "/v1/webhooks", "operator", body(m{"directions": []string{"up"}}))
	d.must(422, "POST", "/v1/webhooks", "operator", body(m{"agents": []string{"agent_" + ulidOf(1)}}))
	id := d.create("/v1/webhooks", body(m{"campaign_ids": []string{"camp_" + ulidOf(1)}, "numbers": []string{"+1 202 555 0100"}}))
	get := func() any { return d.must(200, "GET", "/v1/webhooks/"+id, "operator", nil).json(t)["filters"] }
	assert.Equal(t, m{"campaign_ids": []any{"campaign_" + ulidOf(1)}, "numbers": []any{"+12025550100"}}, get())
	d.must(200, "PATCH", "/v1/webhooks/"+id, "operator", m{"events": []string{"call.*"}})
	assert.NotNil(t, get(), "an omitted field keeps its value")
	d.must(200, "PATCH", "/v1/webhooks/"+id, "operator", m{"filters": m{"directions": []string{"inbound"}}})
	assert.Equal(t, m{"campaign_ids": []any{"campaign_" + ulidOf(1)}, "directions": []any{"inbound"}, "numbers": []any{"+12025550100"}}, get(), "the patch is merged by field")
	d.must(422, "PATCH", "/v1/webhooks/"+id, "operator", m{"filters": m{"directions": []string{"down"}}})
	d.must(200, "PATCH", "/v1/webhooks/"+id, "operator", m{"filters": nil})
	assert.Nil(t, get())
	assert.Equal(t, "event", d.must(422, "GET", "/v1/webhooks?event=call.eaten", "operator", nil).failure(t)["param"])
	d.must(422, "GET", "/v1/webhooks?status=asleep", "operator", nil)
	d.must(200, "GET", "/v1/webhooks?status=paused&event=call.initiated", "operator", nil)
}

func TestRetryTimeFactorNeedsTestEnvironment(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.keys["tester"] = domain.Principal{KeyID: "k", WorkspaceID: d.workspace.ID, Environment: domain.Test, Permissions: []domain.Permission{domain.AllRead, domain.AllWrite}}
	body := func(factor any) m {
		return m{"url": "https://example.com/hook", "events": []string{"*"}, "retry_time_factor": factor}
	}
	for _, factor := range []any{0, 1441, 1.5, "60"} {
		assert.Equal(t, "retry_time_factor", d.must(422, "POST", "/v1/webhooks", "tester", body(factor)).failure(t)["param"], factor)
	}
	live := d.must(422, "POST", "/v1/webhooks", "operator", body(60)).failure(t)
	assert.Equal(t, []any{"retry_time_factor", "retry_time_factor: is for the test environment: use a test key"}, []any{live["param"], live["message"]})
	id := d.create("/v1/webhooks", m{"url": "https://example.com/hook", "events": []string{"*"}})
	assert.Equal(t, "retry_time_factor", d.must(422, "PATCH", "/v1/webhooks/"+id, "operator", m{"retry_time_factor": 60}).failure(t)["param"])
	created := d.must(201, "POST", "/v1/webhooks", "tester", body(1440)).json(t)
	path := "/v1/webhooks/" + created["id"].(string)
	assert.EqualValues(t, 1440, created["retry_time_factor"])
	assert.EqualValues(t, 10, d.must(200, "PATCH", path, "tester", m{"retry_time_factor": 10}).json(t)["retry_time_factor"])
	assert.NotContains(t, d.must(200, "PATCH", path, "tester", m{"retry_time_factor": nil}).json(t), "retry_time_factor")
}

func TestWebhookTestKeepsRequestedEventType(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/webhooks/" + d.create("/v1/webhooks", m{"url": "https://example.com/hook", "events": []string{"call.initiated"}}) + "/test"
	for asked, want := range map[string]string{"call.initiated": "call.initiated", "call.started": "call.started", "": "webhook.test"} {
		body := m{}
		if asked != "" {
			body["event_type"] = asked
		}
		assert.Equal(t, want, d.must(200, "POST", path, "operator", body).json(t)["error"], "the service gets the requested event type")
	}
}

func TestWebhookReplayByTimeIsValidated(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/webhooks/" + d.create("/v1/webhooks", m{"url": "https://example.com/hook", "events": []string{"*"}}) + "/replay"
	const from, to = "2030-01-15T12:00:00Z", "2030-01-15T13:00:00Z"
	one := []string{"evt_" + ulidOf(1)}
	for param, body := range map[string]m{
		"event_ids": {},
		"to":        {"from": to, "to": from},
		"types[1]":  {"from": from, "to": to, "types": []string{"call.*", "call.exploded"}},
	} {
		details := d.must(422, "POST", path, "operator", body).failure(t)
		assert.Contains(t, fmt.Sprint(details), param)
	}
	for name, body := range map[string]m{
		"ids and from": {"event_ids": one, "from": from}, "ids and to": {"event_ids": one, "to": to}, "ids and types": {"event_ids": one, "types": []string{"call.*"}},
		"invalid from": {"from": "yesterday"}, "to without from": {"to": to}, "empty period": {"from": from, "to": from},
	} {
		assert.Equal(t, 422, d.do("POST", path, "operator", body).Status, name)
	}
	d.must(202, "POST", path, "operator", m{"from": from, "to": to, "types": []string{"call.*", "call.initiated"}, "dry_run": true})
}
