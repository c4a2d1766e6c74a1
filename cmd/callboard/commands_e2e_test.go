package main_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runCommand runs a command of the binary with the service's environment.
func (s *service) runCommand(args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(s.binary, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return strings.TrimSpace(out.String()), errs.String(), err
}

func (s *service) statusForKey(key string) int {
	s.t.Helper()
	code, _, _ := s.tryRequest("GET", "/v1/campaigns", nil, "Authorization", "Bearer "+key)
	return code
}

func TestKeyCommandsOnRunningAndStoppedService(t *testing.T) {
	t.Parallel()
	s := newService(t)
	prove := func(running bool) (key, id string) {
		t.Helper()
		key, _, err := s.runCommand("keys", "create", "--name", "ci", "--permissions", "calls:read")
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(key, "svc_sk_live_"), key)
		text, _, err := s.runCommand("keys", "list", "--json")
		require.NoError(t, err)
		var list []struct{ ID, Name, Last4, Hash string }
		require.NoError(t, json.Unmarshal([]byte(text), &list))
		for _, k := range list {
			assert.Empty(t, k.Hash)
			if strings.HasSuffix(key, k.Last4) {
				id = k.ID
			}
		}
		require.NotEmpty(t, id)
		if running {
			assert.Equal(t, http.StatusOK, s.statusForKey(key))
		}
		return key, id
	}
	key, id := prove(true)
	_, _, err := s.runCommand("keys", "revoke", id)
	require.NoError(t, err)
	assert.Equal(t, http.StatusUnauthorized, s.statusForKey(key), "refused at once")
	next := filepath.Join(t.TempDir(), "next.key")
	_, errs, err := s.runCommand("keys", "rotate-master", next)
	require.Error(t, err)
	assert.Contains(t, errs, "stop the service before")
	assert.NoFileExists(t, next)

	s.stop()
	second, id := prove(false)
	output, _, err := s.runCommand("keys", "rotate-master", next, "--json")
	require.NoError(t, err)
	assert.JSONEq(t, `{"data": `+strconv.Quote(s.dataFolder())+`, "master_key_file": `+strconv.Quote(next)+`, "rotated": true}`, output)
	_, errs, err = s.runCommand("keys", "list")
	require.Error(t, err, "the old master key cannot decrypt the store")
	assert.Contains(t, errs, "another master key")
	taken, err := os.ReadFile(next)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(s.dataFolder(), "master.key"), taken, 0o600))
	_, _, err = s.runCommand("keys", "revoke", id)
	require.NoError(t, err)
	third, _ := prove(false)
	s.start()
	assert.Equal(t, http.StatusUnauthorized, s.statusForKey(key))
	assert.Equal(t, http.StatusUnauthorized, s.statusForKey(second))
	assert.Equal(t, http.StatusOK, s.statusForKey(third))
	assert.Equal(t, http.StatusOK, s.statusForKey(s.key), "API keys stay valid after the rotation of the master key")
	_, errs, err = s.runCommand("keys", "create", "--permissions", "calls:nonsense")
	require.Error(t, err)
	assert.Contains(t, errs, "calls:nonsense")
}

func TestSecondProcessOnSameDataFolderFails(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, errs, err := s.runCommand("serve", "--http", "127.0.0.1:0", "--sip", "127.0.0.1:0")
	require.Error(t, err)
	assert.Contains(t, errs, "another process uses this data directory")
	assert.Equal(t, 200, s.readyStatus())
}

func TestInvalidSettingEndsStartWithNameValueAndRule(t *testing.T) {
	t.Parallel()
	s := prepareService(t, "CALLBOARD_MEDIA_PORTS=9-1")
	_, errs, err := s.runCommand("serve")
	require.Error(t, err)
	for _, part := range []string{"CALLBOARD_MEDIA_PORTS", "9-1", "must be"} {
		assert.Contains(t, errs, part)
	}
}

func TestSecretsAreNotInStoreOrLog(t *testing.T) {
	t.Parallel()
	s := newService(t)
	const secret, password = "whsec_plain_secret_to_look_for_0123", "trunk-password-to-look-for"
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"*"}, "secret": secret})
	trunk := s.api("POST", "/v1/trunks", object{
		"caller_ids": []string{"+12025550100"},
		"name":       "t", "proxies": []object{{"host": "127.0.0.1", "port": 5999, "transport": "udp"}},
		"auth": object{"username": "u", "password": password},
	})
	assert.NotContains(t, string(mustJSON(t, trunk)), password)
	s.stop()
	err := filepath.Walk(s.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, plain := range []string{secret, password} {
			assert.NotContains(t, string(text), plain, path)
		}
		if filepath.Base(path) != "admin.key" {
			assert.NotContains(t, string(text), s.key, path)
		}
		if strings.HasSuffix(path, ".key") {
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), path)
		}
		return err
	})
	require.NoError(t, err)
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func TestDemoPlaysOnceAndItsDataSurvivesRestarts(t *testing.T) {
	t.Parallel()
	s := prepareService(t)
	if os.Getenv("PICTURES") != "" { // the screenshots need realistic timing
		s = prepareRaceFreeService(t)
	}
	s.args = []string{"serve", "--demo"}
	s.start()
	s.await("the end of the demo", 150*time.Second, func() bool { return strings.Contains(s.logText(), "/sign-in?token=") })
	text := s.logText()
	for _, part := range []string{"confirmed", "declined", "busy", "no_answer", "failed", "X-Svc-Signature: sha256=", "campaign.call.completed", "results.csv", "switch to Test"} {
		assert.Contains(t, text, part)
	}
	assert.NotContains(t, text, s.key, "the API key is not in the log")
	assert.Empty(t, s.api("GET", "/v1/calls", nil)["data"], "no live call")
	csv, err := os.ReadFile(filepath.Join(s.dataFolder(), "demo", "results.csv"))
	require.NoError(t, err)
	assert.Len(t, strings.Split(strings.TrimSpace(string(csv)), "\n"), 21)
	wavs, err := filepath.Glob(filepath.Join(s.dataFolder(), "demo", "recording-*.wav"))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(wavs), 12)
	if dir := os.Getenv("PICTURES"); dir != "" {
		s.takeREADMEScreenshots(t, dir)
	}

	require.NoError(t, s.cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-s.processExited:
	case <-time.After(time.Minute):
		t.Fatal("did not stop after SIGINT")
	}
	assert.Equal(t, 0, s.cmd.ProcessState.ExitCode())
	s.start()
	s.await("the greeting of the second start", 20*time.Second, func() bool {
		return strings.Contains(s.logText(), "The store has 1 campaigns and 20 calls from earlier starts")
	})

	s.stop()
	require.NoError(t, os.Remove(filepath.Join(s.dataFolder(), "test.key")), "the user has deleted the key file")
	s.startProcess()
	s.await("the greeting of the third start", 20*time.Second, func() bool {
		return strings.Count(s.logText(), "The demo plays once per data folder") == 2
	})
	assert.NotContains(t, s.logText(), "The demo failed")
}

func TestDrainLetsLiveCallsEndAndRejectsNewCalls(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	answer := startSIPp(t, "uas-answer-logged")
	s.createTrunk("", answer.port)
	id := s.startCampaign(s.createConstantAgent(), phoneNumbers("+1202551", 50), object{"pacing": object{"calls_per_minute": 240, "max_concurrent": 10}})
	s.await("a live call", 20*time.Second, func() bool {
		st, ok := s.campaignStatus(id)
		return ok && st.Progress.InProgress > 0 && len(answer.inviteCounts()) > 2
	})
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-s.processExited:
	case <-time.After(time.Minute):
		t.Fatal("did not drain")
	}
	assert.Equal(t, 0, s.cmd.ProcessState.ExitCode())
	require.Eventually(t, func() bool { return len(unendedCalls(answer.logLines())) == 0 }, time.Minute, 20*time.Millisecond, "live calls were ended")
	rung := len(answer.inviteCounts())
	assert.Less(t, rung, 50)
	s.start()
	st := s.awaitCampaignEnd(id, 90*time.Second)
	assert.Equal(t, 50, st.Outcomes["completed"], "%v", st.Outcomes)
	assert.Len(t, answer.inviteCounts(), 50)
}

func TestDrainingServiceStartsNoWorkAndServesLiveCalls(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t, "CALLBOARD_DRAIN_SECONDS=120")
	s.removeLimits()
	answer := startSIPp(t, "uas-answer-logged")
	s.createTrunk("", answer.port)
	agent := s.createWaitingAgent("wait")
	id := s.placeCall("+12025550123", agent, nil)
	s.awaitAnswer(id)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	s.await("the stop", 20*time.Second, func() bool { return s.readyStatus() == http.StatusServiceUnavailable })
	_, why, _ := s.tryRequest("GET", "/readyz", nil)
	assert.Contains(t, string(why), "draining")
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/v1/calls/outbound", object{"to": "+12025550124", "agent_id": agent}},
		{"POST", "/v1/agents", object{"name": "a", "first_message": "Hello."}},
		{"POST", "/v1/campaigns", object{"name": "c", "agent_id": agent}},
		{"PATCH", "/v1/agents/" + agent, object{"name": "b"}},
		{"DELETE", "/v1/agents/" + agent, nil},
	} {
		code, body, header := s.tryRequest(r.method, r.path, r.body)
		assert.Equal(t, http.StatusServiceUnavailable, code, "%s %s: %s", r.method, r.path, body)
		assert.NotEmpty(t, header.Get("Retry-After"), "%s %s", r.method, r.path)
	}
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"], "the live call continues")
	assert.NotEqual(t, "b", s.api("GET", "/v1/agents/"+agent, nil)["name"])
	s.api("POST", "/v1/calls/"+id+"/say", object{"text": "One moment."})
	s.api("POST", "/v1/calls/"+id+"/hangup", object{})
	select {
	case <-s.processExited:
	case <-time.After(time.Minute):
		t.Fatal("the service did not stop after the last call")
	}
	assert.Equal(t, 0, s.cmd.ProcessState.ExitCode())
	assert.Len(t, answer.inviteCounts(), 1)
}

func TestCallsBeyondDrainTimeoutAreHungUpAndRecorded(t *testing.T) {
	t.Parallel()
	s := newService(t, "CALLBOARD_DRAIN_SECONDS=1")
	s.removeLimits()
	answer := startSIPp(t, "uas-answer-logged")
	s.createTrunk("", answer.port)
	id := s.placeCall("+12025550123", s.createWaitingAgent("wait"), nil)
	s.awaitAnswer(id)
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-s.processExited:
	case <-time.After(time.Minute):
		t.Fatal("did not drain")
	}
	assert.Equal(t, 0, s.cmd.ProcessState.ExitCode())
	assert.Contains(t, s.logText(), "live calls are hung up")
	require.Eventually(t, func() bool { return len(unendedCalls(answer.logLines())) == 0 }, time.Minute, 20*time.Millisecond, "the BYE arrived")
	s.start()
	call := s.api("GET", "/v1/calls/"+id, nil)
	assert.Equal(t, []any{"completed", "hangup", "api"}, []any{call["status"], call["ended_reason"], call["ended_by"]}, "the call has its end before the next start")
}

func TestInitCreatesFirstTrunkAndPlacesTestCall(t *testing.T) {
	t.Parallel()
	s := prepareRaceFreeService(t)
	p := startSIPp(t, "uas-answer-logged")
	path := filepath.Join(s.dir, "callboard.env")
	setting := func(name string) string {
		for _, line := range s.env {
			if value, ok := strings.CutPrefix(line, "CALLBOARD_"+name+"="); ok {
				return value
			}
		}
		return ""
	}
	args := []string{
		"init", "--json", "--env-file", path, "--data", s.dataFolder(), "--sip", setting("SIP_ADDR"), "--http", s.http, "--media-ports", setting("MEDIA_PORTS"),
		"--trunk-host", "127.0.0.1", "--trunk-port", strconv.Itoa(p.port), "--caller-id", "+12025550100", "--test-call", "+12025550123",
	}
	out, errs, err := s.runCommand(args...)
	require.NoError(t, err, errs)
	var done struct {
		TrunkID string `json:"trunk_id"`
		Call    string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &done))
	assert.Equal(t, "completed", done.Call)
	assert.Len(t, p.inviteCounts(), 1)
	_, errs, err = s.runCommand(args...)
	require.Error(t, err)
	assert.Contains(t, errs, "--force")

	s.args = []string{"serve", "--env-file", path}
	s.env = append(os.Environ(), "FAILPOINT_OVERLOAD_AFTER=10s") // all settings come from the file
	s.start()
	trunk := s.api("GET", "/v1/trunks/"+done.TrunkID, nil)
	assert.Equal(t, "127.0.0.1", trunk["name"])
}
