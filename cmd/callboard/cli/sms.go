package cli

import (
	"context"
	"iter"

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
