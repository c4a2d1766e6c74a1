package cli

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
)

// lister is a command that lists.
func lister[T any](use, short, example string, flags func(*pflag.FlagSet), all func(ctx context.Context, c *client.Client) iter.Seq2[T, error], head string, row func(*T) []any) *cobra.Command {
	most := 0
	cmd := command(use, short, example, cobra.NoArgs, func(s *session, _ []string) error {
		if most < 0 {
			return Misuse("--limit must be 0 or more")
		}
		return rows(s, all(s.ctx(), s.Client), most, head, row)
	})
	limitFlag(cmd, &most)
	if flags != nil {
		flags(cmd.Flags())
	}
	return cmd
}

// shower is a command that shows one thing by its id.
func shower[T any](use, short, example string, get func(ctx context.Context, c *client.Client, id string) (*T, error)) *cobra.Command {
	return command(use, short, example, cobra.ExactArgs(1), func(s *session, args []string) error {
		one, err := get(s.ctx(), s.Client, args[0])
		if err != nil {
			return err
		}
		return s.show(one)
	})
}

// doer is a command that does something to each of what is named, and tells it.
func doer[T any](use, short, example string, did func(*T) string, do func(ctx context.Context, c *client.Client, id string) (*T, error)) *cobra.Command {
	return command(use, short, example, cobra.MinimumNArgs(1), func(s *session, args []string) error {
		for _, id := range args {
			one, err := do(s.ctx(), s.Client, id)
			if err != nil {
				return err
			}
			if s.asJSON {
				err = s.line(one)
			} else {
				s.say("%s", id+" "+did(one))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func deleted(*client.Deleted) string { return "is deleted" }

// maker is a command that makes something of a file.
func maker[In, Out any](short, example string, do func(ctx context.Context, c *client.Client, in *In) (*Out, error)) *cobra.Command {
	path := ""
	cmd := command("create", short, example, cobra.NoArgs, func(s *session, _ []string) error {
		in, err := fromFile[In](s, path)
		if err != nil {
			return err
		}
		made, err := do(s.ctx(), s.Client, in)
		if err != nil {
			return err
		}
		return s.show(made)
	})
	fileFlag(cmd, &path)
	return cmd
}

// changer is a command that changes something by a file.
func changer[In, Out any](short, example string, do func(ctx context.Context, c *client.Client, id string, in *In) (*Out, error)) *cobra.Command {
	path := ""
	cmd := command("update ID", short, example, cobra.ExactArgs(1), func(s *session, args []string) error {
		in, err := fromFile[In](s, path)
		if err != nil {
			return err
		}
		changed, err := do(s.ctx(), s.Client, args[0], in)
		if err != nil {
			return err
		}
		return s.show(changed)
	})
	fileFlag(cmd, &path)
	return cmd
}
