package cli

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func webhooks() *cobra.Command {
	var kinds []string
	create := command("create URL", "Make an endpoint; the secret that signs is shown this once", "callboard webhooks create https://example.com/hooks --events call.ended,campaign.*", cobra.ExactArgs(1), func(s *session, args []string) error {
		w, err := s.CreateWebhook(s.ctx(), &client.NewWebhook{URL: args[0], Events: kinds})
		if err != nil {
			return err
		}
		return s.show(w)
	})
	create.Flags().StringSliceVar(&kinds, "events", []string{"*"}, "names or categories of events")
	standing := func(w *client.Webhook) string { return "is " + w.Status }
	return group("webhooks", "Endpoints, what failed at them, and sending it again",
		lister("list", "List endpoints", "callboard webhooks list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Webhook, error] {
				return c.AllWebhooks(ctx, client.ListWebhooksQuery{})
			},
			"ID URL STATUS EVENTS FAILURES LAST", func(w *client.Webhook) []any {
				return []any{w.ID, w.URL, strings.TrimSpace(w.Status + " " + w.DisabledReason), strings.Join(w.Events, ","), w.FailureCount, maybe(w.LastDeliveryAt)}
			}),
		shower("show ENDPOINT", "Show an endpoint", "callboard webhooks show wh_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Webhook, error) {
			return c.GetWebhook(ctx, id)
		}),
		create, failedCommand(), logsCommand(), replayCommand(), testCommand(),
		doer("pause ENDPOINT...", "Deliver nothing for now", "callboard webhooks pause wh_01J…", standing, func(ctx context.Context, c *client.Client, id string) (*client.Webhook, error) {
			return c.PauseWebhook(ctx, id)
		}),
		doer("resume ENDPOINT...", "Deliver again, what waited first", "callboard webhooks resume wh_01J…", standing, func(ctx context.Context, c *client.Client, id string) (*client.Webhook, error) {
			return c.ResumeWebhook(ctx, id)
		}),
		doer("delete ENDPOINT...", "Delete endpoints", "callboard webhooks delete wh_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteWebhook(ctx, id)
		}))
}

func failedCommand() *cobra.Command {
	most := 0
	cmd := command("failed ENDPOINT", "List the events that could not be delivered", "callboard webhooks failed wh_01J…", cobra.ExactArgs(1), func(s *session, args []string) error {
		return rows(s, s.AllFailedEvents(s.ctx(), args[0], client.GetFailedEventsQuery{}), most, "EVENT TYPE AT ATTEMPTS ERROR", func(e *client.FailedEvent) []any {
			return []any{e.EventID, e.EventType, when(e.CreatedAt), e.Attempts, e.LastError}
		})
	})
	limitFlag(cmd, &most)
	return cmd
}

func logsCommand() *cobra.Command {
	most := 0
	cmd := command("logs ENDPOINT", "List deliveries, newest first", "callboard webhooks logs wh_01J…", cobra.ExactArgs(1), func(s *session, args []string) error {
		return rows(s, listDeliveries(s, args[0]), most, "EVENT TYPE AT STATUS ANSWER MS RETRIES ERROR", func(e *client.LogEntry) []any {
			return []any{e.EventID, e.EventType, when(e.CreatedAt), e.Status, e.ResponseStatus, e.ResponseTimeMs, e.Retries, dash(e.Error)}
		})
	})
	limitFlag(cmd, &most)
	return cmd
}

// listDeliveries walks the pages of an endpoint's log.
func listDeliveries(s *session, id string) iter.Seq2[client.LogEntry, error] {
	return func(yield func(client.LogEntry, error) bool) {
		for q := (client.GetWebhookLogsQuery{}); ; {
			page, err := s.GetWebhookLogs(s.ctx(), id, q)
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
	cmd := command("replay ENDPOINT [EVENT...]", "Send events again: those that are named, or those of a time",
		`callboard webhooks replay wh_01J… evt_01J…
callboard webhooks replay wh_01J… --from 2027-01-31T00:00:00Z --types call.ended --dry-run`,
		cobra.MinimumNArgs(1), func(s *session, args []string) error {
			r := &client.ReplayRequest{EventIDs: args[1:], Types: kinds, DryRun: &dry}
			if len(r.EventIDs) == 0 {
				r.EventIDs = nil
			}
			var err error
			if r.From, err = moment("--from", from); err == nil {
				r.To, err = moment("--to", to)
			}
			if err != nil {
				return err
			}
			done, err := s.ReplayEvents(s.ctx(), args[0], r)
			if err != nil {
				return err
			}
			if s.asJSON {
				return s.json(done)
			}
			s.say("%d events %s, %d not found", len(done.Accepted), map[bool]string{true: "would be sent again", false: "are sent again"}[done.DryRun], len(done.NotFound))
			if done.More && done.NextFrom != nil {
				s.say("there are more: --from %s goes on", done.NextFrom.UTC().Format(time.RFC3339Nano))
			}
			return nil
		})
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "from this time on, RFC 3339")
	f.StringVar(&to, "to", "", "up to this time")
	f.StringSliceVar(&kinds, "types", nil, "only these events")
	f.BoolVar(&dry, "dry-run", false, "only say which")
	return cmd
}

func testCommand() *cobra.Command {
	kind := ""
	cmd := command("test ENDPOINT", "Send a sample to an endpoint; exit code 1 where it is not taken", "callboard webhooks test wh_01J… --type call.ended", cobra.ExactArgs(1), func(s *session, args []string) error {
		got, err := s.TestWebhook(s.ctx(), args[0], &client.TestRequest{EventType: given(kind)})
		if err != nil {
			return err
		}
		if s.asJSON {
			err = s.json(got)
		} else {
			s.say("%s %d in %d ms", got.EventID, got.ResponseStatus, got.ResponseTimeMs)
		}
		if err == nil && !got.Delivered {
			err = errors.New(Clean(got.Error))
		}
		return err
	})
	cmd.Flags().StringVar(&kind, "type", "", "which event")
	return cmd
}
