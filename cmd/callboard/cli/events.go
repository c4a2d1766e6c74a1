package cli

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
)

// followEvents follows events until somebody ends it.
func followEvents(s *session, q client.StreamEventsQuery) error {
	if _, err := s.ListEvents(s.ctx(), client.ListEventsQuery{Limit: 1}); err != nil {
		return err // a stream would ask for ever
	}
	for e, err := range s.Events(s.ctx(), q) {
		if err != nil {
			return err
		}
		if err = printEvent(s, &e); err != nil {
			return err
		}
	}
	return s.ctx().Err()
}

// printEvent tells an event in a line.
func printEvent(s *session, e *client.Event) error {
	if s.asJSON {
		return s.line(e)
	}
	s.say("%s  %-28s %s  %s", when(e.CreatedAt), e.Type, e.Subject, brief(e.Data))
	return nil
}

// brief are the plain fields of an event's data that are short.
func brief(data json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	var parts []string
	for _, name := range []string{"direction", "from", "to", "status", "disposition", "outcome", "result", "ended_reason", "duration_seconds", "phone", "reason", "code", "error"} {
		if raw, ok := fields[name]; ok {
			if text, plain := plainly(raw); plain && text != "" {
				parts = append(parts, name+"="+text)
			}
		}
	}
	return strings.Join(parts, " ")
}

func events() *cobra.Command {
	q := client.StreamEventsQuery{After: "now"}
	tail := command("tail", "Follow events as they happen, until Ctrl-C", `callboard events tail --types call.*,campaign.*
callboard events tail --json | jq .type`, cobra.NoArgs, func(s *session, _ []string) error { return followEvents(s, q) })
	tail.Flags().StringVar(&q.Type, "types", "", "names or categories such as call.*, parted by commas")
	tail.Flags().StringVar(&q.After, "after", q.After, "begin behind the event with this id")
	kinds := ""
	return group("events", "What happened, and what happens", tail,
		lister("list", "List events, oldest first", "callboard events list --types campaign.*",
			func(f *pflag.FlagSet) {
				f.StringVar(&kinds, "types", "", "names or categories such as call.*, parted by commas")
			},
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Event, error] {
				return c.AllEvents(ctx, client.ListEventsQuery{Type: kinds})
			},
			"ID AT TYPE SUBJECT WHAT", func(e *client.Event) []any {
				return []any{e.ID, when(e.CreatedAt), e.Type, dash(e.Subject), brief(e.Data)}
			}))
}
