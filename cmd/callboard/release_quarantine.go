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
		Use: "release", Short: "End the quarantine of a restored store: calls, webhooks and messages go out again", Args: cobra.NoArgs,
		Example: "  callboard release --list\n  callboard release",
		Long: "A store from callboard restore is in quarantine: the service answers requests, but nothing leaves it. --list prints the actions that may have gone out since the backup; they are not repeated. " +
			"Without --list the command ends the quarantine: make sure first that the original service has stopped. A running service restarts, which takes about a second. Campaigns stay paused until you resume each.",
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
	cmd.Flags().BoolVar(&list, "list", false, "only list the actions that may have gone out since the backup")
	return cmd
}

// printQuarantine prints the actions that the original service may have executed since the backup. If list is true,
// the quarantine continues. Otherwise it has just ended.
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
	state := "The quarantine of the store has ended."
	if list {
		state = "The store is in quarantine. Run callboard release to end the quarantine."
	}
	n := q.Counts
	_, err := fmt.Fprintf(out, "Possibly sent since the backup of %s: %d calls, %d campaigns (paused), %d bulk jobs, %d messages, %d reminders. Callboard does not repeat them.\n%s\n",
		q.BackupAt.Format(time.RFC3339), n.Calls, n.Campaigns, n.Bulks, n.Messages, n.Reminders, state)
	return err
}
