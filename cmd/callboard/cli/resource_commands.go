package cli

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
)

// ListCommand returns a command that lists the records of a resource as a table or as JSON.
func ListCommand[T any](use, short, example string, flags func(*pflag.FlagSet), all func(ctx context.Context, c *client.Client) iter.Seq2[T, error], head string, row func(*T) []any) *cobra.Command {
	limit := 0
	cmd := NewCommand(use, short, example, cobra.NoArgs, func(s *Session, _ []string) error {
		if limit < 0 {
			return UsageErrorf("--limit must be 0 or more")
		}
		return PrintRows(s, all(s.Context(), s.Client), limit, head, row)
	})
	AddLimitFlag(cmd, &limit)
	if flags != nil {
		flags(cmd.Flags())
	}
	return cmd
}

// ShowCommand returns a command that shows one record by its id.
func ShowCommand[T any](use, short, example string, get func(ctx context.Context, c *client.Client, id string) (*T, error)) *cobra.Command {
	return NewCommand(use, short, example, cobra.ExactArgs(1), func(s *Session, args []string) error {
		record, err := get(s.Context(), s.Client, args[0])
		if err != nil {
			return err
		}
		return s.PrintRecord(record)
	})
}

// ActionCommand returns a command that calls do for each record whose id is an argument. For each it prints the id and
// the text that describe returns for the result.
func ActionCommand[T any](use, short, example string, describe func(*T) string, do func(ctx context.Context, c *client.Client, id string) (*T, error)) *cobra.Command {
	return NewCommand(use, short, example, cobra.MinimumNArgs(1), func(s *Session, args []string) error {
		for _, id := range args {
			record, err := do(s.Context(), s.Client, id)
			if err != nil {
				return err
			}
			if s.AsJSON {
				err = s.PrintJSONLine(record)
			} else {
				s.PrintLinef("%s", id+" "+describe(record))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DescribeDeleted returns the text that ActionCommand prints after the id of a deleted record.
func DescribeDeleted(*client.Deleted) string { return "is deleted" }

// CreateCommand returns a command that creates a record. The flag --file names the JSON file with the request body.
func CreateCommand[In, Out any](short, example string, do func(ctx context.Context, c *client.Client, in *In) (*Out, error)) *cobra.Command {
	path := ""
	cmd := NewCommand("create", short, example, cobra.NoArgs, func(s *Session, _ []string) error {
		in, err := ReadBody[In](s, path)
		if err != nil {
			return err
		}
		created, err := do(s.Context(), s.Client, in)
		if err != nil {
			return err
		}
		return s.PrintRecord(created)
	})
	addBodyFlag(cmd, &path)
	return cmd
}

// UpdateCommand returns a command that updates a record. The flag --file names the JSON file with the request body.
func UpdateCommand[In, Out any](short, example string, do func(ctx context.Context, c *client.Client, id string, in *In) (*Out, error)) *cobra.Command {
	path := ""
	cmd := NewCommand("update ID", short, example, cobra.ExactArgs(1), func(s *Session, args []string) error {
		in, err := ReadBody[In](s, path)
		if err != nil {
			return err
		}
		changed, err := do(s.Context(), s.Client, args[0], in)
		if err != nil {
			return err
		}
		return s.PrintRecord(changed)
	})
	addBodyFlag(cmd, &path)
	return cmd
}
