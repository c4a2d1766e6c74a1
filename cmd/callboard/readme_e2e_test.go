package main_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// codeBlocks returns the code blocks of a page whose language after the backticks is fence, in the order of the page.
func codeBlocks(t *testing.T, page, fence string) []string {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	require.NoError(t, err)
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+regexp.QuoteMeta(fence)+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

// commandOutput holds the output of each code block, in the order of the blocks.
type commandOutput []string

// runBlocks runs all code blocks in one shell in the folder dir, as a reader would. At the end it runs the command last.
func (s *service) runBlocks(dir string, blocks []string, last string, env ...string) commandOutput {
	s.t.Helper()
	const mark = "--- end of a block ---"
	script := "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + strings.Join(blocks, "\necho '"+mark+"'\n") + "\necho '" + mark + "'\n" + last
	ctx, cancel := context.WithTimeout(s.t.Context(), 6*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(append(os.Environ(), "BASE=http://"+s.http, "KEY="+s.key), env...)
	require.NoError(s.t, cmd.Run(), "%s\n%s", &out, &errs)
	s.t.Logf("the commands print:\n%s%s", &out, &errs)
	parts := strings.Split(out.String(), mark+"\n")
	return parts[:len(parts)-1]
}

// outputOf returns the output of the block that contains a command.
func (o commandOutput) outputOf(t *testing.T, blocks []string, command string) string {
	t.Helper()
	for i, b := range blocks {
		if strings.Contains(b, command) {
			return o[i]
		}
	}
	require.Fail(t, "no block contains the command", command)
	return ""
}

func TestREADMECommandsWork(t *testing.T) {
	t.Parallel()
	blocks, python := codeBlocks(t, "README.md", "sh run"), codeBlocks(t, "README.md", "python")
	require.GreaterOrEqual(t, len(blocks), 7)
	require.Len(t, python, 1)
	s, dir := newRaceFreeService(t), t.TempDir()
	p := startSIPp(t, "uas-press", "-key", "press", "1")
	output := s.runBlocks(dir, blocks, `printf %s "$HOOK_SECRET" >secret`,
		"TEST_KEY="+s.testKey(), "PHONE_HOST=127.0.0.1", "PHONE_PORT="+strconv.Itoa(p.port), "HOOK_URL="+s.receiver.url)
	require.Len(t, output, len(blocks))

	assert.Contains(t, output.outputOf(t, blocks, "first_message"), "Hello Ada, this is my first call.")
	assert.Regexp(t, `^trunk trunk_\w+\n$`, output.outputOf(t, blocks, "POST /v1/trunks"))
	assert.Regexp(t, `^agent agent_\w+\n$`, output.outputOf(t, blocks, "api POST /v1/agents"))
	assert.Regexp(t, `^call call_\w+: completed\n$`, output.outputOf(t, blocks, "api POST /v1/calls/outbound"))
	assert.Equal(t, map[string]int{"12025550123": 2}, p.inviteCounts(), "the call and the campaign called the phone")

	var test struct{ Delivered bool }
	require.NoError(t, json.Unmarshal([]byte(output.outputOf(t, blocks, "POST /v1/webhooks")), &test))
	assert.True(t, test.Delivered, "the test event")

	var st campaignStatus
	require.NoError(t, json.Unmarshal([]byte(output.outputOf(t, blocks, "POST /v1/campaigns")), &st))
	assert.Equal(t, "completed", st.Status)
	assert.Equal(t, 1, st.Outcomes["confirmed"])

	results := output.outputOf(t, blocks, "/results")
	table, _, found := strings.Cut(results, "-rw")
	require.True(t, found, results)
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"+12025550123", "Ada", "confirmed"}, rows[1][:3])
	assert.Equal(t, "true", rows[1][4])
	s.checkLogs(results)

	wav := filepath.Join(dir, "call.wav")
	left, right := readSamples(t, wav, 1), readSamples(t, wav, 2)
	assert.Len(t, right, len(left))
	assert.Positive(t, dotProduct(right, right), "the phone received audio")
	s.checkSignatureExample(dir, python[0])
}

// checkLogs checks that the webhook's log, at the end of the output, has a delivered event.
func (s *service) checkLogs(output string) {
	s.t.Helper()
	at := strings.Index(output, "\n{")
	require.Positive(s.t, at, output)
	var page struct {
		Logs []struct{ Status string }
	}
	require.NoError(s.t, json.Unmarshal([]byte(output[at:]), &page))
	delivered := 0
	for _, l := range page.Logs {
		if l.Status == "delivered" {
			delivered++
		}
	}
	assert.Positive(s.t, delivered, output)
}

// checkSignatureExample checks that the README's signature check accepts real deliveries and nothing else.
func (s *service) checkSignatureExample(dir, python string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, "check.py"), []byte(python+"\nimport sys\nprint(genuine(open('secret').read(), open('body', 'rb').read(), sys.argv[1]))\n"), 0o600))
	check := func(body []byte, header string) string {
		require.NoError(s.t, os.WriteFile(filepath.Join(dir, "body"), body, 0o600))
		cmd := exec.Command("python3", "check.py", header)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(s.t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	s.await("the campaign's last event", 20*time.Second, func() bool { return len(s.receiver.events("campaign.completed")) == 1 })
	for _, d := range s.receiver.deliveries() {
		header := d.Header.Get("X-Svc-Signature")
		assert.Equal(s.t, "True", check(d.Body, header), d.Event.Type)
		assert.Equal(s.t, "False", check(append(d.Body, ' '), header), d.Event.Type)
	}
}
