// Package process starts external programs with a minimal environment. No secret in the service's environment variables
// reaches these programs.
package process

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// allowedVars are the environment variables that a program may need: search paths, language, directory of temporary
// files, and the voices of espeak-ng.
func allowedVars() []string {
	return []string{"PATH", "LD_LIBRARY_PATH", "LANG", "LANGUAGE", "TMPDIR", "ESPEAK_DATA_PATH"}
}

// Command is exec.CommandContext with a minimal environment. The program gets PATH, LD_LIBRARY_PATH, LANG,
// LANGUAGE, LC_*, TMPDIR and ESPEAK_DATA_PATH, as far as they are set.
func Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec,forbidigo // callers check what they pass; this is the one place that starts programs
	cmd.Env = filterEnv(os.Environ())
	return cmd
}

// filterEnv returns the variables that a program gets: allowedVars and LC_*.
func filterEnv(all []string) []string {
	out := []string{} // os/exec passes the whole environment for nil
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "LC_") || slices.Contains(allowedVars(), name) {
			out = append(out, v)
		}
	}
	return out
}
