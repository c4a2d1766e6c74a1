// Package events implements the command callboard events.
package events

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Follow prints new events as they occur, until the context of s ends.
func Follow(s *cli.Session, q client.StreamEventsQuery) error {
	if _, err := s.ListEvents(s.Context(), client.ListEventsQuery{Limit: 1}); err != nil {
		return err // a stream would retry without end
	}
	for e, err := range s.Events(s.Context(), q) {
		if err != nil {
			return err
		}
		if err = Print(s, &e); err != nil {
			return err
		}
	}
	return s.Context().Err()
}

// Print prints an event on one line: as JSON with --json, otherwise its time, type and main fields.
func Print(s *cli.Session, e *client.Event) error {
	if s.AsJSON {
		return s.PrintJSONLine(e)
	}
	s.PrintLinef("%s  %-28s %s  %s", cli.FormatTime(e.CreatedAt), e.Type, e.Subject, Summarize(e.Data))
	return nil
}

// Summarize returns the main fields of an event payload on one line.
func Summarize(data json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	var parts []string
	for _, name := range []string{"direction", "from", "to", "status", "disposition", "outcome", "result", "ended_reason", "duration_seconds", "phone", "reason", "code", "error"} {
		if raw, ok := fields[name]; ok {
			if text, plain := cli.InlineValue(raw); plain && text != "" {
				parts = append(parts, name+"="+text)
			}
		}
	}
	return strings.Join(parts, " ")
}

// Command returns the command callboard events with its subcommands.
func Command() *cobra.Command {
	q := client.StreamEventsQuery{After: "now"}
	tail := cli.NewCommand("tail", "Follow events as they happen, until Ctrl-C", `callboard events tail --types call.*,campaign.*
callboard events tail --json | jq .type`, cobra.NoArgs, func(s *cli.Session, _ []string) error { return Follow(s, q) })
	tail.Flags().StringVar(&q.Type, "types", "", "comma-separated event types or categories such as call.*")
	tail.Flags().StringVar(&q.After, "after", q.After, "start after the event with this id")
	kinds := ""
	return cli.Group("events", "List and follow events", tail,
		cli.ListCommand("list", "List events, oldest first", "callboard events list --types campaign.*",
			func(f *pflag.FlagSet) {
				f.StringVar(&kinds, "types", "", "comma-separated event types or categories such as call.*")
			},
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Event, error] {
				return c.AllEvents(ctx, client.ListEventsQuery{Type: kinds})
			},
			"ID AT TYPE SUBJECT WHAT", func(e *client.Event) []any {
				return []any{e.ID, cli.FormatTime(e.CreatedAt), e.Type, cli.OrDash(e.Subject), Summarize(e.Data)}
			}))
}
