package cli

import (
	"context"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func phones() *cobra.Command {
	name := ""
	add := command("add EXTENSION", "Let a phone register; its password is shown this once", "callboard phones add 1001 --name desk", cobra.ExactArgs(1), func(s *session, args []string) error {
		p, err := s.CreatePhone(s.ctx(), &client.NewPhone{Extension: args[0], Name: name})
		if err != nil {
			return err
		}
		return s.show(p)
	})
	add.Flags().StringVar(&name, "name", "", "for people")
	return group("phones", "Phones that register with the service",
		lister("list", "List phones and where they are registered", "callboard phones list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Phone, error] {
				return c.AllPhones(ctx, client.ListPhonesQuery{})
			},
			"ID EXTENSION NAME USERNAME STATUS AT", func(p *client.Phone) []any {
				var at []string
				for _, c := range p.Contacts {
					at = append(at, c.Address+";"+c.Transport)
				}
				return []any{p.ID, p.Extension, p.Name, p.Username, p.Status, dash(strings.Join(at, ","))}
			}),
		shower("show PHONE", "Show a phone", "callboard phones show phone_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Phone, error) {
			return c.GetPhone(ctx, id)
		}),
		add,
		doer("delete PHONE...", "Delete phones", "callboard phones delete phone_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeletePhone(ctx, id)
		}))
}
