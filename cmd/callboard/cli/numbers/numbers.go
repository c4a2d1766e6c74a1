// Package numbers implements the command callboard numbers.
package numbers

import (
	"context"
	"iter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard numbers with its subcommands.
func Command() *cobra.Command {
	var agent, trunk string
	texts := false
	add := cli.NewCommand("add NUMBER", "Add a number that an agent answers", "callboard numbers add +12025550100 --agent agent_01J…", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
		n, err := s.CreateNumber(s.Context(), &client.NewNumber{Number: args[0], AgentID: agent, TrunkID: cli.OptionalString(trunk), SMSEnabled: &texts})
		if err != nil {
			return err
		}
		return s.PrintRecord(n)
	})
	add.Flags().StringVar(&agent, "agent", "", "agent that answers calls to the number")
	add.Flags().StringVar(&trunk, "trunk", "", "accept calls to the number only from this trunk")
	add.Flags().BoolVar(&texts, "sms", false, "use the number as default sender of SMS messages")
	_ = add.MarkFlagRequired("agent")
	return cli.Group("numbers", "Manage the numbers that agents answer",
		cli.ListCommand("list", "List numbers", "callboard numbers list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.PhoneNumber, error] {
				return c.AllNumbers(ctx, client.ListNumbersQuery{})
			},
			"ID NUMBER STATUS AGENT TRUNK SMS", func(n *client.PhoneNumber) []any {
				return []any{n.ID, n.Number, n.Status, n.AgentID, cli.OrDash(n.TrunkID), n.SMSEnabled}
			}),
		add,
		cli.UpdateCommand("Update a number from a file", `echo '{"agent_id": "agent_01J…"}' | callboard numbers update num_01J… -f -`, func(ctx context.Context, c *client.Client, id string, in *client.NumberUpdate) (*client.PhoneNumber, error) {
			return c.UpdateNumber(ctx, id, in)
		}),
		cli.ActionCommand("delete NUMBER_ID...", "Delete numbers", "callboard numbers delete num_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteNumber(ctx, id)
		}))
}
