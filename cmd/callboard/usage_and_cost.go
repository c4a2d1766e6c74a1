package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// errMiscounted sets the exit code to 1 when a recount finds wrong counters.
var errMiscounted = errors.New("the counters differ from the ledger: use --repair to correct them")

func usageCommand() *cobra.Command {
	var o administration.RecountRequest
	var from, to string
	recount, asJSON := false, false
	cmd := &cobra.Command{
		Use: "usage", Short: "Show usage and cost, or recount the usage from the ledger", Args: cobra.NoArgs,
		Example: "  callboard usage --from 2027-01-01\n  callboard usage --recount --repair",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !recount {
				c, err := cli.ClientOf(cmd)
				if err != nil {
					return err
				}
				return printUsage(&cli.Session{Client: c, Command: cmd, AsJSON: asJSON}, from, to)
			}
			if cli.IsRemote(cmd) {
				return cli.UsageErrorf("--recount reads the store: run it on the machine with the data folder")
			}
			now := time.Now().UTC()
			o.From, o.To = time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC), now
			for _, f := range []struct {
				name, text string
				into       *time.Time
			}{{"--from", from, &o.From}, {"--to", to, &o.To}} {
				if f.text == "" {
					continue
				}
				t, err := time.Parse(time.DateOnly, f.text)
				if err != nil {
					return fmt.Errorf("%s must be a day such as 2027-01-31", f.name)
				}
				*f.into = t
			}
			return withAdministration(cmd, func(ctx context.Context, d administration.Administration) error {
				return printRecount(ctx, cmd, d, o, asJSON)
			})
		},
	}
	addAdministrationFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&recount, "recount", false, "count the rows of the ledger on this machine and compare them with the counters")
	f.BoolVar(&o.Repair, "repair", false, "correct wrong counters")
	f.StringVar(&from, "from", "", "first day, UTC. Default: the first of this month")
	f.StringVar(&to, "to", "", "last day, UTC. Default: today")
	f.StringVar(&o.Workspace, "workspace", "", "id of one workspace")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printUsage prints the usage and the cost per day, from the API.
func printUsage(s *cli.Session, from, to string) error {
	u, err := s.GetUsage(s.Context(), client.GetUsageQuery{From: from, To: to})
	if err != nil {
		return err
	}
	if s.AsJSON {
		return s.PrintJSON(u)
	}
	w := tabwriter.NewWriter(s.Out(), 0, 4, 2, ' ', 0)
	cli.WriteRow(w, "DAY", "ATTEMPTS", "INBOUND", "MINUTES", "SMS", "AMOUNT")
	for _, d := range u.Days {
		cli.WriteRow(w, d.Day, d.Attempts, d.InboundCalls, fmt.Sprintf("%.1f", d.Minutes), d.SMS, d.Amount.Amount+" "+d.Amount.Currency)
	}
	t := u.Total
	cli.WriteRow(w, "total", t.Attempts, t.InboundCalls, fmt.Sprintf("%.1f", t.Minutes), t.SMS, t.Amount.Amount+" "+t.Amount.Currency)
	return w.Flush()
}

func printRecount(ctx context.Context, cmd *cobra.Command, d administration.Administration, o administration.RecountRequest, asJSON bool) error {
	results, err := d.Recount(ctx, o)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(cmd.OutOrStdout(), results)
	} else {
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "WORKSPACE\tFROM\tTO\tROWS\tDAYS\tWRONG\tREPAIRED")
		for _, r := range results {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%t\n", r.WorkspaceID, r.From, r.To, r.Rows, r.Days, len(r.Wrong), r.Repaired)
		}
		err = w.Flush()
	}
	for _, r := range results {
		if len(r.Wrong) > 0 && !r.Repaired {
			return errors.Join(err, errMiscounted)
		}
	}
	return err
}
