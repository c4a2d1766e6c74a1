package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/agents"
	"github.com/callboard/callboard/cmd/callboard/cli/calls"
	"github.com/callboard/callboard/cmd/callboard/cli/campaigns"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
)

func run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, "", args, agents.Command(), calls.Command(), campaigns.Command())
}

func TestExitCodeOfErrors(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"GET /v1/agents/ok":   `{"id": "ok"}`,
		"GET /v1/agents/401":  `401|{"error": {"code": "invalid_api_key", "message": "no"}}`,
		"GET /v1/agents/403":  `403|{"error": {"code": "permission_denied", "message": "no"}}`,
		"GET /v1/agents/409":  `409|{"error": {"code": "invalid_state", "message": "no"}}`,
		"GET /v1/agents/422":  `422|{"error": {"code": "validation_failed", "message": "no"}}`,
		"GET /v1/agents/500":  `500|{"error": {"code": "internal", "message": "no"}}`,
		"GET /v1/agents/none": `200|no JSON`,
	})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"agents", "show", "ok", "--url", s.URL}, cli.ExitOK, ""},
		{[]string{"agents", "show", "other", "--url", s.URL}, cli.ExitNotFound, "does not exist"},
		{[]string{"agents", "show", "401", "--url", s.URL}, cli.ExitDenied, "invalid_api_key"},
		{[]string{"agents", "show", "403", "--url", s.URL}, cli.ExitDenied, "permission_denied"},
		{[]string{"agents", "show", "409", "--url", s.URL}, cli.ExitRejected, "invalid_state"},
		{[]string{"agents", "show", "422", "--url", s.URL}, cli.ExitRejected, "validation_failed"},
		{[]string{"agents", "show", "500", "--url", s.URL}, cli.ExitFailed, "internal"},
		{[]string{"agents", "show", "none", "--url", s.URL}, cli.ExitFailed, "invalid character"},
		{[]string{"agents", "show", "ok", "--url", "http://" + l.Addr().String()}, cli.ExitUnreachable, "refused"},
		{[]string{"agents", "show"}, cli.ExitMisused, "callboard agents show --help"},
		{[]string{"agents", "shw"}, cli.ExitMisused, `has no subcommand "shw"`},
		{[]string{"agent"}, cli.ExitMisused, "unknown command"},
		{[]string{"agents", "show", "ok", "--nonsense"}, cli.ExitMisused, "unknown flag"},
		{[]string{"agents", "create", "--url", s.URL}, cli.ExitMisused, `required flag(s) "file"`},
		{[]string{"agents", "show", "ok", "--url", "calls.example.com"}, cli.ExitMisused, "--url must be"},
		{[]string{"agents", "show", "ok", "--profile", "none"}, cli.ExitMisused, `no profile "none"`},
		{[]string{"calls", "dial", "+12025550123", "--url", s.URL}, cli.ExitMisused, "--agent or --pathway"},
		{[]string{"campaigns", "import", "contacts.pdf", "--url", s.URL}, cli.ExitMisused, ".csv"},
	} {
		_, errs, code := run(t, c.args...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, errs)
		assert.Contains(t, errs, c.says, "%v", c.args)
	}
	assert.Equal(t, cli.ExitUnavailable, exitCodeOfStatus(t, 429))
	assert.Equal(t, cli.ExitUnavailable, exitCodeOfStatus(t, 503))
	assert.Equal(t, cli.ExitInterrupted, cli.ExitCode(fmt.Errorf("interrupted: %w", context.Canceled)))
}

func exitCodeOfStatus(t *testing.T, status int) int {
	t.Helper()
	s := clitest.NewServer(t, map[string]string{"GET /v1/agents/x": fmt.Sprintf(`%d|{"error": {"code": "c", "message": "m"}}`, status)})
	_, _, code := run(t, "agents", "show", "x", "--url", s.URL)
	return code
}

func TestControlCharactersAreNotPrinted(t *testing.T) {
	clitest.Profiles(t)
	evil := "Eve\u001b[2J\u202e\ttab\nline"
	row, err := json.Marshal(map[string]any{"id": "agent_1", "name": evil})
	require.NoError(t, err)
	s := clitest.NewServer(t, map[string]string{"GET /v1/agents": `{"data": [` + string(row) + `]}`, "GET /v1/agents/agent_1": string(row)})
	for _, args := range [][]string{{"agents", "list"}, {"agents", "show", "agent_1"}} {
		out, _, code := run(t, append(args, "--url", s.URL)...)
		assert.Equal(t, cli.ExitOK, code)
		assert.NotContains(t, out, "\u001b")
		assert.NotContains(t, out, "\u202e")
		assert.Contains(t, out, "tab line")
	}
	out, _, _ := run(t, "agents", "list", "--json", "--url", s.URL)
	var list []struct{ Name string }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Equal(t, evil, list[0].Name, "JSON output keeps the name unchanged")
}

func TestListReadsPagesUpToLimit(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{"GET /v1/agents": `{"data": [{"id": "one"}, {"id": "two"}], "has_more": true, "next_cursor": "next"}`})
	out, errs, code := run(t, "agents", "list", "--limit", "5", "--json", "--url", s.URL)
	assert.Equal(t, cli.ExitOK, code, errs)
	var list []struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Len(t, list, 5)
	_, seen := s.Requests()
	assert.Contains(t, seen, "GET /v1/agents?cursor=next")
	out, errs, _ = run(t, "agents", "list", "--limit", "1", "--url", s.URL)
	assert.Contains(t, errs, "--limit 0")
	assert.NotContains(t, out, "two")
}
