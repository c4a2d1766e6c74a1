// Package appointments implements the command callboard appointments.
package appointments

import (
	"context"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard appointments with its subcommands.
func Command() *cobra.Command {
	q := client.ListAppointmentsQuery{}
	var from, to, reason string
	list := cli.NewCommand("list", "List appointments", "callboard appointments list --from 2027-01-31T00:00:00Z", cobra.NoArgs, func(s *cli.Session, _ []string) error {
		for _, f := range []struct {
			flag, text string
			into       *time.Time
		}{{"--from", from, &q.From}, {"--to", to, &q.To}} {
			t, err := cli.ParseTime(f.flag, f.text)
			if err != nil {
				return err
			}
			if t != nil {
				*f.into = *t
			}
		}
		return cli.PrintRows(s, s.AllAppointments(s.Context(), q), 0, "ID AT MINUTES PROVIDER PATIENT PHONE STATUS", func(a *client.Appointment) []any {
			return []any{a.ID, a.LocalDatetime, a.DurationMinutes, a.Provider, a.Patient.Name, a.Patient.Phone, a.Status}
		})
	})
	f := list.Flags()
	f.StringVar(&from, "from", "", "only appointments from this time on, RFC 3339")
	f.StringVar(&to, "to", "", "only appointments before this time, RFC 3339")
	f.StringVar(&q.Status, "status", "", "only appointments with this status")
	f.StringVar(&q.Provider, "provider", "", "only appointments of this provider")
	f.StringVar(&q.PatientPhone, "phone", "", "only appointments of the patient with this number")
	standing := func(a *client.Appointment) string { return "is " + a.Status }
	cancel := cli.ActionCommand("cancel APPOINTMENT...", "Cancel appointments", `callboard appointments cancel appt_01J… --reason "the doctor is ill"`, standing, func(ctx context.Context, c *client.Client, id string) (*client.Appointment, error) {
		return c.CancelAppointment(ctx, id, &client.CancelAppointmentRequest{Reason: cli.OptionalString(reason)})
	})
	cancel.Flags().StringVar(&reason, "reason", "", "reason of the cancellation")
	return cli.Group("appointments", "List, book and cancel appointments", list,
		cli.ShowCommand("show APPOINTMENT", "Show an appointment", "callboard appointments show appt_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Appointment, error) {
			return c.GetAppointment(ctx, id)
		}),
		bookCommand(), cancel,
		cli.ActionCommand("confirm APPOINTMENT...", "Confirm appointments", "callboard appointments confirm appt_01J…", standing, func(ctx context.Context, c *client.Client, id string) (*client.Appointment, error) {
			return c.ConfirmAppointment(ctx, id)
		}),
		cli.ListCommand("providers", "List providers", "callboard appointments providers", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Provider, error] {
				return c.AllProviders(ctx, client.ListProvidersQuery{})
			},
			"ID NAME TIMEZONE MINUTES", func(p *client.Provider) []any { return []any{p.ID, p.Name, p.Timezone, p.SlotMinutes} }))
}

func bookCommand() *cobra.Command {
	n := client.NewAppointment{}
	notes := ""
	cmd := cli.NewCommand("book", "Book an appointment", `callboard appointments book --provider "Dr. Grey" --at 2027-01-31T09:00 --name Ada --phone +12025550123`, cobra.NoArgs, func(s *cli.Session, _ []string) error {
		n.Notes = cli.OptionalString(notes)
		a, err := s.BookAppointment(s.Context(), &n)
		if err != nil {
			return err
		}
		return s.PrintRecord(a)
	})
	f := cmd.Flags()
	f.StringVar(&n.Provider, "provider", "", "provider of the appointment")
	f.StringVar(&n.Datetime, "at", "", "local time, such as 2027-01-31T09:00. Default zone: the provider's")
	f.StringVar(&n.Patient.Name, "name", "", "name of the patient")
	f.StringVar(&n.Patient.Phone, "phone", "", "phone number of the patient")
	f.StringVar(&notes, "notes", "", "notes")
	for _, name := range []string{"provider", "at", "name", "phone"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}
