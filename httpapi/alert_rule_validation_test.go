package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

func TestAlertRulesAreValidatedByKind(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for name, c := range map[string]struct {
		body  m
		param string
	}{
		"no name":                               {m{"kind": "trunk_down"}, "name"},
		"no kind":                               {m{"name": "a"}, "kind"},
		"missing below":                         {m{"name": "a", "kind": "answer_rate"}, "below"},
		"missing share":                         {m{"name": "a", "kind": "spend"}, "share"},
		"field of another kind":                 {m{"name": "a", "kind": "trunk_down", "share": 0.5}, "share"},
		"minutes too large":                     {m{"name": "a", "kind": "trunk_down", "minutes": 61}, "minutes"},
		"together with another kind":            {m{"name": "a", "kind": "endpoint_disabled", "together": true}, "together"},
		"together with a single workspace":      {m{"name": "a", "kind": "spend", "share": 1, "together": true, "watches_workspace_id": "ws_1"}, "together"},
		"header injection in name":              {m{"name": "a\r\nBcc: b", "kind": "trunk_down"}, "name"},
		"invalid e-mail address":                {m{"name": "a", "kind": "trunk_down", "emails": []string{"ops"}}, "emails"},
		"e-mail address with a display name":    {m{"name": "a", "kind": "trunk_down", "emails": []string{"Ops <ops@example.com>"}}, "emails"},
		"header injection in an e-mail address": {m{"name": "a", "kind": "trunk_down", "emails": []string{"ops@example.com\r\nBcc: b@example.com"}}, "emails"},
		"repeated e-mail address":               {m{"name": "a", "kind": "trunk_down", "emails": []string{"ops@example.com", "ops@example.com"}}, "emails"},
	} {
		assert.Equal(t, c.param, d.must(422, "POST", "/v1/alert-rules", "operator", c.body).failure(t)["param"], name)
	}
	r := d.must(201, "POST", "/v1/alert-rules", "operator", m{"name": "a", "kind": "answer_rate", "below": 0.3, "emails": []string{"ops@example.com"}}).json(t)
	assert.Equal(t, []any{15.0, 20.0, false}, []any{r["minutes"], r["min_calls"], r["paused"]})
	both := d.must(201, "POST", "/v1/alert-rules", "operator", m{"name": "a", "kind": "spend", "share": 0.8, "together": true}).json(t)
	assert.Equal(t, []any{true, 0.8}, []any{both["together"], both["share"]})
	id, _ := r["id"].(string)
	r = d.must(200, "PATCH", "/v1/alert-rules/"+id, "operator", m{"paused": true, "emails": []string{}}).json(t)
	assert.Equal(t, []any{true, []any{}, 0.3}, []any{r["paused"], r["emails"], r["below"]})
	refused := d.must(422, "PATCH", "/v1/alert-rules/"+id, "operator", m{"kind": "spend", "share": 0.5}).failure(t)
	assert.Equal(t, "kind", refused["param"])
	assert.Contains(t, refused["message"], "answer_rate")
	d.must(200, "PATCH", "/v1/alert-rules/"+id, "operator", m{"kind": "answer_rate"})
	assert.Equal(t, "operator_required", d.must(403, "GET", "/v1/alert-rules/"+id, "all", nil).failure(t)["code"])
	assert.Equal(t, "operator_required", d.must(403, "GET", "/v1/alerts", "all", nil).failure(t)["code"])
}
