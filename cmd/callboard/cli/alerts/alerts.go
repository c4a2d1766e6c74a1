// Package alerts holds the subcommands of callboard alerts.
package alerts

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns callboard alerts with its subcommands.
func Command() *cobra.Command {
	return cli.Group("alerts", "What operators are told of; takes an operator key",
		cli.ListCommand("list", "List the alerts of now", "callboard alerts list\ncallboard alerts list --json", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Alert, error] {
				return c.AllAlerts(ctx, client.ListAlertsQuery{})
			},
			"STATUS SINCE KIND WORKSPACE SUBJECT NAME VALUE BOUND RULE", func(a *client.Alert) []any {
				return []any{
					a.Status, cli.FormatTime(a.Since), a.Kind, cli.OrDash(a.OfWorkspaceID), a.Subject, cli.OrDash(a.SubjectName), fmt.Sprintf("%.2f", a.Value), fmt.Sprintf("%.2f", a.Bound), a.RuleName,
				}
			}),
		cli.ListCommand("rules", "List the rules", "callboard alerts rules", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.AlertRule, error] {
				return c.AllAlertRules(ctx, client.ListAlertRulesQuery{})
			},
			"ID NAME KIND WATCHES MAILS STATE", func(r *client.AlertRule) []any {
				watches, state := r.WatchesWorkspaceID, "looks"
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
		cli.ShowCommand("show RULE", "Show a rule", "callboard alerts show alertrule_01J…", func(ctx context.Context, c *client.Client, id string) (*client.AlertRule, error) {
			return c.GetAlertRule(ctx, id)
		}),
		cli.CreateCommand("Make a rule of a file", `echo '{"name": "Carrier is down", "kind": "trunk_down", "minutes": 5}' | callboard alerts create -f -`,
			func(ctx context.Context, c *client.Client, in *client.NewAlertRule) (*client.AlertRule, error) {
				return c.CreateAlertRule(ctx, in)
			}),
		cli.UpdateCommand("Change a rule by a file", `echo '{"paused": true}' | callboard alerts update alertrule_01J… -f -`,
			func(ctx context.Context, c *client.Client, id string, in *client.AlertRuleUpdate) (*client.AlertRule, error) {
				return c.UpdateAlertRule(ctx, id, in)
			}),
		testCommand(),
		cli.ActionCommand("delete RULE...", "Delete rules", "callboard alerts delete alertrule_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteAlertRule(ctx, id)
		}))
}

func testCommand() *cobra.Command {
	return cli.NewCommand("test RULE", "Try all ways of a rule; exit code 1 where a mail is not taken", "callboard alerts test alertrule_01J…", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
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
			s.PrintLinef("event %s is on its way to the webhooks that take it", t.EventID)
			for _, m := range t.Mails {
				if m.Sent {
					s.PrintLinef("%s: the mail server has taken it", m.To)
				} else {
					s.PrintLinef("%s: %s", m.To, m.Error)
				}
			}
		}
		if err == nil && bad > 0 {
			err = fmt.Errorf("%d of %d mails are %w", bad, len(t.Mails), cli.ErrCheckFailed)
		}
		return err
	})
}
