// Package sms implements the command callboard sms.
package sms

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard sms with its subcommands.
func Command() *cobra.Command {
	from := ""
	send := cli.NewCommand("send NUMBER TEXT", "Send an SMS message", `callboard sms send +12025550123 "Your visit is at nine." --from +12025550100`, cobra.ExactArgs(2), func(s *cli.Session, args []string) error {
		m, err := s.SendSMS(s.Context(), &client.NewMessage{To: args[0], Body: args[1], From: cli.OptionalString(from)})
		if err != nil {
			return err
		}
		if s.AsJSON {
			return s.PrintJSON(m)
		}
		s.PrintLinef("%s %s, %d segments", m.ID, m.Status, m.Segments)
		return nil
	})
	send.Flags().StringVar(&from, "from", "", "sender number. Default: the workspace's first SMS number")
	q := client.ListSMSQuery{}
	return cli.Group("sms", "Send and list SMS messages", send,
		cli.ListCommand("list", "List SMS messages, newest first", "callboard sms list --to +12025550123",
			func(f *pflag.FlagSet) {
				f.StringVar(&q.To, "to", "", "only messages to this number")
				f.StringVar(&q.From, "from", "", "only messages from this number")
				f.StringVar(&q.Direction, "direction", "", "inbound or outbound")
				f.StringVar(&q.Status, "status", "", "only messages with this status")
			},
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Message, error] { return c.AllSMS(ctx, q) },
			"ID DIRECTION FROM TO STATUS AT TEXT", func(m *client.Message) []any {
				return []any{m.ID, m.Direction, m.From, m.To, m.Status, cli.FormatTime(m.CreatedAt), m.Body}
			}),
		cli.ShowCommand("show MESSAGE", "Show an SMS message", "callboard sms show msg_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Message, error) {
			return c.GetSMS(ctx, id)
		}))
}
