// Package sms holds the subcommands of callboard sms.
package sms

import (
	"context"
	"iter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns callboard sms with its subcommands.
func Command() *cobra.Command {
	from := ""
	send := cli.NewCommand("send NUMBER TEXT", "Send a text message", `callboard sms send +12025550123 "Your visit is at nine." --from +12025550100`, cobra.ExactArgs(2), func(s *cli.Session, args []string) error {
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
	send.Flags().StringVar(&from, "from", "", "the sender; the workspace's first number unless said")
	q := client.ListSMSQuery{}
	return cli.Group("sms", "Send and list text messages", send,
		cli.ListCommand("list", "List text messages, newest first", "callboard sms list --to +12025550123",
			func(f *pflag.FlagSet) {
				f.StringVar(&q.To, "to", "", "only those to this number")
				f.StringVar(&q.From, "from", "", "only those from this number")
				f.StringVar(&q.Direction, "direction", "", "inbound or outbound")
				f.StringVar(&q.Status, "status", "", "only those in this state")
			},
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Message, error] { return c.AllSMS(ctx, q) },
			"ID DIRECTION FROM TO STATUS AT TEXT", func(m *client.Message) []any {
				return []any{m.ID, m.Direction, m.From, m.To, m.Status, cli.FormatTime(m.CreatedAt), m.Body}
			}),
		cli.ShowCommand("show MESSAGE", "Show a text message", "callboard sms show msg_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Message, error) {
			return c.GetSMS(ctx, id)
		}))
}
