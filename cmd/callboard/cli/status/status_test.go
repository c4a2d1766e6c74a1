package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/status"
)

func run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, "", args, status.Command())
}

func TestStatusShowsNodesToOperators(t *testing.T) {
	clitest.Profiles(t)
	answers := map[string]string{
		"GET /readyz": `{}`, "GET /v1/workspace": `{"name": "w"}`, "GET /v1/usage": `{"total": {}}`,
		"GET /v1/calls": `{"data": []}`, "GET /v1/campaigns": `{"data": []}`, "GET /v1/trunks": `{"data": []}`, "GET /v1/webhooks": `{"data": []}`,
		"GET /v1/operator/nodes": `{"data": [{"id": "node_1", "address": "10.0.0.1:8090", "shards": 3, "live_calls": 7, "ready": true}, {"id": "node_2", "address": "10.0.0.2:8090", "ready": true, "drain": {"on": true}}, {"id": "node_3", "ready": true}]}`,
	}
	out, errs, code := run(t, "status", "--url", clitest.NewServer(t, answers).URL)
	assert.Equal(t, cli.ExitOK, code, errs)
	assert.Regexp(t, `node +node_1 10\.0\.0\.1:8090: 3 shards, 7 live calls, ready`, out)
	assert.Regexp(t, `node +node_2 10\.0\.0\.2:8090: 0 shards, 0 live calls, .*no new calls`, out)
	assert.NotContains(t, out, "node_3", "a node without a cluster is not listed")
	out, _, _ = run(t, "status", "--json", "--url", clitest.NewServer(t, answers).URL)
	assert.Contains(t, out, `"live_calls": 7`)
	answers["GET /v1/operator/nodes"] = `403|{"error": {"code": "forbidden", "message": "m"}}`
	out, errs, code = run(t, "status", "--url", clitest.NewServer(t, answers).URL)
	assert.Equal(t, cli.ExitOK, code, errs)
	assert.NotContains(t, out, "node ", "only operators see nodes")
}

func TestStatusShowsPartsThatCannotBeRead(t *testing.T) {
	clitest.Profiles(t)
	away := `503|{"error": {"code": "service_unavailable", "message": "Try again."}}`
	answers := map[string]string{
		"GET /readyz": `{}`, "GET /v1/workspace": `{"name": "w"}`, "GET /v1/usage": `{"total": {"attempts": 5}}`,
		"GET /v1/calls": `{"data": []}`, "GET /v1/campaigns": `{"data": []}`, "GET /v1/trunks": `{"data": [{"id": "trunk_1", "name": "carrier"}]}`, "GET /v1/webhooks": `{"data": []}`,
		"GET /v1/operator/nodes": away,
	}
	out, errs, code := run(t, "status", "--url", clitest.NewServer(t, answers).URL)
	assert.Equal(t, cli.ExitUnavailable, code)
	assert.Regexp(t, `trunk +trunk_1 carrier`, out)
	assert.Regexp(t, `live calls +0`, out)
	assert.Regexp(t, `today +5 attempts`, out)
	assert.Regexp(t, `nodes +unknown: .*Try again\.`, out)
	assert.Contains(t, errs, "nodes: unknown")
	for _, path := range []string{"calls", "campaigns", "trunks", "webhooks", "usage"} {
		answers["GET /v1/"+path] = away
	}
	out, errs, code = run(t, "status", "--url", clitest.NewServer(t, answers).URL)
	assert.Equal(t, cli.ExitUnavailable, code)
	for _, what := range []string{"calls", "campaigns", "trunks", "endpoints", "today", "nodes"} {
		assert.Regexp(t, `(?m)^`+what+` +unknown: `, out)
		assert.Contains(t, errs, what+": unknown")
	}
	assert.NotContains(t, out, "live calls", "an unknown number of calls is not shown as zero")
	out, _, code = run(t, "status", "--json", "--url", clitest.NewServer(t, answers).URL)
	assert.Equal(t, cli.ExitUnavailable, code)
	assert.Contains(t, out, `"what": "endpoints"`)
	answers["GET /v1/trunks"] = `403|{"error": {"code": "forbidden", "message": "m"}}`
	out, _, code = run(t, "status", "--url", clitest.NewServer(t, answers).URL)
	assert.Equal(t, cli.ExitDenied, code, "a missing permission is not a fault of the service")
	assert.Empty(t, out)
}
