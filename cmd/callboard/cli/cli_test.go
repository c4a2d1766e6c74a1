package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/cli"
)

// run runs a command line as main does.
func run(t *testing.T, in string, args ...string) (out, errs string, code int) {
	t.Helper()
	root := &cobra.Command{Use: "callboard", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(cli.Commands()...)
	cli.Tidy(root)
	var o, e bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetIn(strings.NewReader(in))
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		_, _ = fmt.Fprintln(&e, err)
	}
	return o.String(), e.String(), cli.ExitCode(err)
}

// server answers paths with JSON and keeps who asked with which key.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	keys []string
	seen []string
}

func newServer(t *testing.T, answers map[string]string) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.keys = append(s.keys, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		s.seen = append(s.seen, r.Method+" "+r.URL.RequestURI())
		s.mu.Unlock()
		answer, ok := answers[r.Method+" "+r.URL.Path]
		status := http.StatusOK
		if !ok {
			answer, status = `{"error": {"code": "not_found", "message": "There is no such thing."}}`, http.StatusNotFound
		}
		if code, rest, found := strings.Cut(answer, "|"); found {
			_, _ = fmt.Sscan(code, &status)
			answer = rest
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) asked() (keys, seen []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.keys...), append([]string{}, s.seen...)
}

// home gives a test profiles of its own, and no environment of ours.
func home(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profiles.json")
	t.Setenv("CALLBOARD_PROFILES", path)
	for _, name := range []string{"CALLBOARD_URL", "CALLBOARD_KEY", "CALLBOARD_PROFILE"} {
		t.Setenv(name, "")
	}
	return path
}

const workspace = `{"id": "ws_1", "name": "North", "environment": "live", "default_dnc_list_id": "dnc_1"}`

func TestEveryCommandSaysWhatItIsForAndShowsHow(t *testing.T) {
	var walk func(c *cobra.Command)
	leaves := 0
	walk = func(c *cobra.Command) {
		assert.NotEmpty(t, c.Short, c.CommandPath())
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() {
			return
		}
		leaves++
		assert.Contains(t, c.Example, "callboard "+strings.TrimPrefix(c.CommandPath(), "callboard "), c.CommandPath())
		assert.NotNil(t, c.Flags().Lookup("json"), "%s knows no --json", c.CommandPath())
		assert.NotNil(t, c.Args, c.CommandPath())
	}
	root := &cobra.Command{Use: "callboard", Short: "-"}
	root.AddCommand(cli.Commands()...)
	walk(root)
	assert.Greater(t, leaves, 60)
}

func TestTheExitCodeTellsWhatWentWrong(t *testing.T) {
	home(t)
	s := newServer(t, map[string]string{
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
		{[]string{"agents", "show", "ok", "--url", s.URL}, cli.Done, ""},
		{[]string{"agents", "show", "other", "--url", s.URL}, cli.Missing, "no such thing"},
		{[]string{"agents", "show", "401", "--url", s.URL}, cli.Barred, "invalid_api_key"},
		{[]string{"agents", "show", "403", "--url", s.URL}, cli.Barred, "permission_denied"},
		{[]string{"agents", "show", "409", "--url", s.URL}, cli.Refused, "invalid_state"},
		{[]string{"agents", "show", "422", "--url", s.URL}, cli.Refused, "validation_failed"},
		{[]string{"agents", "show", "500", "--url", s.URL}, cli.Failed, "internal"},
		{[]string{"agents", "show", "none", "--url", s.URL}, cli.Failed, "invalid character"},
		{[]string{"agents", "show", "ok", "--url", "http://" + l.Addr().String()}, cli.Unreachable, "refused"},
		{[]string{"agents", "show"}, cli.Misused, "callboard agents show --help"},
		{[]string{"agents", "shw"}, cli.Misused, `knows no "shw" but`},
		{[]string{"agent"}, cli.Misused, "unknown command"},
		{[]string{"agents", "show", "ok", "--nonsense"}, cli.Misused, "unknown flag"},
		{[]string{"agents", "create", "--url", s.URL}, cli.Misused, `required flag(s) "file"`},
		{[]string{"agents", "show", "ok", "--url", "calls.example.com"}, cli.Misused, "--url must be"},
		{[]string{"agents", "show", "ok", "--profile", "none"}, cli.Misused, `no profile "none"`},
		{[]string{"calls", "dial", "+12025550123", "--url", s.URL}, cli.Misused, "--agent or --pathway"},
		{[]string{"campaigns", "import", "contacts.pdf", "--url", s.URL}, cli.Misused, ".csv"},
	} {
		_, errs, code := run(t, "", c.args...)
		assert.Equal(t, c.code, code, "%v: %s", c.args, errs)
		assert.Contains(t, errs, c.says, "%v", c.args)
	}
	assert.Equal(t, cli.NotNow, exitOfStatus(t, 429))
	assert.Equal(t, cli.NotNow, exitOfStatus(t, 503))
	assert.Equal(t, cli.Interrupted, cli.ExitCode(fmt.Errorf("so far: %w", context.Canceled)))
}

func exitOfStatus(t *testing.T, status int) int {
	t.Helper()
	s := newServer(t, map[string]string{"GET /v1/agents/x": fmt.Sprintf(`%d|{"error": {"code": "c", "message": "m"}}`, status)})
	_, _, code := run(t, "", "agents", "show", "x", "--url", s.URL)
	return code
}

func TestALoginIsKeptForItsOwnerAloneAndUsedFromThenOn(t *testing.T) {
	path := home(t)
	north := newServer(t, map[string]string{"GET /v1/workspace": workspace, "GET /v1/agents/a": `{"id": "a"}`})
	south := newServer(t, map[string]string{"GET /v1/workspace": workspace, "GET /v1/agents/a": `{"id": "a"}`})
	_, errs, code := run(t, "key-of-north\n", "login", "north", "--url", north.URL)
	require.Equal(t, cli.Done, code, errs)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("key-of-south\n"), 0o600))
	_, _, code = run(t, "", "login", "south", "--url", south.URL, "--key-file", file)
	require.Equal(t, cli.Done, code)

	// The last one is the current one; --profile and the environment name another.
	last := func(s *server) string {
		keys, _ := s.asked()
		return keys[len(keys)-1]
	}
	count := func(s *server) int {
		keys, _ := s.asked()
		return len(keys)
	}
	_, _, code = run(t, "", "agents", "show", "a")
	assert.Equal(t, cli.Done, code)
	assert.Equal(t, 2, count(south))
	_, _, _ = run(t, "", "agents", "show", "a", "--profile", "north")
	assert.Equal(t, []any{2, "key-of-north"}, []any{count(north), last(north)})
	t.Setenv("CALLBOARD_PROFILE", "north")
	_, _, _ = run(t, "", "agents", "show", "a")
	assert.Equal(t, 3, count(north))

	// A profile's key goes to its own address only; what is said goes before.
	_, _, _ = run(t, "", "agents", "show", "a", "--url", south.URL)
	assert.Empty(t, last(south), "the key of north was shown to south")
	_, _, _ = run(t, "", "agents", "show", "a", "--url", south.URL, "--key", "said")
	assert.Equal(t, "said", last(south))
	t.Setenv("CALLBOARD_KEY", "of-the-environment")
	_, _, _ = run(t, "", "agents", "show", "a", "--url", south.URL)
	assert.Equal(t, "of-the-environment", last(south))
	before := count(north)
	_, _, _ = run(t, "", "agents", "show", "a", "--profile", "north")
	assert.Equal(t, []any{before + 1, "key-of-north"}, []any{count(north), last(north)}, "a profile that is named goes before the environment")
	t.Setenv("CALLBOARD_KEY", "")
	t.Setenv("CALLBOARD_PROFILE", "")

	out, _, code := run(t, "", "profiles", "list", "--json")
	assert.Equal(t, cli.Done, code)
	assert.NotContains(t, out, "key-of", "keys are not shown")
	var list []struct {
		Name    string
		Current bool
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Equal(t, "north", list[0].Name)
	assert.True(t, list[1].Current)
	_, _, code = run(t, "", "profiles", "use", "north")
	assert.Equal(t, cli.Done, code)
	_, _, code = run(t, "", "profiles", "remove", "south")
	assert.Equal(t, cli.Done, code)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "south")
	assert.Contains(t, string(text), `"current": "north"`)

	require.NoError(t, os.Chmod(path, 0o644))
	_, errs, code = run(t, "", "agents", "show", "a")
	assert.Equal(t, cli.Failed, code)
	assert.Contains(t, errs, "chmod 600")
}

func TestALoginThatIsNotTakenIsNotKept(t *testing.T) {
	path := home(t)
	s := newServer(t, map[string]string{"GET /v1/workspace": `401|{"error": {"code": "invalid_api_key", "message": "no"}}`})
	for _, c := range []struct {
		in   string
		args []string
		code int
	}{
		{"wrong\n", []string{"login", "--url", s.URL}, cli.Barred},
		{"\n", []string{"login", "--url", s.URL}, cli.Misused},
		{"k\n", []string{"login", "--url", "http://192.0.2.1"}, cli.Misused},
		{"k\n", []string{"login", "a/b", "--url", s.URL}, cli.Misused},
	} {
		_, _, code := run(t, c.in, c.args...)
		assert.Equal(t, c.code, code, "%v", c.args)
	}
	assert.NoFileExists(t, path)
}

func TestWhatStrangersWroteSteersNoTerminal(t *testing.T) {
	home(t)
	evil := "Eve\u001b[2J\u202e\ttab\nline"
	row, err := json.Marshal(map[string]any{"id": "agent_1", "name": evil})
	require.NoError(t, err)
	s := newServer(t, map[string]string{"GET /v1/agents": `{"data": [` + string(row) + `]}`, "GET /v1/agents/agent_1": string(row)})
	for _, args := range [][]string{{"agents", "list"}, {"agents", "show", "agent_1"}} {
		out, _, code := run(t, "", append(args, "--url", s.URL)...)
		assert.Equal(t, cli.Done, code)
		assert.NotContains(t, out, "\u001b")
		assert.NotContains(t, out, "\u202e")
		assert.Contains(t, out, "tab line")
	}
	out, _, _ := run(t, "", "agents", "list", "--json", "--url", s.URL)
	var list []struct{ Name string }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Equal(t, evil, list[0].Name, "JSON tells it as it is")
}

func TestListsWalkThePagesUpToTheLimit(t *testing.T) {
	home(t)
	s := newServer(t, map[string]string{"GET /v1/agents": `{"data": [{"id": "one"}, {"id": "two"}], "has_more": true, "next_cursor": "next"}`})
	out, errs, code := run(t, "", "agents", "list", "--limit", "5", "--json", "--url", s.URL)
	assert.Equal(t, cli.Done, code, errs)
	var list []struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Len(t, list, 5)
	_, seen := s.asked()
	assert.Contains(t, seen, "GET /v1/agents?cursor=next")
	out, errs, _ = run(t, "", "agents", "list", "--limit", "1", "--url", s.URL)
	assert.Contains(t, errs, "--limit 0")
	assert.NotContains(t, out, "two")
}

func TestAnUploadThatFailsLeavesNoCampaignBehind(t *testing.T) {
	home(t)
	file := filepath.Join(t.TempDir(), "May visits.csv")
	require.NoError(t, os.WriteFile(file, []byte("phone\n+12025550123\n"), 0o600))
	s := newServer(t, map[string]string{
		"POST /v1/campaigns": `{"id": "camp_1"}`, "POST /v1/campaigns/camp_1/contacts": `422|{"error": {"code": "validation_failed", "message": "no column phone"}}`,
		"DELETE /v1/campaigns/camp_1": `{"deleted": true}`,
	})
	_, errs, code := run(t, "", "campaigns", "import", file, "--agent", "agent_1", "--url", s.URL)
	assert.Equal(t, cli.Refused, code)
	assert.Contains(t, errs, "no column phone")
	_, seen := s.asked()
	assert.Equal(t, []string{"POST /v1/campaigns", "POST /v1/campaigns/camp_1/contacts", "DELETE /v1/campaigns/camp_1"}, seen)
}

func TestColumnsOfAFileAreNamedOnTheCommandLine(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	s := newServer(t, map[string]string{
		"POST /v1/campaigns/camp_1/contacts": `{"contacts_summary": {"received": 1, "accepted": 1}}`, "GET /v1/campaigns/camp_1/status": `{"status": "draft"}`,
	})
	columns := []string{"--phone-column", "Mobile no.", "--name-column", "Patient", "--country-column", "Land", "--timezone-column", "Zone", "--campaign", "camp_1", "--url", s.URL}
	_, errs, code := run(t, "", append([]string{"campaigns", "import", write("patients.csv", "Mobile no.,Patient,Land,Zone\n")}, columns...)...)
	require.Equal(t, cli.Done, code, errs)
	_, seen := s.asked()
	assert.Equal(t, "POST /v1/campaigns/camp_1/contacts?country_column=Land&name_column=Patient&phone_column=Mobile+no.&timezone_column=Zone", seen[0])
	_, errs, code = run(t, "", append([]string{"campaigns", "import", write("patients.jsonl", "{}\n")}, columns...)...)
	assert.Equal(t, cli.Misused, code)
	assert.Contains(t, errs, "for CSV files")
}

func TestAWatchEndsWithItsCampaign(t *testing.T) {
	home(t)
	var mu sync.Mutex
	states := []string{`"running", "progress": {"remaining": 2}`, `"running", "progress": {"remaining": 2}`, `"running", "progress": {"remaining": 1}`, `"completed", "progress": {"remaining": 0}`}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"campaign_id": "c", "status": %s, "timing": {"estimated_completion": %q}}`, states[0], time.Now().Format(time.RFC3339Nano))
		if len(states) > 1 {
			states = states[1:]
		}
	}))
	t.Cleanup(s.Close)
	out, _, code := run(t, "", "campaigns", "watch", "c", "--every", "200ms", "--json", "--url", s.URL)
	assert.Equal(t, cli.Done, code)
	assert.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 3, "a line for each change")
	mu.Lock()
	states = []string{`"cancelled"`}
	mu.Unlock()
	_, errs, code := run(t, "", "campaigns", "watch", "c", "--url", s.URL)
	assert.Equal(t, cli.Failed, code)
	assert.Contains(t, errs, "is cancelled")
}

func TestPauseAllGoesOnAfterWhatCannotBePaused(t *testing.T) {
	home(t)
	s := newServer(t, map[string]string{
		"GET /v1/campaigns":               `{"data": [{"id": "over"}, {"id": "broken"}, {"id": "good"}]}`,
		"POST /v1/campaigns/over/pause":   `409|{"error": {"code": "invalid_state", "message": "no"}}`,
		"POST /v1/campaigns/broken/pause": `500|{"error": {"code": "internal", "message": "no"}}`,
		"POST /v1/campaigns/good/pause":   `{"status": "paused"}`,
	})
	out, errs, code := run(t, "", "pause-all", "--json", "--url", s.URL)
	assert.Equal(t, cli.Failed, code)
	assert.Contains(t, errs, "broken")
	assert.NotContains(t, errs, "over")
	var done struct{ Paused []string }
	require.NoError(t, json.Unmarshal([]byte(out), &done))
	assert.Contains(t, done.Paused, "good")
}

func TestAnOperatorSeesAndStopsEverything(t *testing.T) {
	home(t)
	const stopped = `{"stopped": true, "reason": "a complaint\u001b[2J", "since": "2026-03-01T12:00:00Z", "by": {"type": "operator", "id": "key_1"}}`
	s := newServer(t, map[string]string{
		"POST /v1/operator/dialling/stop": stopped, "POST /v1/operator/dialling/resume": `{"stopped": false}`,
		"GET /v1/operator/nodes":  `{"data": [{"id": "node_1\u001b", "address": "10.0.0.1:8090", "shards": 3, "shards_silent": 1, "ready": true, "started_at": "2026-03-01T12:00:00Z"}, {"id": "node_2", "ready": true}, {"id": "node_3", "ready": false, "reason": "full"}]}`,
		"POST /v1/operator/drain": `{"on": true}`, "POST /v1/operator/undrain": `{"on": false}`,
		"GET /v1/operator/load": `{"ready": true, "spent_today": {"amount": "1.20", "currency": "USD"}, "spent_known": false, "dialling": ` + stopped + `, "lines": {"outbound": {"used": 3, "limit": 5, "waiting": 2}},
			"noisy": [{"workspace_id": "ws_1", "name": "loud", "calls": 0.75}]}`,
		"GET /v1/operator/workspaces": `{"data": [{"id": "ws_1", "name": "loud", "share": {"calls": 0.75}, "spent_today": {"amount": "0.30"}, "spent_known": true, "troubles": [{"id": "trunk_1", "name": "carrier", "status": "down"}]}]}`,
	})
	for args, want := range map[string]string{
		"operator stop-dialling --reason x": "all dialling is stopped since", "operator stop-dialling --json": `"stopped": true`, "operator resume-dialling": "people are rung",
		"pause-all --everywhere": "a complaint", "operator drain --node node_1": "the node takes no calls", "operator nodes": "3 (1 do not answer)", "operator nodes --json": `"node_3"`, "operator undrain --json": `"on": false`,
		"operator load": "3 of 5, 2 are waited for", "operator load --json": `"noisy"`, "operator workspaces": "75 %", "operator workspaces --json": `"trunk_1"`,
	} {
		out, errs, code := run(t, "", append(strings.Fields(args), "--url", s.URL)...)
		assert.Equal(t, cli.Done, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
		assert.NotContains(t, out, "\x1b", args)
	}
	out, _, _ := run(t, "", "operator", "load", "--url", s.URL)
	assert.Contains(t, out, "1.20 or more USD", "what was spent is not known yet")
	out, _, _ = run(t, "", "operator", "nodes", "--url", s.URL)
	assert.Regexp(t, `node_2 +- +- +- +0 .*stands by`, out)
	assert.Contains(t, out, "not ready: full")
	out, _, _ = run(t, "", "operator", "workspaces", "--url", s.URL)
	assert.Regexp(t, ` 0\.30 +- `, out)
	_, _, code := run(t, "", "pause-all", "--everywhere", "--hangup", "--url", s.URL)
	assert.Equal(t, cli.Misused, code)
}

func TestAlertsOnTheCommandLine(t *testing.T) {
	home(t)
	const rule = `{"id": "alertrule_1", "name": "Carrier", "kind": "trunk_down", "emails": ["ops@example.com"]}`
	s := newServer(t, map[string]string{
		"GET /v1/alerts":                        `{"data": [{"id": "alert_1", "status": "firing", "kind": "trunk_down", "subject": "trunk_1", "subject_name": "c\u001b[2J", "rule_name": "Carrier"}]}`,
		"GET /v1/alert-rules":                   `{"data": [` + rule + `]}`,
		"POST /v1/alert-rules":                  rule,
		"PATCH /v1/alert-rules/alertrule_1":     rule,
		"DELETE /v1/alert-rules/alertrule_1":    `{"deleted": true}`,
		"GET /v1/alert-rules/alertrule_1":       rule,
		"POST /v1/alert-rules/alertrule_1/test": `{"event_id": "evt_1", "mails": [{"to": "ops@example.com", "sent": false, "error": "the mail server answered 550 no"}]}`,
	})
	for args, want := range map[string]string{
		"alerts list": "firing", "alerts list --json": `"trunk_1"`, "alerts rules": "each workspace", "alerts create -f -": "alertrule_1",
		"alerts update alertrule_1 -f -": "alertrule_1", "alerts show alertrule_1": "Carrier", "alerts delete alertrule_1": "is deleted",
	} {
		out, errs, code := run(t, `{"name": "Carrier"}`, append(strings.Fields(args), "--url", s.URL)...)
		assert.Equal(t, cli.Done, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
		assert.NotContains(t, out, "\x1b", args)
	}
	out, _, code := run(t, "", "alerts", "test", "alertrule_1", "--url", s.URL)
	assert.Equal(t, cli.Failed, code)
	assert.Contains(t, out, "ops@example.com: the mail server answered 550 no")
}

func TestAnyRequestOfTheAPICanBeSent(t *testing.T) {
	home(t)
	s := newServer(t, map[string]string{"PATCH /v1/workspace": workspace, "GET /v1/x": `418|{"error": {"code": "teapot", "message": "no"}}`})
	out, _, code := run(t, `{"name": "North"}`, "api", "patch", "/v1/workspace", "-d", "@-", "--key", "k", "--url", s.URL)
	assert.Equal(t, cli.Done, code)
	assert.Contains(t, out, `"name": "North"`)
	out, _, code = run(t, "", "api", "GET", "/v1/x", "--url", s.URL)
	assert.Equal(t, cli.Refused, code)
	assert.Contains(t, out, "teapot", "the refusal is shown whole")
	for _, path := range []string{"v1/x", "//evil.example.com/v1/x", "https://evil.example.com/"} {
		_, _, code = run(t, "", "api", "GET", path, "--url", s.URL)
		assert.Equal(t, cli.Misused, code, path)
	}
}

func TestADialThatIsWaitedForSaysWhetherSomebodyWasReached(t *testing.T) {
	home(t)
	for status, code := range map[string]int{"completed": cli.Done, "busy": cli.Failed, "no_answer": cli.Failed} {
		s := newServer(t, map[string]string{
			"POST /v1/calls/outbound": `{"id": "call_1"}`, "GET /v1/calls/call_1": `{"id": "call_1", "status": "` + status + `"}`,
			"GET /v1/calls/call_1/events": `{"data": [{"id": "evt_1", "type": "call.started", "subject": "call_1"}, {"id": "evt_2", "type": "call.ended", "subject": "call_1"}]}`,
		})
		out, errs, got := run(t, "", "calls", "dial", "+12025550123", "--agent", "agent_1", "--wait", "--url", s.URL)
		assert.Equal(t, code, got, "%s: %s", status, errs)
		assert.Equal(t, 1, strings.Count(out, "call.started"), "each event once: %s", out)
		assert.Equal(t, 1, strings.Count(out, "call.ended"), out)
	}
}
