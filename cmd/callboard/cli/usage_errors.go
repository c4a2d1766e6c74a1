package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// misuse is a command line that is wrong.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// Misuse says that the command line is wrong.
func Misuse(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// Tidy lets every command below root say by its exit code that it was misused,
// and know its sub-commands.
func Tidy(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return misuse{err} })
	for _, c := range root.Commands() {
		tidy(c)
	}
}

func tidy(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return misuse{fmt.Errorf("%w; see callboard %s --help", err, strings.TrimPrefix(cmd.CommandPath(), "callboard "))}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		tidy(sub)
	}
}

// misusedCobra knows the errors that cobra makes without a type.
func misusedCobra(err error) bool {
	text := err.Error()
	for _, begin := range []string{"unknown command ", "required flag(s) ", "if any flags in the group "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}
