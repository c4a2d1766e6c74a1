// Package pathways implements the command callboard pathways.
package pathways

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard pathways with its subcommands.
func Command() *cobra.Command {
	return cli.Group("pathways", "Create, update and validate pathways; test them with callboard chat and callboard test",
		cli.ListCommand("list", "List pathways", "callboard pathways list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Pathway, error] {
				return c.AllPathways(ctx, client.ListPathwaysQuery{})
			},
			"ID NAME VERSION NODES CHANGED", func(p *client.Pathway) []any {
				return []any{p.ID, p.Name, p.Version, len(p.Nodes), cli.FormatTime(p.UpdatedAt)}
			}),
		cli.ShowCommand("show PATHWAY", "Show a pathway", "callboard pathways show pathway_01J… --json", func(ctx context.Context, c *client.Client, id string) (*client.Pathway, error) {
			return c.GetPathway(ctx, id)
		}),
		cli.CreateCommand("Create a pathway from a file", "callboard pathways create -f visit.json", func(ctx context.Context, c *client.Client, in *client.NewPathway) (*client.Pathway, error) {
			return c.CreatePathway(ctx, in)
		}),
		cli.UpdateCommand("Update a pathway from a file", "callboard pathways update pathway_01J… -f visit.json", func(ctx context.Context, c *client.Client, id string, in *client.PathwayUpdate) (*client.Pathway, error) {
			return c.UpdatePathway(ctx, id, in)
		}),
		validateCommand(),
		cli.ActionCommand("delete PATHWAY...", "Delete pathways", "callboard pathways delete pathway_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeletePathway(ctx, id)
		}))
}

func validateCommand() *cobra.Command {
	path := ""
	cmd := cli.NewCommand("validate [PATHWAY]", "Validate a stored pathway or a file; exit code 1 if there are errors",
		`callboard pathways validate pathway_01J…
callboard pathways validate -f visit.json`,
		cobra.MaximumNArgs(1), func(s *cli.Session, args []string) error {
			var report *client.PathwayReport
			var err error
			switch {
			case (path == "") == (len(args) == 0):
				return cli.UsageErrorf("either PATHWAY or --file is required")
			case path != "":
				var p *client.NewPathway
				if p, err = cli.ReadBody[client.NewPathway](s, path); err == nil {
					report, err = s.ValidatePathway(s.Context(), p)
				}
			default:
				report, err = s.ValidateSavedPathway(s.Context(), args[0])
			}
			if err != nil {
				return err
			}
			return printReport(s, report)
		})
	cmd.Flags().StringVarP(&path, "file", "f", "", "file with a pathway; - is the standard input")
	return cmd
}

func printReport(s *cli.Session, r *client.PathwayReport) error {
	if s.AsJSON {
		if err := s.PrintJSON(r); err != nil {
			return err
		}
	} else {
		for _, l := range []struct {
			what string
			list []client.Detail
		}{{"error", r.Errors}, {"needs", r.Needs}, {"warning", r.Warnings}} {
			for _, d := range l.list {
				s.PrintLinef("%s", l.what+": "+d.Param+": "+d.Message)
			}
		}
		if r.Valid && r.Runnable {
			s.PrintLinef("the pathway is valid")
		}
	}
	if !r.Valid || !r.Runnable {
		return fmt.Errorf("the pathway is invalid: %w", cli.ErrCheckFailed)
	}
	return nil
}
