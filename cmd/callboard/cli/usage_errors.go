package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is an error in the command line, with its own exit code.
type usageError struct{ error }

// Unwrap returns the error that holds the message.
func (e usageError) Unwrap() error { return e.error }

// UsageErrorf formats an error in the command line, which ends the process with ExitMisused.
func UsageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// WrapUsageErrors makes errors of flags and arguments of all commands below root
// usage errors, for their exit code.
func WrapUsageErrors(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	for _, c := range root.Commands() {
		wrapUsageErrors(c)
	}
}

func wrapUsageErrors(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{fmt.Errorf("%w; see callboard %s --help", err, strings.TrimPrefix(cmd.CommandPath(), "callboard "))}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapUsageErrors(sub)
	}
}

// isCobraUsageError reports whether err is a usage error of cobra. These errors have no type, so their text decides.
func isCobraUsageError(err error) bool {
	text := err.Error()
	for _, begin := range []string{"unknown command ", "required flag(s) ", "if any flags in the group "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}
