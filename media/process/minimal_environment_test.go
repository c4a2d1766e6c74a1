package process_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/process"
)

func TestCommandPassesNoSecrets(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("CALLBOARD_MASTER_KEY", "secret")
	t.Setenv("HTTPS_PROXY", "http://user:secret@proxy")
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TMPDIR", t.TempDir())
	program, err := exec.LookPath("env")
	require.NoError(t, err)
	out, err := process.Command(t.Context(), program).Output()
	require.NoError(t, err)
	var names []string
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	assert.NotContains(t, string(out), "secret")
	assert.Subset(t, names, []string{"PATH", "LC_ALL", "TMPDIR"})
	allowed := []string{"PATH", "LD_LIBRARY_PATH", "LANG", "LANGUAGE", "TMPDIR", "ESPEAK_DATA_PATH"}
	for _, name := range names {
		assert.True(t, strings.HasPrefix(name, "LC_") || slices.Contains(allowed, name), "%s is passed", name)
	}
}
