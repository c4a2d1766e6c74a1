// Package dnc implements the command callboard dnc, which manages do-not-call lists.
package dnc

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard dnc with its subcommands.
func Command() *cobra.Command {
	listID, most := "", 0
	on := func(use, short, example string, args cobra.PositionalArgs, run func(s *cli.Session, list string, args []string) error) *cobra.Command {
		cmd := cli.NewCommand(use, short, example, args, func(s *cli.Session, args []string) error {
			id := listID
			if id == "" {
				w, err := s.GetWorkspace(s.Context())
				if err != nil {
					return err
				}
				id = w.DefaultDNCListID
			}
			return run(s, id, args)
		})
		cmd.Flags().StringVar(&listID, "list", "", "id of the do-not-call list. Default: the default list")
		return cmd
	}
	numbersOf := on("list", "List the numbers on a list", "callboard dnc list --limit 0", cobra.NoArgs, func(s *cli.Session, list string, _ []string) error {
		return cli.PrintRows(s, s.AllDNCEntries(s.Context(), list, client.ListDNCEntriesQuery{}), most, "PHONE SOURCE SINCE", func(e *client.DNCEntry) []any {
			return []any{e.Phone, e.Source, cli.FormatTime(e.CreatedAt)}
		})
	})
	cli.AddLimitFlag(numbersOf, &most)
	return cli.Group("dnc", "Manage do-not-call lists", numbersOf,
		on("add PHONE...", "Add numbers to a list", "callboard dnc add +12025550123", cobra.MinimumNArgs(1), func(s *cli.Session, list string, args []string) error {
			done, err := s.ImportDNCEntries(s.Context(), list, &client.DNCNumbers{Entries: args})
			return printImport(s, done, err)
		}),
		on("import FILE", "Add the numbers of a CSV file to a list", "callboard dnc import numbers.csv", cobra.ExactArgs(1), func(s *cli.Session, list string, args []string) error {
			return importDNC(s, list, args[0])
		}),
		on("remove PHONE...", "Remove numbers from a list", "callboard dnc remove +12025550123", cobra.MinimumNArgs(1), func(s *cli.Session, list string, args []string) error {
			for _, phone := range args {
				gone, err := s.DeleteDNCEntry(s.Context(), list, phone)
				if err != nil {
					return err
				}
				if s.AsJSON {
					if err = s.PrintJSONLine(gone); err != nil {
						return err
					}
					continue
				}
				s.PrintLinef("%s", gone.Phone+" is removed")
			}
			return nil
		}),
		cli.NewCommand("check PHONE", "Show the lists that contain a number; exit code 1 if there is one", "callboard dnc check +12025550123", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
			return checkDNC(s, args[0])
		}),
		cli.ListCommand("lists", "List do-not-call lists", "callboard dnc lists", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.DNCList, error] {
				return c.AllDNCLists(ctx, client.ListDNCListsQuery{})
			},
			"ID NAME NUMBERS DEFAULT", func(l *client.DNCList) []any { return []any{l.ID, l.Name, l.Entries, l.Default} }))
}

func checkDNC(s *cli.Session, phone string) error {
	c, err := s.CheckDNC(s.Context(), client.CheckDNCQuery{Phone: phone})
	if err != nil {
		return err
	}
	if s.AsJSON {
		err = s.PrintJSON(c)
	} else {
		for _, l := range c.Lists {
			s.PrintLinef("%s is on %s since %s (%s)", c.Phone, l.Name, cli.FormatTime(l.CreatedAt), l.Source)
		}
	}
	if err == nil && c.Listed {
		err = fmt.Errorf("%s is on a do-not-call list", c.Phone)
	}
	return err
}

func importDNC(s *cli.Session, list, path string) error {
	f, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b := s.NewProgressBar(info.Size(), "uploading", true)
	done, err := s.ImportDNCEntriesFrom(s.Context(), list, "text/csv", b.Reader(f))
	b.Finish()
	return printImport(s, done, err)
}

// printImport prints the counts of an import into a do-not-call list. If err is not nil, it only returns err.
func printImport(s *cli.Session, done *client.DNCImport, err error) error {
	if err != nil {
		return err
	}
	if s.AsJSON {
		return s.PrintJSON(done)
	}
	s.PrintLinef("%d of %d numbers added to %s, %d duplicates, %d invalid", done.Added, done.Received, done.DNCListID, done.Duplicates, done.Invalid)
	for _, e := range done.Errors {
		s.PrintNotef("line %d: %s", e.Line, cli.Clean(e.Message))
	}
	return nil
}
