package main_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWorkspaceAndUserCommandsOnRunningAndStoppedService(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	found := func(name string) (id, key string) {
		t.Helper()
		out, errs, err := s.runCommand("workspaces", "create", name, "--plan", "professional")
		require.NoError(t, err, errs)
		id, key, _ = strings.Cut(out, "\n")
		require.True(t, strings.HasPrefix(id, "ws_"), out)
		return id, key
	}
	names := func() (list []string) {
		t.Helper()
		out, _, err := s.runCommand("workspaces", "list", "--json")
		require.NoError(t, err)
		var all []struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(out), &all))
		for _, w := range all {
			list = append(list, w.Name)
		}
		return list
	}
	var hired []string
	hire := func(workspace string) string {
		t.Helper()
		id, errs, err := s.runCommand("users", "create", "Ada", "--role", "manager", "--workspace", workspace)
		require.NoError(t, err, errs)
		url, errs, err := s.runCommand("users", "link", id)
		require.NoError(t, err, errs)
		assert.Contains(t, url, "/sign-in?token=")
		list, _, err := s.runCommand("users", "list", "--workspace", workspace)
		require.NoError(t, err)
		assert.Contains(t, list, id)
		hired = append(hired, strings.TrimSpace(id))
		return url
	}
	// audited returns the audit log entries of administrative commands that an API key can read.
	audited := func(key string) (entries []string) {
		t.Helper()
		status, text, _ := s.tryRequest("GET", "/v1/audit-logs?limit=100", nil, "Authorization", "Bearer "+strings.TrimSpace(key))
		require.Equal(t, http.StatusOK, status, "%s", text)
		var page struct {
			Data []struct {
				Action          string
				Actor, Resource struct{ Type, ID string }
			}
		}
		require.NoError(t, json.Unmarshal(text, &page))
		for _, e := range page.Data {
			if e.Actor.Type == "system" && e.Resource.Type != "api_key" {
				entries = append(entries, e.Action+" "+e.Resource.ID)
			}
		}
		slices.Reverse(entries)
		return entries
	}
	created := func(workspace, user string) []string {
		return []string{"workspace.created " + workspace, "user.created " + user, "user.sign_in_link_created " + user}
	}
	first, key := found("first")
	assert.Equal(t, http.StatusOK, s.statusForKey(key), "the new key works at once")
	hire(first)
	assert.Equal(t, created(first, hired[0]), audited(key))
	_, errs, err := s.runCommand("users", "create", "Bob")
	require.Error(t, err)
	assert.Contains(t, errs, "--workspace is required")
	_, errs, err = s.runCommand("users", "create", "Eve", "--role", "admin", "--operator", "--workspace", first)
	require.Error(t, err)
	assert.Contains(t, errs, "a workspace without an operator key")
	_, errs, err = s.runCommand("users", "create", "Eve", "--environment", "prod", "--workspace", first)
	require.Error(t, err)
	assert.Contains(t, errs, "environment must be live or test")
	tester, errs, err := s.runCommand("users", "create", "Tess", "--environment", "test", "--workspace", first)
	require.NoError(t, err, errs)
	tester = strings.TrimSpace(tester)
	listed, _, err := s.runCommand("users", "list", "--workspace", first)
	require.NoError(t, err)
	assert.Regexp(t, tester+` +Tess +viewer +false +test +`+first, listed)
	_, errs, err = s.runCommand("users", "link", tester)
	require.NoError(t, err, errs)
	_, errs, err = s.runCommand("workspaces", "delete", first)
	require.Error(t, err)
	assert.Contains(t, errs, "--confirm")

	s.stop()
	second, later := found("second")
	link := hire(second)
	assert.Equal(t, []string{"default", "first", "second"}, names())
	s.start()
	_, token, _ := strings.Cut(link, "token=")
	signIn, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.http+"/sign-in", strings.NewReader("token="+token))
	require.NoError(t, err)
	signIn.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	signIn.Header.Set("Origin", "http://"+s.http)
	res, err := http.DefaultTransport.RoundTrip(signIn)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusSeeOther, res.StatusCode, "a link of a stopped service")
	assert.Contains(t, res.Header.Get("Set-Cookie"), "HttpOnly")
	assert.Equal(t, http.StatusOK, s.statusForKey(later))
	assert.Equal(t, created(second, hired[1]), audited(later))
	_, errs, err = s.runCommand("workspaces", "delete", first, "--confirm", first)
	require.NoError(t, err, errs)
	assert.Contains(t, audited(s.key), "workspace.deleted "+first, "the audit log of the remaining workspace")
	assert.Equal(t, http.StatusUnauthorized, s.statusForKey(key), "the keys of the deleted workspace are rejected at once")
	assert.Equal(t, http.StatusOK, s.statusForKey(later))

	s.stop()
	var all []struct{ Name, ID string }
	out, _, err := s.runCommand("workspaces", "list", "--json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	home := all[slices.IndexFunc(all, func(w struct{ Name, ID string }) bool { return w.Name == "default" })].ID
	_, errs, err = s.runCommand("workspaces", "delete", home, "--confirm", home)
	require.Error(t, err)
	assert.Contains(t, errs, "no operator key would remain")
	_, errs, err = s.runCommand("workspaces", "delete", second, "--confirm", second)
	require.NoError(t, err, errs)
	assert.Equal(t, []string{"default"}, names())
	s.start()
	assert.Contains(t, audited(s.key), "workspace.deleted "+second)
	assert.Equal(t, http.StatusUnauthorized, s.statusForKey(later))
}
