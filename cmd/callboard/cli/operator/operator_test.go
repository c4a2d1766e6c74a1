package operator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/campaigns"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/operator"
)

func run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, "", args, operator.Command(), campaigns.PauseAllCommand())
}

func TestOperatorCommandsShowAndStopAllWorkspaces(t *testing.T) {
	clitest.Profiles(t)
	const stopped = `{"stopped": true, "reason": "a complaint\u001b[2J", "since": "2026-03-01T12:00:00Z", "by": {"type": "operator", "id": "key_1"}}`
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/operator/dialling/stop": stopped, "POST /v1/operator/dialling/resume": `{"stopped": false}`,
		"GET /v1/operator/nodes":  `{"data": [{"id": "node_1\u001b", "address": "10.0.0.1:8090", "shards": 3, "shards_silent": 1, "ready": true, "started_at": "2026-03-01T12:00:00Z"}, {"id": "node_2", "ready": true}, {"id": "node_3", "ready": false, "reason": "full"}]}`,
		"POST /v1/operator/drain": `{"on": true}`, "POST /v1/operator/undrain": `{"on": false}`,
		"GET /v1/operator/load": `{"ready": true, "spent_today": {"amount": "1.20", "currency": "USD"}, "spent_known": false, "dialling": ` + stopped + `, "lines": {"outbound": {"used": 3, "limit": 5, "waiting": 2}},
			"noisy": [{"workspace_id": "ws_1", "name": "loud", "calls": 0.75}]}`,
		"GET /v1/operator/workspaces": `{"data": [{"id": "ws_1", "name": "loud", "share": {"calls": 0.75}, "spent_today": {"amount": "0.30"}, "spent_known": true, "troubles": [{"id": "trunk_1", "name": "carrier", "status": "down"}]}]}`,
	})
	for args, want := range map[string]string{
		"operator stop-dialling --reason x": "all dialling is stopped since", "operator stop-dialling --json": `"stopped": true`, "operator resume-dialling": "dialling is active",
		"pause-all --everywhere": "a complaint", "operator drain --node node_1": "the node accepts no new calls", "operator nodes": "3 (1 unreachable)", "operator nodes --json": `"node_3"`, "operator undrain --json": `"on": false`,
		"operator load": "3 of 5, 2 waiting", "operator load --json": `"noisy"`, "operator workspaces": "75 %", "operator workspaces --json": `"trunk_1"`,
	} {
		out, errs, code := run(t, append(strings.Fields(args), "--url", s.URL)...)
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
		assert.NotContains(t, out, "\x1b", args)
	}
	out, _, _ := run(t, "operator", "load", "--url", s.URL)
	assert.Contains(t, out, "1.20 or more USD", "part of the spend is unknown")
	out, _, _ = run(t, "operator", "nodes", "--url", s.URL)
	assert.Regexp(t, `node_2 +- +- +- +0 .*standby`, out)
	assert.Contains(t, out, "not ready: full")
	out, _, _ = run(t, "operator", "workspaces", "--url", s.URL)
	assert.Regexp(t, ` 0\.30 +- `, out)
	_, _, code := run(t, "pause-all", "--everywhere", "--hangup", "--url", s.URL)
	assert.Equal(t, cli.ExitMisused, code)
}
