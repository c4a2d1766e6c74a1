package cli

import (
	"context"
	"iter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func numbers() *cobra.Command {
	var agent, trunk string
	texts := false
	add := command("add NUMBER", "Let an agent answer a number", "callboard numbers add +12025550100 --agent agent_01J…", cobra.ExactArgs(1), func(s *session, args []string) error {
		n, err := s.CreateNumber(s.ctx(), &client.NewNumber{Number: args[0], AgentID: agent, TrunkID: given(trunk), SMSEnabled: &texts})
		if err != nil {
			return err
		}
		return s.show(n)
	})
	add.Flags().StringVar(&agent, "agent", "", "who answers")
	add.Flags().StringVar(&trunk, "trunk", "", "the only trunk over which it may be called")
	add.Flags().BoolVar(&texts, "sms", false, "messages that name no sender may come from it")
	_ = add.MarkFlagRequired("agent")
	return group("numbers", "Numbers at which agents answer",
		lister("list", "List numbers", "callboard numbers list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.PhoneNumber, error] {
				return c.AllNumbers(ctx, client.ListNumbersQuery{})
			},
			"ID NUMBER STATUS AGENT TRUNK SMS", func(n *client.PhoneNumber) []any {
				return []any{n.ID, n.Number, n.Status, n.AgentID, dash(n.TrunkID), n.SMSEnabled}
			}),
		add,
		changer("Change a number by a file", `echo '{"agent_id": "agent_01J…"}' | callboard numbers update num_01J… -f -`, func(ctx context.Context, c *client.Client, id string, in *client.NumberUpdate) (*client.PhoneNumber, error) {
			return c.UpdateNumber(ctx, id, in)
		}),
		doer("delete NUMBER_ID...", "Take numbers away", "callboard numbers delete num_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteNumber(ctx, id)
		}))
}
