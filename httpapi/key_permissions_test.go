package httpapi_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func TestAPIKeyCannotCreateKeyWithMorePermissions(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	created := d.must(201, "POST", "/v1/api-keys", "all", m{"name": "k", "permissions": []string{"calls:read"}})
	k := created.json(t)
	assert.Equal(t, []any{"svc_sk_live_secret", "live", "key_all", "wxyz"}, []any{k["key"], k["environment"], k["parent_id"], k["last4"]})
	id := k["id"].(string)
	for _, r := range []reply{created, d.must(200, "GET", "/v1/api-keys/"+id, "all", nil), d.must(200, "GET", "/v1/api-keys", "all", nil)} {
		assert.NotContains(t, string(r.Body), "hash")
	}
	assert.NotContains(t, d.must(200, "GET", "/v1/api-keys/"+id, "all", nil).json(t), "key")
	for _, c := range []struct {
		key  string
		body m
		code string
	}{
		{"*:write", m{"name": "k", "permissions": []string{"calls:read"}}, "insufficient_permissions"},
		{"all", m{"name": "k", "permissions": []string{}}, "validation_error"},
		{"all", m{"name": "k", "permissions": []string{"calls:listen"}}, "validation_error"},
		{"all", m{"name": "k", "permissions": []string{"*:read"}, "allowed_ips": []string{"10.0.0.0/33"}}, "validation_error"},
		{"all", m{"name": "k", "permissions": []string{"*:read"}, "expires_at": "2001-01-01T00:00:00Z"}, "validation_error"},
		{"all", m{"name": "k", "permissions": []string{"*:read"}, "environment": "moon"}, "validation_error"},
		{"all", m{"name": "k", "permissions": []string{"*:read"}, "operator": true}, "validation_error"},
	} {
		assert.Equal(t, c.code, d.do("POST", "/v1/api-keys", c.key, c.body).failure(t)["code"], c.body)
	}
	test := d.keys["all"]
	test.Environment = domain.Test
	d.keys["test"] = test
	assert.Equal(t, "insufficient_permissions", d.must(403, "POST", "/v1/api-keys", "test", m{"name": "k", "permissions": []string{"*:read"}, "environment": "live"}).failure(t)["code"])
	d.must(200, "PUT", "/v1/api-keys/"+id, "all", m{"allowed_ips": []string{}})
	op := d.apiKeys.add(&domain.APIKey{Name: "op", Operator: true}).ID
	assert.Equal(t, "operator_required", d.must(403, "DELETE", "/v1/api-keys/"+op, "all", nil).failure(t)["code"])
	assert.Equal(t, "operator_required", d.must(403, "PUT", "/v1/api-keys/"+op, "all", m{"allowed_ips": []string{"192.0.2.1"}}).failure(t)["code"])
	assert.Equal(t, m{"id": op, "object": "api_key", "deleted": true, "ended": []any{}, "remaining": []any{}}, d.must(200, "DELETE", "/v1/api-keys/"+op, "operator", nil).json(t))
}

func TestAPIKeyCannotManageKeyWithMorePermissions(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	strong := d.apiKeys.add(&domain.APIKey{Name: "strong", Permissions: []domain.Permission{domain.AllRead, domain.AllWrite}, AllowedIPs: []string{"192.0.2.1"}}).ID
	reads := d.apiKeys.add(&domain.APIKey{Name: "reads", Permissions: []domain.Permission{domain.CallsRead}}).ID
	weak := d.apiKeys.add(&domain.APIKey{Name: "weak", Permissions: []domain.Permission{domain.CallsWrite}}).ID
	for _, id := range []string{strong, reads} {
		for _, body := range []m{{"allowed_ips": []string{}}, {"name": "mine"}} {
			e := d.must(403, "PUT", "/v1/api-keys/"+id, "*:write", body).failure(t)
			assert.Equal(t, "insufficient_permissions", e["code"])
			assert.NotEmpty(t, e["required"])
		}
		assert.Equal(t, "insufficient_permissions", d.must(403, "DELETE", "/v1/api-keys/"+id, "*:write", nil).failure(t)["code"])
	}
	stored := d.must(200, "GET", "/v1/api-keys/"+strong, "all", nil).json(t)
	assert.Equal(t, []any{"strong", []any{"192.0.2.1"}}, []any{stored["name"], stored["allowed_ips"]})
	d.must(200, "PUT", "/v1/api-keys/"+weak, "*:write", m{"allowed_ips": []string{"10.0.0.0/8"}})
	d.must(200, "DELETE", "/v1/api-keys/"+weak, "*:write", nil)
	d.must(200, "DELETE", "/v1/api-keys/"+strong, "all", nil)
	d.must(200, "DELETE", "/v1/api-keys/"+reads, "operator", nil)
}

func TestOnlyOperatorsChangePlanAndLimits(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for _, body := range []m{{"plan": "starter"}, {"limits": m{"calls_per_minute": 1}}, {"calling": m{"countries": []string{"*"}}}} {
		assert.Equal(t, "operator_required", d.must(403, "PATCH", "/v1/workspace", "all", body).failure(t)["code"])
		d.must(200, "PATCH", "/v1/workspace", "operator", m{"plan": "enterprise"})
	}
	w := d.must(200, "PATCH", "/v1/workspace", "operator", m{"plan": "starter", "name": "mine"}).json(t)
	assert.Equal(t, []any{"mine", m{"requests_per_minute": 60.0, "concurrent_inbound": 5.0, "concurrent_outbound": 5.0, "calls_per_minute": 10.0}}, []any{w["name"], w["limits"]})
	e := d.must(422, "PATCH", "/v1/workspace", "operator", m{"limits": m{"calls_per_minute": 1}}).failure(t)
	assert.Equal(t, "limits", e["param"])
	w = d.must(200, "PATCH", "/v1/workspace", "operator", m{"default_country": "US", "calling": m{"countries": []string{}}}).json(t)
	assert.Equal(t, []any{"US"}, w["calling"].(m)["countries"])
	w = d.must(200, "PATCH", "/v1/workspace", "all", m{"default_country": "DE"}).json(t)
	assert.Equal(t, []any{"DE", []any{"US"}}, []any{w["default_country"], w["calling"].(m)["countries"]}, "the default country does not change the calling countries")
	d.must(422, "PATCH", "/v1/workspace", "all", m{"default_country": "Germany"})
}

func TestWorkspaceResponseHasEnvironmentOfKey(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.keys["tester"] = domain.Principal{KeyID: "k", WorkspaceID: d.workspace.ID, Environment: domain.Test, Permissions: []domain.Permission{domain.AllRead, domain.AllWrite}}
	assert.Equal(t, "test", d.must(200, "GET", "/v1/workspace", "tester", nil).json(t)["environment"])
	w := d.must(200, "PATCH", "/v1/workspace", "tester", m{"name": "tried out"}).json(t)
	assert.Equal(t, []any{"test", domain.DefaultDNCID(d.workspace.ID, domain.Test)}, []any{w["environment"], w["default_dnc_list_id"]})
	assert.Equal(t, domain.Live, d.workspace.Environment, "the workspace holds both environments")
}

func TestRedactionPatternsAreValidated(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	assert.Equal(t, m{"patterns": []any{}}, d.must(200, "GET", "/v1/workspace", "all", nil).json(t)["redaction"], "the workspace never had redaction patterns")
	w := d.must(200, "PATCH", "/v1/workspace", "all", m{"redaction": m{"patterns": []string{`\d{13,16}`, `(?i)policy \w+`}}}).json(t)
	assert.Equal(t, m{"patterns": []any{`\d{13,16}`, `(?i)policy \w+`}}, w["redaction"])
	for param, patterns := range map[string][]string{
		"redaction.patterns[1]": {`\d{4}`, `(\d`},
		"redaction.patterns[0]": {" "},
		"redaction.patterns":    {`\w{300}`, `x{200}`},
	} {
		assert.Equal(t, param, d.must(422, "PATCH", "/v1/workspace", "all", m{"redaction": m{"patterns": patterns}}).failure(t)["param"])
	}
	d.must(422, "PATCH", "/v1/workspace", "all", m{"redaction": m{"patterns": slices.Repeat([]string{"x"}, 21)}})
	w = d.must(200, "PATCH", "/v1/workspace", "all", m{"name": "other", "redaction": m{}}).json(t)
	assert.Equal(t, m{"patterns": []any{`\d{13,16}`, `(?i)policy \w+`}}, w["redaction"], "an omitted field keeps its value")
	w = d.must(200, "PATCH", "/v1/workspace", "all", m{"redaction": m{"patterns": []string{}}}).json(t)
	assert.Equal(t, m{"patterns": []any{}}, w["redaction"])
}

func TestEventsNeedReadPermissionForTheirResource(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.keys["calls and analytics"] = domain.Principal{KeyID: "k", WorkspaceID: d.workspace.ID, Permissions: []domain.Permission{domain.AnalyticsRead, domain.CallsRead}}
	assert.Equal(t, []any{}, d.must(200, "GET", "/v1/events?type=call.*", "analytics:read", nil).json(t)["data"])
	assert.Nil(t, d.eventTypes, "the key may read no events, so no events are fetched")
	d.must(200, "GET", "/v1/events", "analytics:read", nil)
	assert.Equal(t, []string{"campaign.call.completed"}, d.eventTypes, "the events of a result row")
	l := d.must(200, "GET", "/v1/events?type=call.initiated,agent.*", "calls and analytics", nil).json(t)
	assert.Equal(t, []string{"call.started"}, d.eventTypes)
	assert.Equal(t, []any{"call_x", "completed"}, []any{l["data"].([]any)[0].(m)["subject"], l["data"].([]any)[0].(m)["data"].(m)["disposition"]})
	d.must(200, "GET", "/v1/events", "*:read", nil)
	assert.Len(t, d.eventTypes, 39)
	e := d.must(200, "GET", "/v1/events/evt_"+ulidOf(1), "calls and analytics", nil).json(t)
	assert.Equal(t, []any{"evt_" + ulidOf(1), "call.ended"}, []any{e["id"], e["type"]})
	assert.Equal(t, []any{"calls:read"}, d.must(403, "GET", "/v1/events/evt_"+ulidOf(1), "analytics:read", nil).failure(t)["required"])
	assert.Equal(t, "cursor_expired", d.must(410, "GET", "/v1/events?after=evt_"+ulidOf(9), "operator", nil).failure(t)["code"])
}

func TestTrunkAndWebhookSecretsAreNeverReturned(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	trunk := d.create("/v1/trunks", m{"name": "t", "proxies": []m{{"host": "sip.example.com"}}, "auth": m{"username": "u", "password": "hidden"}})
	for _, r := range []reply{
		d.must(200, "GET", "/v1/trunks", "operator", nil), d.must(200, "GET", "/v1/trunks/"+trunk, "operator", nil),
		d.must(200, "PATCH", "/v1/trunks/"+trunk, "operator", m{"auth": m{"username": "v"}}),
	} {
		assert.NotContains(t, string(r.Body), "hidden")
	}
	stored, err := d.trunks.get(trunk)
	require.NoError(t, err)
	assert.Equal(t, domain.TrunkAuth{Username: "v", Password: "hidden"}, *stored.Auth)
	var hints []string
	for _, body := range []m{{"url": "http://example.com", "events": []string{"*"}}, {"url": "https://example.com", "events": []string{"call.eaten"}}, {"url": "https://u@example.com", "events": []string{"*"}, "secret": "short"}} {
		e := d.must(422, "POST", "/v1/webhooks", "operator", body).failure(t)
		hints = append(hints, e["code"].(string)+" "+e["param"].(string))
	}
	assert.Equal(t, []string{"invalid_url url", "validation_error events[0]", "validation_error url"}, hints)
	own := d.create("/v1/webhooks", m{"url": "https://example.com", "events": []string{"*"}, "secret": "the first secret"})
	turned := d.must(200, "PATCH", "/v1/webhooks/"+own, "operator", m{"secret": "another secret"}).json(t)
	assert.Equal(t, []any{"another secret", "2026-03-02T12:00:00.000Z"}, []any{turned["secret"], turned["next_secret_at"]})
	updated := d.must(200, "PATCH", "/v1/webhooks/"+own, "operator", m{"secret": "", "secret_overlap_hours": 1}).json(t)
	assert.Equal(t, []any{"whsec_made", "2026-03-01T13:00:00.000Z"}, []any{updated["secret"], updated["next_secret_at"]})
	for _, r := range []reply{
		d.must(200, "GET", "/v1/webhooks/"+own, "operator", nil), d.must(200, "GET", "/v1/webhooks", "operator", nil),
		d.must(200, "PATCH", "/v1/webhooks/"+own, "operator", m{"events": []string{"call.*"}}),
	} {
		assert.NotContains(t, string(r.Body), "first secret")
		assert.NotContains(t, string(r.Body), "another secret")
		assert.NotContains(t, string(r.Body), "whsec_made")
	}
	assert.Equal(t, "secret", d.must(422, "PATCH", "/v1/webhooks/"+own, "operator", m{"secret": "short"}).failure(t)["param"])
	assert.Equal(t, "secret_overlap_hours", d.must(422, "PATCH", "/v1/webhooks/"+own, "operator", m{"secret_overlap_hours": 1}).failure(t)["param"])
	logs := d.must(200, "GET", "/v1/webhooks/"+d.create("/v1/webhooks", m{"url": "https://example.com", "events": []string{"*"}})+"/logs", "operator", nil).json(t)
	assert.Equal(t, []any{4.0, "2026-03-01T12:00:00.000Z", 503.0}, []any{
		logs["logs"].([]any)[0].(m)["retries"], logs["logs"].([]any)[0].(m)["last_retry_at"], logs["logs"].([]any)[0].(m)["response_status"],
	})
}

func TestPathwayErrorsAreReportedTogether(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	bad := m{"name": "", "start": "nowhere", "nodes": []m{{"id": "a", "type": "say", "prompt": "Hello {{stranger}}"}}, "edges": []m{{"from": "a", "to": "b", "when": m{"type": "always"}}}}
	e := d.must(422, "POST", "/v1/pathways", "operator", bad).failure(t)
	r := d.must(200, "POST", "/v1/pathways/validate", "operator", bad).json(t)
	assert.Equal(t, false, r["valid"])
	assert.Equal(t, e["details"], r["errors"])
	assert.GreaterOrEqual(t, len(e["details"].([]any)), 4)
}
