package httpapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

func TestBulkItemsAreValidatedSeparately(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	agent := "agent_" + ulidOf(1)
	r := d.must(202, "POST", "/v1/bulk/calls", "operator", m{
		"defaults": m{"agent_id": agent, "ring_timeout_seconds": 20, "context": m{"a": "1", "b": "2"}},
		"items": []any{
			m{"to": "+12025550123", "context": m{"b": "3"}},
			m{"to": 5},
			m{"ring_timeout_seconds": 4, "to": "+12025550124"},
			m{"to": "+12025550125", "speed": 1},
			"text",
			m{"to": "+12025550126"},
			m{},
			nil,
		},
	}).json(t)
	assert.Equal(t, []any{8.0, 2.0, 6.0}, []any{r["total"], r["accepted"], r["rejected"]})
	for _, hidden := range []string{"key_id", "operator", "next"} {
		assert.NotContains(t, r, hidden)
	}
	var problems [][]any
	for _, e := range r["errors"].([]any) {
		one := e.(map[string]any)
		problems = append(problems, []any{one["index"], one["code"], one["param"]})
	}
	assert.Equal(t, [][]any{
		{1.0, "validation_error", "to"},
		{2.0, "validation_error", "ring_timeout_seconds"},
		{3.0, "validation_error", "speed"},
		{4.0, "validation_error", ""},
		{6.0, "validation_error", "to"},
		{7.0, "validation_error", ""},
	}, problems)
	orders := d.fakeJobs.orders[0].Items
	assert.Equal(t, []string{"1", "3"}, contextTexts(orders[0].Call, "a", "b"))
	assert.Equal(t, []string{"1", "2"}, contextTexts(orders[5].Call, "a", "b"), "an item keeps the defaults of other items")

	d.resetLimits()
	for body, param := range map[*m]string{
		{"items": []m{}}: "items", {"defaults": m{"to": 5}, "items": []m{{}}}: "defaults.to", {}: "items", {"items": make([]m, 10_001)}: "items",
		{"items": []m{{}}, "item": 1}: "item", {"items": 5}: "items", {"items": []m{{}}, "metadata": m{"a": 1}}: "metadata.a",
		{"defaults": m{"context": m{"a": padded(40_000)}}, "items": make([]m, 1000)}:               "defaults",
		{"defaults": m{"to": "+12025550123", "context": m{"a": padded(70_000)}}, "items": []m{{}}}: "defaults.context",
		{"defaults": m{"ring_timeout_seconds": -3}, "items": []m{{}}}:                              "defaults.ring_timeout_seconds",
		{"defaults": m{"agent_id": "x"}, "items": []m{{}}}:                                         "defaults.agent_id",
		{"defaults": m{"compliance": m{"calling_hours": m{"start": "8"}}}, "items": []m{{}}}:       "defaults.compliance.calling_hours.start",
		{"defaults": m{"amd": m{"mode": "guess"}}, "items": []m{{}}}:                               "defaults.amd.mode",
	} {
		d.resetLimits()
		assert.Equal(t, param, d.must(422, "POST", "/v1/bulk/calls", "operator", *body).failure(t)["param"])
	}
	d.resetLimits()
	assert.Equal(t, "defaults.campaign_id", d.must(422, "POST", "/v1/bulk/contacts", "operator", m{"items": []m{{"phone": "1"}}}).failure(t)["param"])
	d.must(400, "POST", "/v1/bulk/calls", "operator", "[")
	d.resetLimits()
	assert.Equal(t, "defaults.body", d.must(422, "POST", "/v1/bulk/sms", "operator", m{"defaults": m{"body": padded(1601)}, "items": []m{{"to": "+12025550123"}}}).failure(t)["param"])
	d.resetLimits()
	d.must(202, "POST", "/v1/bulk/calls", "operator", m{"defaults": m{"voicemail": m{"action": "leave_message"}}, "items": []m{{"to": "+12025550123", "voicemail": m{"message": "Hello."}}}})
}

func TestBulkCallRefusesZeroDuration(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{})
	for _, field := range []string{"ring_timeout_seconds", "max_duration_seconds"} {
		d.resetLimits()
		item := m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1), field: 0}
		r := d.must(202, "POST", "/v1/bulk/calls", "operator", m{"items": []any{item}}).json(t)
		wrong, _ := r["errors"].([]any)
		require.Len(t, wrong, 1, field)
		assert.Equal(t, field, wrong[0].(map[string]any)["param"])
		d.resetLimits()
		f := d.must(422, "POST", "/v1/bulk/calls", "operator", m{"defaults": m{field: 0}, "items": []any{m{"to": "+12025550123"}}}).failure(t)
		assert.Equal(t, "defaults."+field, f["param"])
	}
}

func padded(n int) string { return strings.Repeat("x", n) }

func contextTexts(c *domain.NewCall, names ...string) []string {
	var out []string
	for _, name := range names {
		text, _ := c.Context.Text(name)
		out = append(out, text)
	}
	return out
}

func TestExportNeedsReadPermissionForItsRecords(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	assert.Equal(t, "insufficient_permissions", d.must(403, "POST", "/v1/exports", "calls:read", m{"type": "audit_logs"}).failure(t)["code"])
	assert.Equal(t, "insufficient_permissions", d.must(403, "POST", "/v1/exports", "analytics:read", m{"type": "calls"}).failure(t)["code"])
	d.must(202, "POST", "/v1/exports", "analytics:read", m{"type": "campaign_results", "filters": m{"campaign_id": "campaign_" + ulidOf(1)}})
	results := d.must(202, "POST", "/v1/exports", "analytics:read", m{"type": "events"}).json(t)
	assert.Equal(t, []any{"campaign.call.completed"}, results["filters"].(map[string]any)["types"], "the key may read campaign results, but no other events")
	assert.Equal(t, "insufficient_permissions", d.must(403, "POST", "/v1/exports", "analytics:read", m{"type": "events", "filters": m{"types": []string{"sms.received"}}}).failure(t)["code"])
	d.resetLimits()
	of := d.must(202, "POST", "/v1/exports", "operator", m{"type": "events", "filters": m{"types": []string{"sms.*", "webhook.*"}}}).json(t)
	d.must(403, "GET", "/v1/exports/"+of["id"].(string)+"/download", "calls:read", nil)
	assert.Contains(t, of["filters"].(map[string]any)["types"], "sms.received")
	d.resetLimits()
	for body, param := range map[*m]string{
		{"type": "contacts"}: "filters.campaign_id", {"type": "usage", "filters": m{"status": "x"}}: "filters.status",
		{"type": "calls", "filters": m{"status": "ended"}}: "filters.status", {"type": "events", "filters": m{"types": []string{"call.stopped"}}}: "filters.types",
		{"type": "calls", "filters": m{"created_after": "2026-02-02T00:00:00Z", "created_before": "2026-02-01T00:00:00Z"}}: "filters.created_before",
	} {
		assert.Equal(t, param, d.must(422, "POST", "/v1/exports", "operator", *body).failure(t)["param"])
	}
	d.resetLimits()
	id, _ := d.must(202, "POST", "/v1/exports", "operator", m{"type": "calls"}).json(t)["id"].(string)
	d.must(202, "GET", "/v1/exports/"+id+"/download", "operator", nil)
	id = d.addJob("exports")
	r := d.must(206, "GET", "/v1/exports/"+id+"/download", "calls:read", nil, "Range", "bytes=4-9")
	assert.Equal(t, "call_1", string(r.Body))
	d.must(416, "GET", "/v1/exports/"+id+"/download", "calls:read", nil, "Range", "bytes=400-")
	d.must(403, "GET", "/v1/exports/"+id+"/download", "analytics:read", nil)
	d.resetLimits()
	last := 0
	for n := range 14 {
		if last = d.do("POST", "/v1/exports", "operator", m{"type": "calls"}).Status; last == 429 {
			assert.Equal(t, 12, n, "10 per hour and ⌈0.15·10⌉ = 2 more as a burst")
			break
		}
	}
	assert.Equal(t, 429, last)
}

func TestUnknownBulkMemberIsNamedByPath(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{})
	f := d.do("POST", "/v1/bulk/calls", "operator", m{
		"defaults": m{"agent_id": "agent_" + ulidOf(1), "overrides": m{"limits": m{"max_minutes": 17, "no_such_field": true}}}, "items": []m{{"to": "+12025550123"}},
	}).failure(t)
	assert.Equal(t, "defaults.overrides.limits.no_such_field", f["param"])
}
