package setup_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/setup"
)

func TestMissingAnswersAreAskedInOrder(t *testing.T) {
	a := setup.Answers{Data: filepath.Join(t.TempDir(), "data"), CallerID: "+12025550100"}
	var out bytes.Buffer
	in := strings.Join([]string{"", "10.1.2.3:5060", "192.0.2.9", "", "", "", "https://calls.example.com", "sip.example.com", "tls", "me", "secret word", ""}, "\n") + "\n"
	require.NoError(t, a.AskMissing(strings.NewReader(in), &out, true))
	assert.NotContains(t, out.String(), "Data folder", "the flag has answered the question")
	assert.Contains(t, out.String(), "Public IP address for carriers")
	cfg, err := a.LoadConfig()
	require.NoError(t, err)
	assert.Equal(t, "192.0.2.9", cfg.PublicIP.String())
	assert.Equal(t, "https://calls.example.com", cfg.HTTP.PublicURL)
	trunk := a.NewTrunk()
	assert.Equal(t, []string{"sip.example.com", "tls"}, []string{trunk.Proxies[0].Host, *trunk.Proxies[0].Transport})
	assert.Equal(t, "secret word", *trunk.Auth.Password)
	assert.NotContains(t, strings.Join(a.EnvironmentLines(), "\n"), "secret word", "the trunk's password is not a setting")
}

func TestDefaultsApplyWithoutTerminal(t *testing.T) {
	a := setup.Answers{SIP: "127.0.0.1:5060"}
	require.NoError(t, a.AskMissing(strings.NewReader(""), nil, false))
	cfg, err := a.LoadConfig()
	require.NoError(t, err)
	assert.Equal(t, []any{setup.DefaultData, "127.0.0.1:8080"}, []any{cfg.Data, cfg.HTTP.Addr.String()})
	require.Error(t, (&setup.Answers{}).AskMissing(strings.NewReader("half\n"), &bytes.Buffer{}, true), "an incomplete input is an error")
}

func TestInvalidAnswersAreRejectedBeforeFileIsWritten(t *testing.T) {
	for says, a := range map[string]setup.Answers{
		"CALLBOARD_SIP_ADDR":      {SIP: "nowhere"},
		"CALLBOARD_HTTP_ADDR":     {SIP: "127.0.0.1:5060", HTTP: "0.0.0.0:8080"},
		"--trunk-host":            {SIP: "127.0.0.1:5060", TestCall: "+12025550123"},
		"--caller-id":             {SIP: "127.0.0.1:5060", TrunkHost: "sip.example.com", TestCall: "+12025550123"},
		"user name and a passwor": {SIP: "127.0.0.1:5060", TrunkHost: "sip.example.com", TrunkUser: "me"},
		"--trunk-transport":       {SIP: "127.0.0.1:5060", TrunkHost: "sip.example.com", TrunkTransport: "pigeon"},
		"--trunk-port":            {SIP: "127.0.0.1:5060", TrunkPort: 70000},
		"one line":                {SIP: "127.0.0.1:5060", PublicURL: "https://x\nCALLBOARD_INSECURE_HTTP=true"},
	} {
		require.NoError(t, a.AskMissing(strings.NewReader(""), nil, false))
		_, err := a.LoadConfig()
		require.ErrorContains(t, err, says)
	}
}

func TestEnvFileIsReadAlikeByServiceAndShell(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "callboard.env")
	a := setup.Answers{Data: filepath.Join(dir, "Ada's data $HOME"), SIP: "127.0.0.1:5060", TrunkHost: "10.9.8.7", RedisURL: "redis://user:pa%20ss@127.0.0.1:6379/0"}
	require.NoError(t, a.AskMissing(strings.NewReader(""), nil, false))
	require.NoError(t, a.WriteEnvFile(path, false))
	require.ErrorContains(t, a.WriteEnvFile(path, false), "--force")
	require.NoError(t, a.WriteEnvFile(path, true))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	lines, err := setup.ReadEnvFile(path)
	require.NoError(t, err)
	assert.Equal(t, a.EnvironmentLines(), lines)
	assert.Contains(t, lines, "CALLBOARD_EGRESS_ALLOW=10.9.8.7/32", "egress rules permit a carrier in a private network")
	shell := exec.CommandContext(t.Context(), "sh", "-c", `set -a; . "$1"; env | grep ^CALLBOARD_ | sort`, "sh", path)
	shell.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := shell.Output()
	require.NoError(t, err)
	for _, line := range lines {
		assert.Contains(t, strings.Split(string(out), "\n"), line)
	}
}

func TestInvalidEnvFileIsRejectedWithLineNumber(t *testing.T) {
	for text, line := range map[string]string{"A=1\nnonsense\n": ":2:", "A='half\n": ":1:", "A=two words\n": ":1:", "B C=1\n": ":1:"} {
		path := filepath.Join(t.TempDir(), "env")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := setup.ReadEnvFile(path)
		require.ErrorContains(t, err, line, text)
	}
	path := filepath.Join(t.TempDir(), "env")
	require.NoError(t, os.WriteFile(path, []byte("# a comment\n\nA=1\nB=\"two words\"\nC='it'\\''s'\n"), 0o600))
	lines, err := setup.ReadEnvFile(path)
	require.NoError(t, err)
	assert.Equal(t, []string{"A=1", "B=two words", "C=it's"}, lines)
}
