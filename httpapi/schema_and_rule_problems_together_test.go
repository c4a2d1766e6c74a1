package httpapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

// An error response lists both kinds of problems of a body: violated limits of its schema, and violated rules that
// the schema cannot express.
func TestResponseListsProblemsOfSchemaAndRulesTogether(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	long := strings.Repeat("x", 5000)
	agent := "agent_" + ulidOf(1)
	for route, c := range map[string]struct {
		body    m
		schema  string
		byRules string
	}{
		"/v1/trunks":         {m{"name": long, "proxies": []m{{"host": "sip.example.com"}}, "costs": []m{{"prefix": "+", "cost": "1e3"}}}, "name", "costs[0].cost"},
		"/v1/agents":         {m{"name": long, "first_message": "Hello.", "timezone": "Mars/Base"}, "name", "timezone"},
		"/v1/alert-rules":    {m{"name": long, "kind": "trunk_down", "emails": []string{"nobody"}}, "name", "emails"},
		"/v1/sms-gateways":   {m{"name": long, "url": "nonsense"}, "name", "url"},
		"/v1/providers":      {m{"name": long, "timezone": "Mars/Base"}, "name", "timezone"},
		"/v1/tools":          {m{"name": "t", "description": long, "parameters": m{"type": "array"}, "http": m{"method": "GET", "url": "https://example.com"}}, "description", "parameters"},
		"/v1/phones":         {m{"name": long, "extension": "x"}, "name", "extension"},
		"/v1/workspaces":     {m{"name": long, "allowed_origins": []string{"nowhere"}}, "name", "allowed_origins"},
		"/v1/users":          {m{"name": long, "role": "viewer", "allowed_ips": []string{"nowhere"}}, "name", "allowed_ips"},
		"/v1/api-keys":       {m{"name": long, "permissions": []string{"calls:read"}, "allowed_ips": []string{"nowhere"}}, "name", "allowed_ips"},
		"/v1/webhooks":       {m{"url": "https://example.com/hook", "events": []string{"no.such"}, "secret": long}, "secret", "events[0]"},
		"/v1/phone-numbers":  {m{"number": "12", "agent_id": long}, "agent_id", "number"},
		"/v1/appointments":   {m{"patient": m{"name": long, "phone": "12"}, "provider": "Dr. Rivera", "datetime": "2030-01-02T10:00:00Z"}, "patient.name", "patient.phone"},
		"/v1/campaigns":      {m{"name": long, "agent_id": agent, "schedule": m{"timezone": "Mars/Base"}}, "name", "schedule.timezone"},
		"/v1/calls/outbound": {m{"to": "+12025550123", "agent_id": agent, "ring_timeout_seconds": 100000, "compliance": m{"calling_hours": m{"start": "25:00", "end": "09:00"}}}, "ring_timeout_seconds", "compliance.calling_hours"},
	} {
		f := d.must(422, "POST", route, "operator", c.body).failure(t)
		var params []string
		list, _ := f["details"].([]any)
		for _, x := range list {
			detail, _ := x.(m)
			param, _ := detail["param"].(string)
			params = append(params, param)
		}
		assert.Contains(t, params, c.schema, route)
		assert.Contains(t, strings.Join(params, " "), c.byRules, route)
		assert.Equal(t, params[0], f["param"], route)
		seen := map[string]bool{}
		for _, p := range params {
			assert.False(t, seen[p], "problem %s of %s is reported twice", p, route)
			seen[p] = true
		}
	}

	f := d.must(422, "POST", "/v1/trunks", "operator", m{"name": 5, "costs": []m{{"prefix": "+", "cost": "1e3"}}}).failure(t)
	assert.NotContains(t, f["details"], "cost", "a field that cannot be decoded is not checked against the rules")
}
