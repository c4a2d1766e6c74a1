package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// runChat runs the command callboard chat with the input lines and returns its output.
func (s *service) runChat(lines string, args ...string) (string, error) {
	cmd := exec.Command(s.binary, append([]string{"chat", "--url", "http://" + s.http, "--key", s.key}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = s.env, s.dir, strings.NewReader(lines)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func TestChatCommandWalksPathway(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	pathway := s.api("POST", "/v1/pathways", object{
		"name": "visit", "start": "ask", "variables": []object{{"name": "name", "default": "there"}},
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "both", "prompt": "Hello {{name}}, will you come?", "save_as": "answer", "retries": 1},
			{"id": "hand", "type": "transfer", "destination": "+12025550123"},
			{"id": "yes", "type": "end", "prompt": "See you.", "outcome": "confirmed"},
			{"id": "no", "type": "end", "prompt": "Goodbye."},
		},
		"edges": []object{
			{"from": "ask", "to": "yes", "when": object{"type": "intent", "intent": "yes"}},
			{"from": "ask", "to": "hand", "when": object{"type": "dtmf", "digits": "0"}},
			{"from": "ask", "to": "no", "when": object{"type": "else"}},
			{"from": "hand", "to": "yes", "when": object{"type": "success"}},
			{"from": "hand", "to": "no", "when": object{"type": "failure"}},
		},
	})["id"].(string)
	agent := s.api("POST", "/v1/agents", object{"name": "a", "pathway_id": pathway})["id"].(string)
	silent := s.api("POST", "/v1/agents", object{"name": "b", "first_message": "Hello."})["id"].(string)

	got, err := s.runChat("purple\nyes please\n", "--var", "name=Ada", agent)
	require.NoError(t, err, got)
	assert.Equal(t, "agent: Hello Ada, will you come?\n> (not understood)\nagent: Hello Ada, will you come?\n> agent: See you.\n[intent yes]\n[ended outcome=confirmed intent=yes answer=yes please]\n", got)
	got, err = s.runChat("0\n/reached\n", pathway)
	require.NoError(t, err, got)
	assert.Equal(t, "agent: Hello there, will you come?\n> [transfer +12025550123]\n> agent: See you.\n[ended outcome=confirmed answer=0]\n", got)
	got, err = s.runChat("/quit\n", pathway)
	require.NoError(t, err, got)
	assert.Equal(t, "agent: Hello there, will you come?\n> ", got)
	file := filepath.Join(t.TempDir(), "visit.json")
	tested := func(more string) (string, error) {
		require.NoError(t, os.WriteFile(file, []byte(`{"pathway_id": "`+pathway+`", "runs": 2, "scenarios": [
			{"name": "comes", "variables": {"name": "Ada"}, "greeting": {"says": ["hello ada"]}, "turns": [{"text": "yes", "expect": {"says": ["see you"]}}], "expect": {"outcome": "confirmed"}}`+more+`]}`), 0o600))
		cmd := exec.Command(s.binary, "test", "--url", "http://"+s.http, "--key", s.key, file)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	got, err = tested("")
	require.NoError(t, err, got)
	assert.Equal(t, "ok   comes (2 of 2)\n", got)
	got, err = tested(`, {"name": "stays away", "turns": [{"text": "0"}, {}], "expect": {"outcome": "declined"}}`)
	require.Error(t, err)
	assert.Equal(t, "ok   comes (2 of 2)\nFAIL stays away (0 of 2)\n     run 1, end: outcome: expected \"declined\", got \"completed\"\n"+
		"     run 2, end: outcome: expected \"declined\", got \"completed\"\n     | agent: Hello there, will you come?\n     | caller: 0\n"+
		"     | action: transfer +12025550123\n     | caller: [transfer failed]\n     | agent: Goodbye.\ncallboard: at least one scenario failed\n", got)
	got, err = tested(`, {"title": "x"}`)
	require.Error(t, err)
	assert.Contains(t, got, "unknown field")

	for want, args := range map[string][]string{
		"has no pathway": {silent}, "404 not_found": {"pathway_01ARZ3NDEKTSV4RRFFQ69G5FAV"}, "NAME=VALUE": {"--var", "name", pathway},
	} {
		got, err = s.runChat("", args...)
		require.Error(t, err, want)
		assert.Contains(t, got, want)
	}
}

func TestReplayCommandComparesCallWithPathway(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	agent := s.createMenuAgent()
	pathway := s.api("GET", "/v1/agents/"+agent, nil)["pathway_id"].(string)
	id := s.api("POST", "/v1/calls/outbound", object{"to": "+15005550000", "from": "+15005550100", "agent_id": agent})["id"].(string)
	s.await("the transcript of the call", time.Minute, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["transcript_available"] == true })
	replays := func(args ...string) (string, error) {
		out, err := exec.Command(s.binary, append([]string{"replay", "--url", "http://" + s.http, "--key", s.key}, args...)...).CombinedOutput()
		return string(out), err
	}
	got, err := replays(id)
	require.NoError(t, err, got)
	assert.Equal(t, "  agent: Press one or two.\n  caller: [pressed 1]\n"+pathway+", version 1: same as the call\n", got)
	nodes := s.api("GET", "/v1/pathways/"+pathway, nil)["nodes"].([]any)
	nodes[0].(object)["prompt"] = "Please press one or two."
	nodes[1].(object)["outcome"] = "declined"
	s.api("PATCH", "/v1/pathways/"+pathway, object{"nodes": nodes})
	got, err = replays("--pathway", pathway, id)
	require.Error(t, err)
	assert.Equal(t, "- agent: Press one or two.\n+ agent: Please press one or two.\n  caller: [pressed 1]\n"+
		"- outcome \"confirmed\", intent \"\", notes \"pressed 1\"\n+ outcome \"declined\", intent \"\", notes \"pressed 1\"\n"+
		pathway+", version 2: differs from the call\ncallboard: the replay differs from the call\n", got)
	got, err = replays("--version", "1", id)
	require.NoError(t, err, got)
	assert.Contains(t, got, pathway+", version 1: same as the call\n")
	got, err = replays("--version", "3", id)
	require.Error(t, err)
	assert.Contains(t, got, "there is no version 3 of the pathway")
}
