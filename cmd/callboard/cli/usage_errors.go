package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is an error in the arguments or flags of a command line. It has its own exit code.
type usageError struct{ error }

// Unwrap returns the error that contains the message.
func (e usageError) Unwrap() error { return e.error }

// UsageErrorf returns an error in the command line. The process then ends with the exit code ExitMisused.
func UsageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// WrapUsageErrors makes the commands below root return usage errors for invalid flags and arguments. These have their own
// exit code.
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

// isCobraUsageError reports whether err is an error of the library cobra in the command line. It compares the text,
// because these errors have no type of their own.
func isCobraUsageError(err error) bool {
	text := err.Error()
	for _, begin := range []string{"unknown command ", "required flag(s) ", "if any flags in the group "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}
