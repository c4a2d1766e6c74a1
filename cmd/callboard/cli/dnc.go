package cli

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func dnc() *cobra.Command {
	listID, most := "", 0
	on := func(use, short, example string, args cobra.PositionalArgs, run func(s *session, list string, args []string) error) *cobra.Command {
		cmd := command(use, short, example, args, func(s *session, args []string) error {
			id := listID
			if id == "" {
				w, err := s.GetWorkspace(s.ctx())
				if err != nil {
					return err
				}
				id = w.DefaultDNCListID
			}
			return run(s, id, args)
		})
		cmd.Flags().StringVar(&listID, "list", "", "which list; the default one unless said")
		return cmd
	}
	numbersOf := on("list", "List the numbers on a list", "callboard dnc list --limit 0", cobra.NoArgs, func(s *session, list string, _ []string) error {
		return rows(s, s.AllDNCEntries(s.ctx(), list, client.ListDNCEntriesQuery{}), most, "PHONE SOURCE SINCE", func(e *client.DNCEntry) []any {
			return []any{e.Phone, e.Source, when(e.CreatedAt)}
		})
	})
	limitFlag(numbersOf, &most)
	return group("dnc", "Numbers that are never called", numbersOf,
		on("add PHONE...", "Put numbers on a list", "callboard dnc add +12025550123", cobra.MinimumNArgs(1), func(s *session, list string, args []string) error {
			done, err := s.ImportDNCEntries(s.ctx(), list, &client.DNCNumbers{Entries: args})
			return printImport(s, done, err)
		}),
		on("import FILE", "Put the numbers of a CSV file on a list", "callboard dnc import numbers.csv", cobra.ExactArgs(1), func(s *session, list string, args []string) error {
			return importDNC(s, list, args[0])
		}),
		on("remove PHONE...", "Take numbers off a list", "callboard dnc remove +12025550123", cobra.MinimumNArgs(1), func(s *session, list string, args []string) error {
			for _, phone := range args {
				gone, err := s.DeleteDNCEntry(s.ctx(), list, phone)
				if err != nil {
					return err
				}
				if s.asJSON {
					if err = s.line(gone); err != nil {
						return err
					}
					continue
				}
				s.say("%s", gone.Phone+" may be called")
			}
			return nil
		}),
		command("check PHONE", "Say on which lists a number is; exit code 1 where it is on one", "callboard dnc check +12025550123", cobra.ExactArgs(1), func(s *session, args []string) error {
			return checkDNC(s, args[0])
		}),
		lister("lists", "List the lists", "callboard dnc lists", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.DNCList, error] {
				return c.AllDNCLists(ctx, client.ListDNCListsQuery{})
			},
			"ID NAME NUMBERS DEFAULT", func(l *client.DNCList) []any { return []any{l.ID, l.Name, l.Entries, l.Default} }))
}

func checkDNC(s *session, phone string) error {
	c, err := s.CheckDNC(s.ctx(), client.CheckDNCQuery{Phone: phone})
	if err != nil {
		return err
	}
	if s.asJSON {
		err = s.json(c)
	} else {
		for _, l := range c.Lists {
			s.say("%s is on %s since %s (%s)", c.Phone, l.Name, when(l.CreatedAt), l.Source)
		}
	}
	if err == nil && c.Listed {
		err = fmt.Errorf("%s is not called", c.Phone)
	}
	return err
}

func importDNC(s *session, list, path string) error {
	f, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b := s.newBar(info.Size(), "uploading", true)
	done, err := s.ImportDNCEntriesFrom(s.ctx(), list, "text/csv", b.reader(f))
	b.end()
	return printImport(s, done, err)
}

// printImport prints how many numbers an import has added, or returns err.
func printImport(s *session, done *client.DNCImport, err error) error {
	if err != nil {
		return err
	}
	if s.asJSON {
		return s.json(done)
	}
	s.say("%d of %d numbers are new on %s, %d were there, %d are none", done.Added, done.Received, done.DNCListID, done.Duplicates, done.Invalid)
	for _, e := range done.Errors {
		s.note("line %d: %s", e.Line, Clean(e.Message))
	}
	return nil
}
