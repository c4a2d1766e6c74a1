package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// clients is the folder of the npm packages that make tools installs.
const clients = "testdata/clients"

// node runs a script in the clients' folder and answers what it says.
func node(t *testing.T, args []string, env ...string) (string, error) {
	t.Helper()
	_, err := os.Stat(filepath.Join(clients, "node_modules", ".installed"))
	require.NoError(t, err, "make tools installs the npm packages")
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Env = clients, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTheDocumentPassesTheLinter(t *testing.T) {
	t.Parallel()
	text, err := exec.CommandContext(t.Context(), binary, "openapi").Output()
	require.NoError(t, err)
	lint := func(text string) (string, error) {
		path := filepath.Join(t.TempDir(), "openapi.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return node(t, []string{"node_modules/@redocly/cli/bin/cli.js", "lint", "--format=stylish", path}, "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	}
	said, err := lint(string(text))
	require.NoError(t, err, "%s", said)
	said, err = lint(`{"openapi": "3.1.0", "info": {"title": "Bad", "version": "1"}, "paths": {"/a": {"get": {"responses": {}}}}}`)
	require.Error(t, err)
	require.Contains(t, said, "security-defined", "it can refuse")
}
