package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

// The requests with which a new client creates and starts its first campaign succeed.
func TestFirstCampaignOfNewClient(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	ws := d.must(200, "PATCH", "/v1/workspace", "operator", m{"plan": "enterprise", "limits": m{
		"requests_per_minute": 1000000, "concurrent_inbound": 1000, "concurrent_outbound": 1000, "calls_per_minute": 100000,
	}}).json(t)
	assert.InDelta(t, 100000, ws["limits"].(m)["calls_per_minute"], 0)
	trunk := d.must(201, "POST", "/v1/trunks", "operator", m{"name": "bar", "proxies": []m{{"host": "127.0.0.1", "port": 5060, "transport": "udp"}}, "auth": m{"username": "u", "password": "hidden"}})
	assert.NotContains(t, string(trunk.Body), "hidden")
	assert.Equal(t, []any{}, trunk.json(t)["caller_ids"])
	agent := d.create("/v1/agents", m{"name": "bar", "pathway_id": d.create("/v1/pathways", goodPathway())})
	hook := d.must(201, "POST", "/v1/webhooks", "operator", m{"url": "https://127.0.0.1:9/hook", "events": []string{"*"}, "secret": "whsec_bar_secret_0123456789abcdef"}).json(t)
	assert.Equal(t, "whsec_bar_secret_0123456789abcdef", hook["secret"])
	shown := d.must(200, "GET", "/v1/webhooks/"+hook["id"].(string), "operator", nil)
	assert.NotContains(t, string(shown.Body), "whsec_bar")

	var contacts []m
	for n := 1000; n < 1030; n++ {
		contacts = append(contacts, m{"phone": fmt.Sprintf("+1202555%04d", n), "context": m{"name": fmt.Sprint("N", n)}})
	}
	c := d.must(201, "POST", "/v1/campaigns", "operator", m{
		"name": "bar", "agent_id": agent, "caller_id": m{"number": "+12025550100"},
		"compliance": m{"calling_hours": m{"start": "00:00", "end": "24:00", "timezone": "UTC"}},
		"contacts":   contacts, "pacing": m{"calls_per_minute": 6000, "max_concurrent": 10},
	}).json(t)
	assert.Equal(t, "draft", c["status"])
	slower := d.must(201, "POST", "/v1/campaigns", "operator", m{"name": "bar", "agent_id": agent, "pacing": m{"mode": "adaptive"}}).json(t)
	assert.Equal(t, "adaptive", slower["pacing"].(m)["mode"])
	assert.Equal(t, m{"received": 30.0, "accepted": 30.0, "duplicates": 0.0, "invalid": 0.0, "dnc": 0.0, "destination_not_allowed": 0.0, "missing_variables": 0.0}, c["contacts_summary"])
	assert.Equal(t, []any{}, c["contact_errors"])
	id := c["id"].(string)
	alias := strings.Replace(id, "campaign_", "camp_", 1)
	assert.Equal(t, "running", d.must(200, "POST", "/v1/campaigns/"+alias+"/start", "operator", nil, "Content-Type", "application/json").json(t)["status"])
	assert.Equal(t, "running", d.must(200, "GET", "/v1/campaigns/"+id+"/status", "operator", nil).json(t)["status"])
	csv := d.must(200, "GET", "/v1/campaigns/"+id+"/results", "operator", nil)
	assert.Equal(t, "phone,name,outcome,duration,confirmed,notes,completed_at,reason\r\n", string(csv.Body))
	assert.Equal(t, "cancelled", d.must(200, "POST", "/v1/campaigns/"+id+"/cancel", "operator", m{"hangup_active": true}).json(t)["status"])
	state := d.must(409, "POST", "/v1/campaigns/"+id+"/pause", "operator", nil).failure(t)
	assert.Equal(t, []any{"invalid_state", "draft", []any{"running", "scheduled"}}, []any{state["code"], state["current_status"], state["allowed_from"]})

	call := d.create("/v1/calls/outbound", m{"to": "+12025550123", "agent_id": agent})
	assert.Len(t, d.must(200, "GET", "/v1/calls?campaign_id="+id+"&limit=1&status=active&direction=outbound", "operator", nil).json(t)["data"], 1)
	d.must(200, "GET", "/v1/calls/"+call, "operator", nil)
	d.must(200, "POST", "/v1/calls/"+call+"/hangup", "operator", nil)
	assert.Equal(t, "ready", d.must(200, "GET", "/v1/calls/"+call+"/transcript", "operator", nil).json(t)["status"])
	busy := d.must(429, "POST", "/v1/calls/outbound", "operator", m{"to": "+12025550199", "agent_id": agent}).failure(t)
	assert.Equal(t, []any{"concurrent_limit_exceeded", 5.0, 5.0}, []any{busy["code"], busy["active_calls"], busy["limit"]})
}

func TestCampaignWithoutCallerIDNeedsWorkspaceNumber(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	agent := d.create("/v1/agents", m{"name": "a", "first_message": "Hello."})
	d.callerIDs = nil
	body := m{"name": "million", "agent_id": agent, "contacts": []m{}}
	assert.Equal(t, "caller_id_required", d.must(422, "POST", "/v1/campaigns", "operator", body).failure(t)["code"])
	assert.Equal(t, "caller_id_required", d.must(422, "POST", "/v1/campaigns", "all", body).failure(t)["code"])
	d.callerIDs = []string{"+12025550100"}
	c := d.must(201, "POST", "/v1/campaigns", "all", body).json(t)
	assert.Equal(t, m{"number": ""}, c["caller_id"], "the trunk chooses the caller ID of each call")
	body["caller_id"] = m{"number": "+12025550177"}
	for _, key := range []string{"all", "operator"} {
		assert.Equal(t, "caller_id_not_allowed", d.must(422, "POST", "/v1/campaigns", key, body).failure(t)["code"])
	}
}

func TestCampaignDefaults(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	agent := d.create("/v1/agents", m{"name": "a", "first_message": "Hello."})
	c := d.must(201, "POST", "/v1/campaigns", "operator", m{"name": "bar", "agent_id": agent}).json(t)
	for _, meta := range []string{"id", "object", "workspace_id", "environment", "created_at", "updated_at", "upload_id", "contacts_summary", "contact_errors"} {
		delete(c, meta)
	}
	assert.Equal(t, m{
		"name": "bar", "status": "draft", "agent_id": agent, "auto_complete": true, "default_country": "US",
		"schedule":   m{"timezone": "UTC", "days": []any{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}, "excluded_dates": []any{}},
		"pacing":     m{"calls_per_minute": 1200.0, "max_concurrent": 200.0, "mode": "fixed"},
		"retry":      m{"enabled": false, "max_attempts": 1.0, "interval_hours": 0.0, "retry_on": []any{}},
		"caller_id":  m{"number": ""},
		"compliance": m{"dnc_scrub": true, "calling_hours": m{"start": "08:00", "end": "21:00", "timezone": "local"}},
	}, c)
}

func TestCampaignErrorsAreReportedTogether(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	problemParams := func(pacing, retry m) (params []string) {
		e := d.must(http.StatusUnprocessableEntity, "POST", "/v1/campaigns", "all", m{
			"name": "", "agent_id": "agent_1",
			"schedule":   m{"timezone": "Mars/Olympus", "days": []string{"moonday"}, "excluded_dates": []string{"1 May"}, "start": "2099-01-02T00:00:00Z", "end": "2099-01-01T00:00:00Z"},
			"pacing":     pacing,
			"retry":      retry,
			"webhooks":   m{"call.ended": "https://example.com", "campaign.call_completed": "http://example.com"},
			"compliance": m{"calling_hours": m{"start": "8", "end": "25:00", "timezone": "nowhere"}, "dnc_list_id": "dnc_1", "opt_out_handling": m{"action": "cry"}},
			"caller_id":  m{"number": "12"},
		}).failure(t)
		for _, p := range e["details"].([]any) {
			params = append(params, fmt.Sprint(p.(m)["param"], " ", p.(m)["code"]))
		}
		return params
	}
	lists := []string{"retry.retry_on[0] validation_error", "schedule.days[0] validation_error"}
	byRules := []string{
		"name validation_error", "agent_id validation_error", "schedule.timezone validation_error", "schedule.end validation_error",
		"schedule.excluded_dates[0] validation_error", "pacing.max_concurrent exceeds_plan_limit",
		"caller_id.number validation_error", "compliance.calling_hours.start validation_error", "compliance.calling_hours.end validation_error",
		"compliance.calling_hours.timezone validation_error", "compliance.dnc_list_id validation_error", "compliance.opt_out_handling.action validation_error",
		"webhooks validation_error", "webhooks.campaign.call_completed invalid_url",
	}
	assert.Equal(t, slices.Concat(lists, byRules), problemParams(m{"max_concurrent": 9999}, m{"enabled": true, "max_attempts": 9, "retry_on": []string{"bad_mood"}}))
	bounds := []string{"pacing.calls_per_minute validation_error", "retry.max_attempts validation_error"}
	assert.Equal(t, slices.Concat(bounds, lists, byRules),
		problemParams(m{"calls_per_minute": 0, "max_concurrent": 9999}, m{"enabled": true, "max_attempts": 99, "retry_on": []string{"bad_mood"}}))
	one := d.must(422, "POST", "/v1/campaigns", "operator", m{"name": "x", "agent_id": "agent_" + ulidOf(1), "pacing": m{"max_concurrent": 201}}).failure(t)
	assert.Equal(t, []any{"exceeds_plan_limit", "pacing.max_concurrent"}, []any{one["code"], one["param"]})
	require.Contains(t, one["message"], "201")
}

func TestEmptyBodyErrorListsRequiredMembersOnly(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	e := d.must(422, "POST", "/v1/calls/outbound", "operator", m{}).failure(t)
	require.Len(t, e["details"], 1)
	assert.Equal(t, "to", e["details"].([]any)[0].(m)["param"], "agent_id is optional with pathway_id")
}
