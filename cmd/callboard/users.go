package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/domain"
)

func usersCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "users", Short: "Create and list users, and create sign-in links, of a running or stopped service"}
	n, asJSON, workspace := administration.NewUser{}, false, ""
	create := administrationCommand("create NAME", "Create a user", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d administration.Administration, args []string) error {
		n.Name = args[0]
		u, err := d.CreateUser(ctx, n)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), u)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), u.ID)
		return err
	})
	create.Aliases = []string{"add"}
	create.Flags().StringVar(&n.Role, "role", "viewer", "viewer, agent, manager or admin")
	create.Flags().BoolVar(&n.Operator, "operator", false, "operator: a viewer sees all workspaces on the dashboard, an admin can also stop dialing and drain nodes")
	create.Flags().StringVar((*string)(&n.Environment), "environment", string(domain.Live), "environment whose data the user sees: live or test")
	create.Flags().StringVar(&n.Workspace, "workspace", "", "id of the workspace; required if there are several")
	list := administrationCommand("list", "List users", cobra.NoArgs, func(ctx context.Context, cmd *cobra.Command, d administration.Administration, _ []string) error {
		all, err := d.ListUsers(ctx, workspace)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), all)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tNAME\tROLE\tOPERATOR\tENVIRONMENT\tWORKSPACE")
		for _, u := range all {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%t\t%s\t%s\n", u.ID, u.Name, u.Role, u.Operator, u.Environment, u.WorkspaceID)
		}
		return w.Flush()
	})
	list.Flags().StringVar(&workspace, "workspace", "", "id of one workspace")
	signIn := administrationCommand("link USER_ID", "Print a sign-in link for a user, valid once and for five minutes", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d administration.Administration, args []string) error {
		l, err := d.CreateSignInLink(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), l)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), l.URL)
		return err
	})
	for _, c := range []*cobra.Command{create, list, signIn} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(create, list, signIn)
	return cmd
}
