package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
)

func sms() *cobra.Command {
	from := ""
	send := command("send NUMBER TEXT", "Send a text message", `callboard sms send +12025550123 "Your visit is at nine." --from +12025550100`, cobra.ExactArgs(2), func(s *session, args []string) error {
		m, err := s.SendSMS(s.ctx(), &client.NewMessage{To: args[0], Body: args[1], From: given(from)})
		if err != nil {
			return err
		}
		if s.asJSON {
			return s.json(m)
		}
		s.say("%s %s, %d segments", m.ID, m.Status, m.Segments)
		return nil
	})
	send.Flags().StringVar(&from, "from", "", "the sender; the workspace's first number unless said")
	q := client.ListSMSQuery{}
	return group("sms", "Send and list text messages", send,
		lister("list", "List text messages, newest first", "callboard sms list --to +12025550123",
			func(f *pflag.FlagSet) {
				f.StringVar(&q.To, "to", "", "only those to this number")
				f.StringVar(&q.From, "from", "", "only those from this number")
				f.StringVar(&q.Direction, "direction", "", "inbound or outbound")
				f.StringVar(&q.Status, "status", "", "only those in this state")
			},
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Message, error] { return c.AllSMS(ctx, q) },
			"ID DIRECTION FROM TO STATUS AT TEXT", func(m *client.Message) []any {
				return []any{m.ID, m.Direction, m.From, m.To, m.Status, when(m.CreatedAt), m.Body}
			}),
		shower("show MESSAGE", "Show a text message", "callboard sms show msg_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Message, error) {
			return c.GetSMS(ctx, id)
		}))
}

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
		return rows(s, s.deliveries(args[0]), most, "EVENT TYPE AT STATUS ANSWER MS RETRIES ERROR", func(e *client.LogEntry) []any {
			return []any{e.EventID, e.EventType, when(e.CreatedAt), e.Status, e.ResponseStatus, e.ResponseTimeMs, e.Retries, dash(e.Error)}
		})
	})
	limitFlag(cmd, &most)
	return cmd
}

// deliveries walks the pages of an endpoint's log.
func (s *session) deliveries(id string) iter.Seq2[client.LogEntry, error] {
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

// moment reads a time that may be missing.
func moment(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nothing was said
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, Misuse("%s must be a time such as 2027-01-31T00:00:00Z", flag)
	}
	return &t, nil
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

func appointments() *cobra.Command {
	q := client.ListAppointmentsQuery{}
	var from, to, reason string
	list := command("list", "List appointments", "callboard appointments list --from 2027-01-31T00:00:00Z", cobra.NoArgs, func(s *session, _ []string) error {
		for _, f := range []struct {
			flag, text string
			into       *time.Time
		}{{"--from", from, &q.From}, {"--to", to, &q.To}} {
			t, err := moment(f.flag, f.text)
			if err != nil {
				return err
			}
			if t != nil {
				*f.into = *t
			}
		}
		return rows(s, s.AllAppointments(s.ctx(), q), 0, "ID AT MINUTES PROVIDER PATIENT PHONE STATUS", func(a *client.Appointment) []any {
			return []any{a.ID, a.LocalDatetime, a.DurationMinutes, a.Provider, a.Patient.Name, a.Patient.Phone, a.Status}
		})
	})
	f := list.Flags()
	f.StringVar(&from, "from", "", "from this time on, RFC 3339")
	f.StringVar(&to, "to", "", "up to this time")
	f.StringVar(&q.Status, "status", "", "only those in this state")
	f.StringVar(&q.Provider, "provider", "", "only those of this provider")
	f.StringVar(&q.PatientPhone, "phone", "", "only those of this patient")
	standing := func(a *client.Appointment) string { return "is " + a.Status }
	cancel := doer("cancel APPOINTMENT...", "Cancel appointments", `callboard appointments cancel appt_01J… --reason "the doctor is ill"`, standing, func(ctx context.Context, c *client.Client, id string) (*client.Appointment, error) {
		return c.CancelAppointment(ctx, id, &client.CancelAppointmentRequest{Reason: given(reason)})
	})
	cancel.Flags().StringVar(&reason, "reason", "", "why")
	return group("appointments", "List, book and cancel appointments", list,
		shower("show APPOINTMENT", "Show an appointment", "callboard appointments show appt_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Appointment, error) {
			return c.GetAppointment(ctx, id)
		}),
		bookCommand(), cancel,
		doer("confirm APPOINTMENT...", "Note that the patient comes", "callboard appointments confirm appt_01J…", standing, func(ctx context.Context, c *client.Client, id string) (*client.Appointment, error) {
			return c.ConfirmAppointment(ctx, id)
		}),
		lister("providers", "List who has appointments", "callboard appointments providers", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Provider, error] {
				return c.AllProviders(ctx, client.ListProvidersQuery{})
			},
			"ID NAME TIMEZONE MINUTES", func(p *client.Provider) []any { return []any{p.ID, p.Name, p.Timezone, p.SlotMinutes} }))
}

func bookCommand() *cobra.Command {
	n := client.NewAppointment{}
	notes := ""
	cmd := command("book", "Book an appointment", `callboard appointments book --provider "Dr. Grey" --at 2027-01-31T09:00 --name Ada --phone +12025550123`, cobra.NoArgs, func(s *session, _ []string) error {
		n.Notes = given(notes)
		a, err := s.BookAppointment(s.ctx(), &n)
		if err != nil {
			return err
		}
		return s.show(a)
	})
	f := cmd.Flags()
	f.StringVar(&n.Provider, "provider", "", "with whom")
	f.StringVar(&n.Datetime, "at", "", "when, in the provider's zone unless it says which")
	f.StringVar(&n.Patient.Name, "name", "", "of the patient")
	f.StringVar(&n.Patient.Phone, "phone", "", "of the patient")
	f.StringVar(&notes, "notes", "", "for people")
	for _, name := range []string{"provider", "at", "name", "phone"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

func dnc() *cobra.Command {
	listID, most := "", 0
	on := func(use, short, example string, args cobra.PositionalArgs, run func(s *session, list string, args []string) error) *cobra.Command {
		cmd := command(use, short, example, args, func(s *session, args []string) error {
			id := listID
			if id == "" {
				w, err := s.GetWorkspace(s.ctx())
				if err != nil {
					return err
				}
				id = w.DefaultDNCListID
			}
			return run(s, id, args)
		})
		cmd.Flags().StringVar(&listID, "list", "", "which list; the default one unless said")
		return cmd
	}
	numbersOf := on("list", "List the numbers on a list", "callboard dnc list --limit 0", cobra.NoArgs, func(s *session, list string, _ []string) error {
		return rows(s, s.AllDNCEntries(s.ctx(), list, client.ListDNCEntriesQuery{}), most, "PHONE SOURCE SINCE", func(e *client.DNCEntry) []any {
			return []any{e.Phone, e.Source, when(e.CreatedAt)}
		})
	})
	limitFlag(numbersOf, &most)
	return group("dnc", "Numbers that are never called", numbersOf,
		on("add PHONE...", "Put numbers on a list", "callboard dnc add +12025550123", cobra.MinimumNArgs(1), func(s *session, list string, args []string) error {
			done, err := s.ImportDNCEntries(s.ctx(), list, &client.DNCNumbers{Entries: args})
			return s.listed(done, err)
		}),
		on("import FILE", "Put the numbers of a CSV file on a list", "callboard dnc import numbers.csv", cobra.ExactArgs(1), func(s *session, list string, args []string) error {
			return s.importDNC(list, args[0])
		}),
		on("remove PHONE...", "Take numbers off a list", "callboard dnc remove +12025550123", cobra.MinimumNArgs(1), func(s *session, list string, args []string) error {
			for _, phone := range args {
				gone, err := s.DeleteDNCEntry(s.ctx(), list, phone)
				if err != nil {
					return err
				}
				if s.asJSON {
					if err = s.line(gone); err != nil {
						return err
					}
					continue
				}
				s.say("%s", gone.Phone+" may be called")
			}
			return nil
		}),
		command("check PHONE", "Say on which lists a number is; exit code 1 where it is on one", "callboard dnc check +12025550123", cobra.ExactArgs(1), func(s *session, args []string) error {
			return s.checkDNC(args[0])
		}),
		lister("lists", "List the lists", "callboard dnc lists", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.DNCList, error] {
				return c.AllDNCLists(ctx, client.ListDNCListsQuery{})
			},
			"ID NAME NUMBERS DEFAULT", func(l *client.DNCList) []any { return []any{l.ID, l.Name, l.Entries, l.Default} }))
}

func (s *session) checkDNC(phone string) error {
	c, err := s.CheckDNC(s.ctx(), client.CheckDNCQuery{Phone: phone})
	if err != nil {
		return err
	}
	if s.asJSON {
		err = s.json(c)
	} else {
		for _, l := range c.Lists {
			s.say("%s is on %s since %s (%s)", c.Phone, l.Name, when(l.CreatedAt), l.Source)
		}
	}
	if err == nil && c.Listed {
		err = fmt.Errorf("%s is not called", c.Phone)
	}
	return err
}

func (s *session) importDNC(list, path string) error {
	f, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b := s.newBar(info.Size(), "uploading", true)
	done, err := s.ImportDNCEntriesFrom(s.ctx(), list, "text/csv", io.Reader(&counted{from: f, bar: b}))
	b.end()
	return s.listed(done, err)
}

func (s *session) listed(done *client.DNCImport, err error) error {
	if err != nil {
		return err
	}
	if s.asJSON {
		return s.json(done)
	}
	s.say("%d of %d numbers are new on %s, %d were there, %d are none", done.Added, done.Received, done.DNCListID, done.Duplicates, done.Invalid)
	for _, e := range done.Errors {
		s.note("line %d: %s", e.Line, Clean(e.Message))
	}
	return nil
}

func events() *cobra.Command {
	q := client.StreamEventsQuery{After: "now"}
	tail := command("tail", "Follow events as they happen, until Ctrl-C", `callboard events tail --types call.*,campaign.*
callboard events tail --json | jq .type`, cobra.NoArgs, func(s *session, _ []string) error { return s.tail(q) })
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
