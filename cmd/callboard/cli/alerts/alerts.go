// Package alerts implements the command callboard alerts.
package alerts

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard alerts with its subcommands.
func Command() *cobra.Command {
	return cli.Group("alerts", "List alerts and manage alert rules; requires an operator key",
		cli.ListCommand("list", "List active alerts", "callboard alerts list\ncallboard alerts list --json", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Alert, error] {
				return c.AllAlerts(ctx, client.ListAlertsQuery{})
			},
			"STATUS SINCE KIND WORKSPACE SUBJECT NAME VALUE BOUND RULE", func(a *client.Alert) []any {
				return []any{
					a.Status, cli.FormatTime(a.Since), a.Kind, cli.OrDash(a.OfWorkspaceID), a.Subject, cli.OrDash(a.SubjectName), fmt.Sprintf("%.2f", a.Value), fmt.Sprintf("%.2f", a.Bound), a.RuleName,
				}
			}),
		cli.ListCommand("rules", "List alert rules", "callboard alerts rules", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.AlertRule, error] {
				return c.AllAlertRules(ctx, client.ListAlertRulesQuery{})
			},
			"ID NAME KIND WATCHES MAILS STATE", func(r *client.AlertRule) []any {
				watches, state := r.WatchesWorkspaceID, "active"
				switch {
				case r.Together:
					watches = "all together"
				case watches == "":
					watches = "each workspace"
				}
				if r.Paused {
					state = "paused"
				}
				return []any{r.ID, r.Name, r.Kind, watches, len(r.Emails), state}
			}),
		cli.ShowCommand("show RULE", "Show an alert rule", "callboard alerts show alertrule_01J…", func(ctx context.Context, c *client.Client, id string) (*client.AlertRule, error) {
			return c.GetAlertRule(ctx, id)
		}),
		cli.CreateCommand("Create an alert rule from a file", `echo '{"name": "Carrier is down", "kind": "trunk_down", "minutes": 5}' | callboard alerts create -f -`,
			func(ctx context.Context, c *client.Client, in *client.NewAlertRule) (*client.AlertRule, error) {
				return c.CreateAlertRule(ctx, in)
			}),
		cli.UpdateCommand("Update an alert rule from a file", `echo '{"paused": true}' | callboard alerts update alertrule_01J… -f -`,
			func(ctx context.Context, c *client.Client, id string, in *client.AlertRuleUpdate) (*client.AlertRule, error) {
				return c.UpdateAlertRule(ctx, id, in)
			}),
		testCommand(),
		cli.ActionCommand("delete RULE...", "Delete alert rules", "callboard alerts delete alertrule_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteAlertRule(ctx, id)
		}))
}

func testCommand() *cobra.Command {
	return cli.NewCommand("test RULE", "Send a test alert over all channels of a rule; exit code 1 if the mail server rejects a mail", "callboard alerts test alertrule_01J…", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
		t, err := s.TestAlertRule(s.Context(), args[0])
		if err != nil {
			return err
		}
		bad := 0
		for _, m := range t.Mails {
			if !m.Sent {
				bad++
			}
		}
		if s.AsJSON {
			err = s.PrintJSON(t)
		} else {
			s.PrintLinef("event %s is queued for its webhooks", t.EventID)
			for _, m := range t.Mails {
				if m.Sent {
					s.PrintLinef("%s: accepted by the mail server", m.To)
				} else {
					s.PrintLinef("%s: %s", m.To, m.Error)
				}
			}
		}
		if err == nil && bad > 0 {
			err = fmt.Errorf("%d of %d mails failed: %w", bad, len(t.Mails), cli.ErrCheckFailed)
		}
		return err
	})
}
