package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/domain"
)

func workspacesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "workspaces", Short: "Create, list and delete workspaces of a running or stopped service"}
	n, asJSON := administration.NewWorkspace{}, false
	create := administrationCommand("create NAME", "Create a workspace and print its first API key once", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d administration.Administration, args []string) error {
		n.Name = args[0]
		created, err := d.CreateWorkspace(ctx, n)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), created)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", created.ID, created.Key)
		return err
	})
	create.Flags().StringVar(&n.Plan, "plan", string(domain.Starter), "starter, professional or enterprise")
	create.Flags().StringVar(&n.Country, "country", "US", "country of the workspace, ISO 3166")
	list := administrationCommand("list", "List workspaces", cobra.NoArgs, func(ctx context.Context, cmd *cobra.Command, d administration.Administration, _ []string) error {
		all, err := d.ListWorkspaces(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), all)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tNAME\tPLAN\tCREATED")
		for _, x := range all {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.ID, x.Name, x.Plan, x.CreatedAt.Format(time.DateOnly))
		}
		return w.Flush()
	})
	confirmation := ""
	remove := administrationCommand("delete WORKSPACE_ID", "Delete a workspace and all its data", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d administration.Administration, args []string) error {
		if confirmation != args[0] {
			return errors.New("--confirm must repeat the id: this permanently deletes calls, recordings and users")
		}
		if err := d.DeleteWorkspace(ctx, args[0]); err != nil {
			return err
		}
		return printResult(cmd, asJSON, map[string]any{"id": args[0], "deleted": true}, "%s is deleted\n", args[0])
	})
	remove.Flags().StringVar(&confirmation, "confirm", "", "repeat the id of the workspace")
	for _, c := range []*cobra.Command{create, list, remove} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(create, list, remove)
	return cmd
}
