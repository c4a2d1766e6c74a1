package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/service/restorequarantine"
)

func releaseCommand() *cobra.Command {
	asJSON, list := false, false
	cmd := &cobra.Command{
		Use: "release", Short: "Release a restored store: calls, webhooks and messages go out again", Args: cobra.NoArgs,
		Example: "  callboard release --list\n  callboard release",
		Long: "A store that callboard restore has made is in quarantine: the service answers, and nothing leaves it. --list tells what may have gone out since the backup and is not done again. " +
			"Without it the store is released: make sure first that the service that was backed up does not run any more. A running service starts anew, which takes about a second. Campaigns stay paused until each is resumed.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAdministration(cmd, func(ctx context.Context, d administration.Administration) error {
				do := d.ReleaseQuarantine
				if list {
					do = d.Quarantine
				}
				q, err := do(ctx)
				if err != nil || asJSON {
					if err == nil {
						err = printJSON(cmd.OutOrStdout(), q)
					}
					return err
				}
				return printQuarantine(cmd, q, list)
			})
		},
	}
	addAdministrationFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&list, "list", false, "only list what may have gone out since the backup")
	return cmd
}

// printQuarantine prints the actions that may have gone out since the backup. list
// says that the quarantine continues.
func printQuarantine(cmd *cobra.Command, q *restorequarantine.Quarantine, list bool) error {
	out := cmd.OutOrStdout()
	if q.BackupAt == nil {
		_, err := fmt.Fprintln(out, "The store is not in quarantine.")
		return err
	}
	for _, a := range q.Actions {
		if _, err := fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", a.Kind, a.At.Format(time.RFC3339), a.WorkspaceID, a.Environment, a.ID, a.To); err != nil {
			return err
		}
	}
	done := "The store is released."
	if list {
		done = "The store is in quarantine; callboard release ends it."
	}
	n := q.Counts
	_, err := fmt.Fprintf(out, "Since the backup of %s these may have gone out: %d calls, %d campaigns (paused), %d bulk jobs, %d messages, %d reminders. None is sent again.\n%s\n",
		q.BackupAt.Format(time.RFC3339), n.Calls, n.Campaigns, n.Bulks, n.Messages, n.Reminders, done)
	return err
}
