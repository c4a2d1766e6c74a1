package httpapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

func TestUnknownQueryParameterIsRefusedByName(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	n := 0
	for _, c := range routeCases() {
		method, _, _ := strings.Cut(c.route, " ")
		path := d.pathWithResource(c.route)
		if hasSmallLimit(path) {
			d.resetLimits()
		}
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + "created_aftr=2026-03-01T00%3A00%3A00Z&limt=%ff"
		if !strings.HasPrefix(path, "/v1/") {
			if method == "GET" { // the route is a health check or a page
				d.must(200, method, path, "", nil)
			}
			continue
		}
		n++
		e := d.must(422, method, path, "operator", c.requestBody("*:read")).failure(t)
		assert.Equal(t, []any{"unknown_parameter", "created_aftr"}, []any{e["code"], e["param"]}, c.route)
		details, _ := e["details"].([]any)
		if assert.Len(t, details, 2, c.route) {
			assert.Equal(t, "limt", details[1].(map[string]any)["param"], c.route)
		}
	}
	assert.Greater(t, n, 100)
	e := d.must(422, "GET", "/v1/calls?stauts=active", "operator", nil).failure(t)
	assert.Contains(t, e["message"], "stauts: is not a query parameter of GET /v1/calls: the route has agent_id, campaign_id")
	d.must(200, "GET", "/v1/calls?&=&status=active", "operator", nil)
	d.must(422, "HEAD", "/v1/calls?stauts=active", "operator", nil)
}
