package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// Group returns a command that only groups its subcommands. Without a subcommand it prints the help.
func Group(use, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		names := make([]string, 0, len(subcommands))
		for _, c := range subcommands {
			names = append(names, c.Name())
		}
		return fmt.Errorf("%s has no subcommand %q; use one of %s", cmd.CommandPath(), args[0], strings.Join(names, ", "))
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// Session is one run of a command. It contains the API client and the writers for the output.
type Session struct {
	*client.Client
	Command *cobra.Command
	AsJSON  bool // --json
}

// Context returns the context of the command. An interrupt (Ctrl-C) ends the context.
func (s *Session) Context() context.Context { return s.Command.Context() }

// Out returns the writer for results, which is the standard output.
func (s *Session) Out() io.Writer { return s.Command.OutOrStdout() }

// ErrOut returns the writer for notes, which is the standard error.
func (s *Session) ErrOut() io.Writer { return s.Command.ErrOrStderr() }

// PrintLinef prints one line of the result. It replaces control characters in string arguments, as Clean does.
func (s *Session) PrintLinef(format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = Clean(text)
		}
	}
	_, _ = fmt.Fprintf(s.Out(), format+"\n", args...)
}

// PrintNotef prints one line of a note to the standard error.
func (s *Session) PrintNotef(format string, args ...any) {
	_, _ = fmt.Fprintf(s.ErrOut(), format+"\n", args...)
}

// NewCommand returns a command that sends requests to the HTTP API of a service.
func NewCommand(use, short, example string, args cobra.PositionalArgs, run func(s *Session, args []string) error) *cobra.Command {
	s := &Session{}
	cmd := &cobra.Command{Use: use, Short: short, Example: indentExample(example), Args: args}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.Command = cmd
		return run(s, args)
	}
	s.Client = AddClientFlags(cmd)
	cmd.Flags().BoolVar(&s.AsJSON, "json", false, "print JSON")
	return cmd
}

func indentExample(example string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n  ")
}

// EnvironmentOf returns the environment, live or test, that requests with the API key of s use.
func EnvironmentOf(s *Session, w *client.Workspace) string {
	if strings.HasPrefix(s.Key, "svc_sk_test_") {
		return "test"
	}
	return w.Environment
}

// Sleep waits for the duration d. If ctx ends earlier, it returns the error of ctx at once.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
