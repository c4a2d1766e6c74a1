package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// errNotConfirmed ends a command that the user has not confirmed.
var errNotConfirmed = errors.New("not confirmed; nothing was changed")

// destructiveCommands are the names of commands that cannot be undone or that end calls.
func destructiveCommands() []string {
	return []string{"delete", "cancel", "revoke", "stop-dialling", "drain", "pause-all", "hangup"}
}

// AskBeforeDestructiveCommands makes each command whose name is among destructiveCommands ask on a terminal before it runs.
// Their flag --yes skips the question.
func AskBeforeDestructiveCommands(root *cobra.Command) { askBefore(root, isTerminal) }

// askBefore asks on the standard input if terminal returns true.
func askBefore(c *cobra.Command, terminal func() bool) {
	for _, sub := range c.Commands() {
		askBefore(sub, terminal)
	}
	if !slices.Contains(destructiveCommands(), c.Name()) || c.RunE == nil || c.Flags().Lookup("yes") != nil {
		return
	}
	run, yes := c.RunE, false
	c.Flags().BoolVar(&yes, "yes", false, "do not ask on a terminal")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !yes && terminal() && !isConfirmed(cmd, args) {
			return errNotConfirmed
		}
		return run(cmd, args)
	}
}

// isConfirmed asks whether the command shall run and reports whether the answer is yes.
func isConfirmed(cmd *cobra.Command, args []string) bool {
	_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s? [y/N] ", strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "callboard ")+" "+strings.Join(args, " ")), cmd.Short)
	answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // no answer is no
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

// isTerminal reports whether a user can answer on the standard input.
func isTerminal() bool {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
