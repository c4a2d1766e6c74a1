// Package process starts the programs that Callboard runs beside itself. It
// guarantees that they see no secret of the service's environment.
package process

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// passed are the environment variables that a program may need: where programs
// and libraries are, the language of texts, where temporary files go, and the
// voices of espeak-ng.
func passed() []string {
	return []string{"PATH", "LD_LIBRARY_PATH", "LANG", "LANGUAGE", "TMPDIR", "ESPEAK_DATA_PATH"}
}

// Command is exec.CommandContext for a program that gets a minimal environment:
// PATH, LD_LIBRARY_PATH, LANG, LANGUAGE, LC_*, TMPDIR and ESPEAK_DATA_PATH, as
// far as they are set.
func Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec,forbidigo // callers check what they pass; this is the one place that starts programs
	cmd.Env = environment(os.Environ())
	return cmd
}

// environment is what of the variables a program gets.
func environment(all []string) []string {
	out := []string{} // nil would pass everything
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "LC_") || slices.Contains(passed(), name) {
			out = append(out, v)
		}
	}
	return out
}
