// Package webhooks implements the command callboard webhooks.
package webhooks

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard webhooks with its subcommands.
func Command() *cobra.Command {
	var kinds []string
	create := cli.NewCommand("create URL", "Create an endpoint; its signing secret is shown only now", "callboard webhooks create https://example.com/hooks --events call.ended,campaign.*", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
		w, err := s.CreateWebhook(s.Context(), &client.NewWebhook{URL: args[0], Events: kinds})
		if err != nil {
			return err
		}
		return s.PrintRecord(w)
	})
	create.Flags().StringSliceVar(&kinds, "events", []string{"*"}, "comma-separated event types or categories such as call.*")
	standing := func(w *client.Webhook) string { return "is " + w.Status }
	return cli.Group("webhooks", "Manage webhook endpoints and repeat failed deliveries",
		cli.ListCommand("list", "List endpoints", "callboard webhooks list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Webhook, error] {
				return c.AllWebhooks(ctx, client.ListWebhooksQuery{})
			},
			"ID URL STATUS EVENTS FAILURES LAST", func(w *client.Webhook) []any {
				return []any{w.ID, w.URL, strings.TrimSpace(w.Status + " " + w.DisabledReason), strings.Join(w.Events, ","), w.FailureCount, cli.FormatOptionalTime(w.LastDeliveryAt)}
			}),
		cli.ShowCommand("show ENDPOINT", "Show an endpoint", "callboard webhooks show wh_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Webhook, error) {
			return c.GetWebhook(ctx, id)
		}),
		create, failedCommand(), logsCommand(), replayCommand(), testCommand(),
		cli.ActionCommand("pause ENDPOINT...", "Pause deliveries to endpoints", "callboard webhooks pause wh_01J…", standing, func(ctx context.Context, c *client.Client, id string) (*client.Webhook, error) {
			return c.PauseWebhook(ctx, id)
		}),
		cli.ActionCommand("resume ENDPOINT...", "Resume deliveries to endpoints, oldest events first", "callboard webhooks resume wh_01J…", standing, func(ctx context.Context, c *client.Client, id string) (*client.Webhook, error) {
			return c.ResumeWebhook(ctx, id)
		}),
		cli.ActionCommand("delete ENDPOINT...", "Delete endpoints", "callboard webhooks delete wh_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteWebhook(ctx, id)
		}))
}

func failedCommand() *cobra.Command {
	most := 0
	cmd := cli.NewCommand("failed ENDPOINT", "List the events that could not be delivered", "callboard webhooks failed wh_01J…", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
		return cli.PrintRows(s, s.AllFailedEvents(s.Context(), args[0], client.GetFailedEventsQuery{}), most, "EVENT TYPE AT ATTEMPTS ERROR", func(e *client.FailedEvent) []any {
			return []any{e.EventID, e.EventType, cli.FormatTime(e.CreatedAt), e.Attempts, e.LastError}
		})
	})
	cli.AddLimitFlag(cmd, &most)
	return cmd
}

func logsCommand() *cobra.Command {
	most := 0
	cmd := cli.NewCommand("logs ENDPOINT", "List deliveries, newest first", "callboard webhooks logs wh_01J…", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
		return cli.PrintRows(s, listDeliveries(s, args[0]), most, "EVENT TYPE AT STATUS ANSWER MS RETRIES ERROR", func(e *client.LogEntry) []any {
			return []any{e.EventID, e.EventType, cli.FormatTime(e.CreatedAt), e.Status, e.ResponseStatus, e.ResponseTimeMs, e.Retries, cli.OrDash(e.Error)}
		})
	})
	cli.AddLimitFlag(cmd, &most)
	return cmd
}

// listDeliveries returns all deliveries of a webhook endpoint. It requests them page by page.
func listDeliveries(s *cli.Session, id string) iter.Seq2[client.LogEntry, error] {
	return func(yield func(client.LogEntry, error) bool) {
		for q := (client.GetWebhookLogsQuery{}); ; {
			page, err := s.GetWebhookLogs(s.Context(), id, q)
			if err != nil {
				yield(client.LogEntry{}, err)
				return
			}
			for _, e := range page.Logs {
				if !yield(e, nil) {
					return
				}
			}
			if page.NextCursor == nil || *page.NextCursor == "" {
				return
			}
			q.Cursor = *page.NextCursor
		}
	}
}

func replayCommand() *cobra.Command {
	var kinds []string
	var from, to string
	dry := false
	cmd := cli.NewCommand("replay ENDPOINT [EVENT...]", "Send events again, by id or by time",
		`callboard webhooks replay wh_01J… evt_01J…
callboard webhooks replay wh_01J… --from 2027-01-31T00:00:00Z --types call.ended --dry-run`,
		cobra.MinimumNArgs(1), func(s *cli.Session, args []string) error {
			r := &client.ReplayRequest{EventIDs: args[1:], Types: kinds, DryRun: &dry}
			if len(r.EventIDs) == 0 {
				r.EventIDs = nil
			}
			var err error
			if r.From, err = cli.ParseTime("--from", from); err == nil {
				r.To, err = cli.ParseTime("--to", to)
			}
			if err != nil {
				return err
			}
			done, err := s.ReplayEvents(s.Context(), args[0], r)
			if err != nil {
				return err
			}
			if s.AsJSON {
				return s.PrintJSON(done)
			}
			s.PrintLinef("%d events %s, %d not found", len(done.Accepted), map[bool]string{true: "would be sent again", false: "are sent again"}[done.DryRun], len(done.NotFound))
			if done.More && done.NextFrom != nil {
				s.PrintLinef("there are more events: continue with --from %s", done.NextFrom.UTC().Format(time.RFC3339Nano))
			}
			return nil
		})
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "only events from this time on, RFC 3339")
	f.StringVar(&to, "to", "", "only events before this time, RFC 3339")
	f.StringSliceVar(&kinds, "types", nil, "only events of these types")
	f.BoolVar(&dry, "dry-run", false, "only list the events")
	return cmd
}

func testCommand() *cobra.Command {
	kind := ""
	cmd := cli.NewCommand("test ENDPOINT", "Send a sample event to an endpoint; exit code 1 if the delivery fails", "callboard webhooks test wh_01J… --type call.ended", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
		got, err := s.TestWebhook(s.Context(), args[0], &client.TestRequest{EventType: cli.OptionalString(kind)})
		if err != nil {
			return err
		}
		if s.AsJSON {
			err = s.PrintJSON(got)
		} else {
			s.PrintLinef("%s %d in %d ms", got.EventID, got.ResponseStatus, got.ResponseTimeMs)
		}
		if err == nil && !got.Delivered {
			err = errors.New(cli.Clean(got.Error))
		}
		return err
	})
	cmd.Flags().StringVar(&kind, "type", "", "type of the event")
	return cmd
}
