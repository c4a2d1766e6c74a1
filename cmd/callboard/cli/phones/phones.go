// Package phones implements the command callboard phones.
package phones

import (
	"context"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Command returns the command callboard phones with its subcommands.
func Command() *cobra.Command {
	name := ""
	add := cli.NewCommand("add EXTENSION", "Add a SIP phone; its password is shown only now", "callboard phones add 1001 --name desk", cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
		p, err := s.CreatePhone(s.Context(), &client.NewPhone{Extension: args[0], Name: name})
		if err != nil {
			return err
		}
		return s.PrintRecord(p)
	})
	add.Flags().StringVar(&name, "name", "", "display name")
	return cli.Group("phones", "Manage SIP phones that register with the service",
		cli.ListCommand("list", "List phones and their registered contacts", "callboard phones list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Phone, error] {
				return c.AllPhones(ctx, client.ListPhonesQuery{})
			},
			"ID EXTENSION NAME USERNAME STATUS AT", func(p *client.Phone) []any {
				var at []string
				for _, c := range p.Contacts {
					at = append(at, c.Address+";"+c.Transport)
				}
				return []any{p.ID, p.Extension, p.Name, p.Username, p.Status, cli.OrDash(strings.Join(at, ","))}
			}),
		cli.ShowCommand("show PHONE", "Show a phone", "callboard phones show phone_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Phone, error) {
			return c.GetPhone(ctx, id)
		}),
		add,
		cli.ActionCommand("delete PHONE...", "Delete phones", "callboard phones delete phone_01J…", cli.DescribeDeleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeletePhone(ctx, id)
		}))
}
