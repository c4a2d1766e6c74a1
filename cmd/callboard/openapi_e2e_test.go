package main_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi/apitest"
	"github.com/callboard/callboard/httpapi/openapi"
)

// npmFolder contains the npm packages that make tools installs.
const npmFolder = "testdata/clients"

// runNodeScript runs a Node.js script in npmFolder and returns its output.
func runNodeScript(t *testing.T, args []string, env ...string) (string, error) {
	t.Helper()
	_, err := os.Stat(filepath.Join(npmFolder, "node_modules", ".installed"))
	require.NoError(t, err, "make tools installs the npm packages")
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Env = npmFolder, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestOpenAPIDocumentPassesLinter(t *testing.T) {
	t.Parallel()
	text, err := exec.CommandContext(t.Context(), binary, "openapi").Output()
	require.NoError(t, err)
	lint := func(text string) (string, error) {
		path := filepath.Join(t.TempDir(), "openapi.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return runNodeScript(t, []string{"node_modules/@redocly/cli/bin/cli.js", "lint", "--format=stylish", path}, "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	}
	output, err := lint(string(text))
	require.NoError(t, err, "%s", output)
	output, err = lint(`{"openapi": "3.1.0", "info": {"title": "Bad", "version": "1"}, "paths": {"/a": {"get": {"responses": {}}}}}`)
	require.Error(t, err)
	require.Contains(t, output, "security-defined", "the linter rejects an invalid document")
}

func TestThirdPartyClientsWorkWithAPI(t *testing.T) { //nolint:tparallel // the subtests share one service
	t.Parallel()
	s := newService(t, "CALLBOARD_TRUSTED_PROXIES=127.0.0.0/8")
	s.removeLimits()
	t.Run("oauth4webapi and jose", func(t *testing.T) {
		output, err := runNodeScript(t, []string{"oauth.mjs"}, "BASE=http://"+s.http, "KEY="+s.key)
		require.NoError(t, err, "%s", output)
		assert.Contains(t, output, "proven: 12 attacks")
	})
	t.Run("foreign ids", s.checkForeignIDs)
	t.Run("random requests to every route", s.walkAllRoutes)
}

// walkAllRoutes sends generated valid and invalid requests to every route of the API and checks the responses.
func (s *service) walkAllRoutes(t *testing.T) {
	_, text, _ := s.tryRequest("GET", "/openapi.json", nil)
	contract, err := apitest.Read(text)
	require.NoError(t, err)
	n := 0
	w := apitest.Walk{
		Contract: contract, Seed: 1, Rounds: 5, URL: s.receiver.url, Concurrent: true,
		Send: func(r apitest.Request) (apitest.Reply, error) {
			n++
			header := []string{"X-Forwarded-For", "198.51.100." + strconv.Itoa(n%250), "Content-Type", r.Kind}
			for name, v := range r.Header {
				header = append(header, name, v)
			}
			for begun := time.Now(); ; { // repeats after 429 as a client does
				status, body, head, err := s.sendRequest(r.Method, r.Path, r.Body, header...)
				if status != http.StatusServiceUnavailable || time.Since(begun) > time.Minute {
					return apitest.Reply{Status: status, Header: head, Body: body}, err
				}
				<-time.After(100 * time.Millisecond)
			}
		},
		Skip: func(_, path string) bool { return path == "/v1/events/stream" }, // the event stream does not end
		After: func(o *openapi.Operation, _ apitest.Reply) {
			switch {
			case o.Method == http.MethodPatch && strings.HasPrefix(o.Path, "/v1/workspace"):
				s.removeLimits() // the walk may have lowered its own rate limits
			case o.Path == "/v1/operator/dialling/stop":
				s.api("POST", "/v1/operator/dialling/resume", nil)
			case o.Path == "/v1/operator/drain":
				s.api("POST", "/v1/operator/undrain", nil)
			}
		},
	}
	for _, path := range []string{"/v1/api-keys", "/v1/users"} {
		for _, row := range s.api("GET", path, nil)["data"].([]any) {
			w.Excluded = append(w.Excluded, row.(object)["id"].(string))
		}
	}
	created, stands := s.createUncoveredObjects(t)
	w.Excluded = slices.AppendSeq(append(append(w.Excluded, stands...), s.api("GET", "/v1/workspace", nil)["id"].(string)), maps.Values(created))
	tally, err := w.Run()
	require.NoError(t, err)
	t.Logf("%d requests; routes without an accepted request: %v", tally.Sent, tally.Unaccepted)
	for _, f := range tally.Faults {
		t.Error(f)
	}
	assert.Greater(t, tally.Sent, 500)
	assert.Less(t, len(tally.Unaccepted), len(contract.Operations)/2)
	assert.NotContains(t, s.logText(), "panic in a request")
	s.checkIsolation(t, &w, created)
}

// idOf returns the id of the object that a request creates, or of the first object that it lists.
func (s *service) idOf(t *testing.T, method, path string, body any, header ...string) string {
	t.Helper()
	status, text, _ := s.tryRequest(method, path, body, header...)
	require.Less(t, status, 300, "%s %s: %s", method, path, text)
	var created struct {
		ID   string
		Data []struct{ ID string }
	}
	require.NoError(t, json.Unmarshal(text, &created))
	if len(created.Data) > 0 {
		return created.Data[0].ID
	}
	return created.ID
}

// createUncoveredObjects creates one object of each kind that walkAllRoutes cannot create, and returns the ids by the
// path of the collection. stands lists the objects on which these objects depend.
func (s *service) createUncoveredObjects(t *testing.T) (created map[string]string, stands []string) {
	t.Helper()
	hours := object{}
	for day := time.Sunday; day <= time.Saturday; day++ {
		hours[strings.ToLower(day.String())] = []object{{"start": "00:00", "end": "24:00"}}
	}
	provider, agent := s.idOf(t, "POST", "/v1/providers", object{"name": "Dr. Ada", "timezone": "UTC", "hours": hours}), s.createGreetingAgent()
	return map[string]string{
		"/v1/appointments": s.idOf(t, "POST", "/v1/appointments", object{
			"patient": object{"name": "Bob", "phone": "+12025550123"}, "provider": provider, "datetime": time.Now().Add(48 * time.Hour).UTC().Truncate(time.Hour), "type": "visit",
		}),
		"/v1/bulk":           s.idOf(t, "POST", "/v1/bulk/dnc", object{"items": []object{{"phone": "+12025550123"}}}),
		"/v1/providers":      provider,
		"/v1/knowledge-base": s.idOf(t, "POST", "/v1/knowledge-base", object{"name": "walked"}),
		"/v1/exports":        s.idOf(t, "POST", "/v1/exports", object{"type": "usage", "format": "csv"}),
		"/v1/phone-numbers":  s.idOf(t, "POST", "/v1/phone-numbers", object{"number": "+12025550189", "agent_id": agent}),
	}, []string{provider, agent}
}

// checkIsolation requests all created objects with a key of another workspace, and with a test key of the same
// workspace. All requests must get 404, while the owner still reaches the objects.
func (s *service) checkIsolation(t *testing.T, w *apitest.Walk, created map[string]string) {
	t.Helper()
	s.removeLimits()
	created["/v1/events"] = s.idOf(t, "GET", "/v1/events?limit=1", nil)
	leave := w.Skip
	w.Skip = func(method, path string) bool { // only operators know other workspaces and alert rules
		return leave(method, path) || strings.HasPrefix(path, "/v1/workspaces/") || strings.HasPrefix(path, "/v1/alert-rules/")
	}
	ask := func(key string, created map[string]string) apitest.Isolation {
		got, err := w.CheckIsolation(created, func(r apitest.Request) (apitest.Reply, error) {
			header := []string{"Content-Type", r.Kind, "Authorization", "Bearer " + key}
			for name, v := range r.Header {
				header = append(header, name, v)
			}
			status, body, head, err := s.sendRequest(r.Method, r.Path, r.Body, header...)
			return apitest.Reply{Status: status, Header: head, Body: body}, err
		})
		require.NoError(t, err)
		return got
	}
	others := w.Skip
	w.Skip = func(method, path string) bool { // the walk has used up the rate limits of these routes
		return others(method, path) || strings.HasPrefix(path, "/v1/bulk") || strings.HasPrefix(path, "/v1/knowledge-base")
	}
	got := ask(s.testKey(), created)
	w.Skip = others
	assert.Empty(t, got.Faults, "with a test key of the same workspace")
	assert.Less(t, len(got.Unchecked), 40, "%v", got.Unchecked) // the objects depend on the random requests

	created["/v1/sms"] = s.idOf(t, "POST", "/v1/sms", object{"to": "+15005550000", "body": "Hello."}, "Authorization", "Bearer "+s.testKey())
	other := s.api("POST", "/v1/workspaces", object{"name": "others", "plan": "enterprise"})["key"].(string)
	got = ask(other, created)
	assert.Empty(t, got.Faults, "of another workspace")
	assert.Less(t, len(got.Unchecked), 40, "%v", got.Unchecked)
	assert.Greater(t, len(got.Checked), 80)

	delete(created, "/v1/sms")
	got = ask(s.key, created)
	assert.Greater(t, len(got.Faults), len(got.Checked)*4/5, "the owner reaches the objects")
}
