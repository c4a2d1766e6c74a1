package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

func TestOnlyOperatorsListWorkspaces(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	created := d.must(201, "POST", "/v1/workspaces", "operator", m{"name": "acme"}).json(t)
	assert.Equal(t, []any{"acme", "starter", "svc_sk_live_first"}, []any{created["name"], created["plan"], created["key"]})
	assert.Equal(t, m{"requests_per_minute": 60.0, "concurrent_inbound": 5.0, "concurrent_outbound": 5.0, "calls_per_minute": 10.0}, created["limits"])
	id, _ := created["id"].(string)
	for _, c := range [][2]string{
		{"GET", "/v1/workspaces"}, {"GET", "/v1/workspaces/" + id}, {"PATCH", "/v1/workspaces/" + id}, {"DELETE", "/v1/workspaces/" + id}, {"POST", "/v1/workspaces"},
	} {
		var body any
		if c[0] == "PATCH" || c[0] == "POST" {
			body = m{"name": "x"}
		}
		assert.Equal(t, "operator_required", d.must(403, c[0], c[1], "all", body).failure(t)["code"], "%v", c)
	}
	r := d.must(201, "POST", "/v1/workspaces", "operator", m{"name": "big", "plan": "enterprise", "default_country": "DE", "limits": m{"concurrent_outbound": 7}}).json(t)
	assert.InDelta(t, 7, r["limits"].(map[string]any)["concurrent_outbound"], 0)
	assert.Equal(t, []any{"DE"}, r["calling"].(map[string]any)["countries"])
	for body, param := range map[*m]string{{"plan": "starter"}: "name", {"name": "x", "plan": "free"}: "plan", {"name": "x", "limits": m{"calls_per_minute": 3}}: "limits"} {
		assert.Equal(t, param, d.must(422, "POST", "/v1/workspaces", "operator", *body).failure(t)["param"])
	}
	l := d.must(200, "GET", "/v1/workspaces?limit=1", "operator", nil).json(t)
	assert.Equal(t, true, l["has_more"])
	d.must(200, "GET", "/v1/workspaces/"+id, "operator", nil)
	d.must(200, "PATCH", "/v1/workspaces/"+id, "operator", m{"retention": m{"recordings_days": 3}})
	d.must(200, "DELETE", "/v1/workspaces/"+id, "operator", nil)
	assert.Equal(t, "not_found", d.must(404, "GET", "/v1/workspaces/"+id, "operator", nil).failure(t)["code"])
}
