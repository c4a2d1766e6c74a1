package profiles_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/agents"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/profiles"
)

func run(t *testing.T, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, stdin, args, profiles.LoginCommand(), profiles.Command(), agents.Command())
}

const workspace = `{"id": "ws_1", "name": "North", "environment": "live", "default_dnc_list_id": "dnc_1"}`

func TestLoginStoresProfileForOwnerOnly(t *testing.T) {
	path := clitest.Profiles(t)
	north := clitest.NewServer(t, map[string]string{"GET /v1/workspace": workspace, "GET /v1/agents/a": `{"id": "a"}`})
	south := clitest.NewServer(t, map[string]string{"GET /v1/workspace": workspace, "GET /v1/agents/a": `{"id": "a"}`})
	_, errs, code := run(t, "key-of-north\n", "login", "north", "--url", north.URL)
	require.Equal(t, cli.ExitOK, code, errs)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("key-of-south\n"), 0o600))
	_, _, code = run(t, "", "login", "south", "--url", south.URL, "--key-file", file)
	require.Equal(t, cli.ExitOK, code)

	// The profile of the last login is the current one. --profile and an environment variable select another profile.
	last := func(s *clitest.Server) string {
		keys, _ := s.Requests()
		return keys[len(keys)-1]
	}
	count := func(s *clitest.Server) int {
		keys, _ := s.Requests()
		return len(keys)
	}
	_, _, code = run(t, "", "agents", "show", "a")
	assert.Equal(t, cli.ExitOK, code)
	assert.Equal(t, 2, count(south))
	_, _, _ = run(t, "", "agents", "show", "a", "--profile", "north")
	assert.Equal(t, []any{2, "key-of-north"}, []any{count(north), last(north)})
	t.Setenv("CALLBOARD_PROFILE", "north")
	_, _, _ = run(t, "", "agents", "show", "a")
	assert.Equal(t, 3, count(north))

	// The key of a profile is sent only to the URL of the profile. Flags override the profile.
	_, _, _ = run(t, "", "agents", "show", "a", "--url", south.URL)
	assert.Empty(t, last(south), "the key of north was sent to south")
	_, _, _ = run(t, "", "agents", "show", "a", "--url", south.URL, "--key", "said")
	assert.Equal(t, "said", last(south))
	t.Setenv("CALLBOARD_KEY", "of-the-environment")
	_, _, _ = run(t, "", "agents", "show", "a", "--url", south.URL)
	assert.Equal(t, "of-the-environment", last(south))
	before := count(north)
	_, _, _ = run(t, "", "agents", "show", "a", "--profile", "north")
	assert.Equal(t, []any{before + 1, "key-of-north"}, []any{count(north), last(north)}, "a named profile overrides the environment")
	t.Setenv("CALLBOARD_KEY", "")
	t.Setenv("CALLBOARD_PROFILE", "")

	out, _, code := run(t, "", "profiles", "list", "--json")
	assert.Equal(t, cli.ExitOK, code)
	assert.NotContains(t, out, "key-of", "the list contains no keys")
	var list []struct {
		Name    string
		Current bool
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	assert.Equal(t, "north", list[0].Name)
	assert.True(t, list[1].Current)
	_, _, code = run(t, "", "profiles", "use", "north")
	assert.Equal(t, cli.ExitOK, code)
	_, _, code = run(t, "", "profiles", "remove", "south")
	assert.Equal(t, cli.ExitOK, code)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "south")
	assert.Contains(t, string(text), `"current": "north"`)

	require.NoError(t, os.Chmod(path, 0o644))
	_, errs, code = run(t, "", "agents", "show", "a")
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, errs, "chmod 600")
}

func TestRejectedLoginIsNotStored(t *testing.T) {
	path := clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{"GET /v1/workspace": `401|{"error": {"code": "invalid_api_key", "message": "no"}}`})
	for _, c := range []struct {
		in   string
		args []string
		code int
	}{
		{"wrong\n", []string{"login", "--url", s.URL}, cli.ExitDenied},
		{"\n", []string{"login", "--url", s.URL}, cli.ExitMisused},
		{"k\n", []string{"login", "--url", "http://192.0.2.1"}, cli.ExitMisused},
		{"k\n", []string{"login", "a/b", "--url", s.URL}, cli.ExitMisused},
	} {
		_, _, code := run(t, c.in, c.args...)
		assert.Equal(t, c.code, code, "%v", c.args)
	}
	assert.NoFileExists(t, path)
}
