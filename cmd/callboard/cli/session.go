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

// group is a command that only has others below it.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		names := make([]string, 0, len(below))
		for _, b := range below {
			names = append(names, b.Name())
		}
		return fmt.Errorf("%s knows no %q but %s", cmd.CommandPath(), args[0], strings.Join(names, ", "))
	}
	cmd.AddCommand(below...)
	return cmd
}

// session is one run of a command: whom it asks and where it tells.
type session struct {
	*client.Client
	cmd    *cobra.Command
	asJSON bool
}

func (s *session) ctx() context.Context { return s.cmd.Context() }

func (s *session) out() io.Writer { return s.cmd.OutOrStdout() }

func (s *session) errs() io.Writer { return s.cmd.ErrOrStderr() }

// say prints one line of what was asked for.
func (s *session) say(format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = Clean(text)
		}
	}
	_, _ = fmt.Fprintf(s.out(), format+"\n", args...)
}

// note prints one line beside it.
func (s *session) note(format string, args ...any) {
	_, _ = fmt.Fprintf(s.errs(), format+"\n", args...)
}

// command is one that asks a service.
func command(use, short, example string, args cobra.PositionalArgs, run func(s *session, args []string) error) *cobra.Command {
	s := &session{}
	cmd := &cobra.Command{Use: use, Short: short, Example: indented(example), Args: args}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.cmd = cmd
		return run(s, args)
	}
	s.Client = Flags(cmd)
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "print JSON")
	return cmd
}

func indented(example string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n  ")
}

// environmentOf is that of the key; the workspace itself has both.
func environmentOf(s *session, w *client.Workspace) string {
	if strings.HasPrefix(s.Key, "svc_sk_test_") {
		return "test"
	}
	return w.Environment
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
