package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/domain"
)

func keysCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "keys", Short: "Create, list and revoke API keys of a running or stopped service, or of the service of --url or --profile"}
	cmd.AddCommand(keysCreateCommand(), keysListCommand(), keysRevokeCommand(), keysRotateMasterCommand())
	return cmd
}

func keysCreateCommand() *cobra.Command {
	k := administration.NewKey{Permissions: []domain.Permission{}}
	var rights, expires, env string
	asJSON := false
	cmd := &cobra.Command{
		Use: "create", Short: "Create an API key and print it once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for p := range strings.SplitSeq(rights, ",") {
				k.Permissions = append(k.Permissions, domain.Permission(strings.TrimSpace(p)))
			}
			k.Environment = domain.Environment(env)
			if expires != "" {
				t, err := time.Parse(time.RFC3339, expires)
				if err != nil {
					return errors.New("--expires must be a time such as 2027-01-31T00:00:00Z")
				}
				k.ExpiresAt = &t
			}
			return withAdministration(cmd, func(ctx context.Context, d administration.Administration) error {
				key, err := d.CreateKey(ctx, k)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), key)
				}
				if _, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", key.Text); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s (%s); this key cannot be shown again\n", key.ID, key.Environment)
				return err
			})
		},
	}
	addAdministrationFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&k.Name, "name", "cli", "purpose of the key")
	f.StringVar(&rights, "permissions", "*:read,*:write", "comma-separated permissions")
	f.StringVar(&env, "environment", "live", "live or test")
	f.StringSliceVar(&k.AllowedIPs, "allowed-ip", nil, "address or CIDR that may use the key; repeatable")
	f.BoolVar(&k.Operator, "operator", false, "allow the key to change plans, limits and other operator settings")
	f.StringVar(&expires, "expires", "", "expiry time, RFC 3339")
	f.StringVar(&k.Workspace, "workspace", "", "id of the workspace; required if there are several")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func keysListCommand() *cobra.Command {
	asJSON, workspace := false, ""
	cmd := &cobra.Command{
		Use: "list", Short: "List API keys, without their secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withAdministration(cmd, func(ctx context.Context, d administration.Administration) error {
				keys, err := d.ListKeys(ctx, workspace)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), keys)
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				_, _ = fmt.Fprintln(w, "ID\tNAME\tENVIRONMENT\tENDS IN\tOPERATOR\tPERMISSIONS\tSTATE")
				for _, k := range keys {
					_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%t\t%v\t%s\n", k.ID, k.Name, k.Environment, k.Last4, k.Operator, k.Permissions, administration.KeyState(k))
				}
				return w.Flush()
			})
		},
	}
	addAdministrationFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&workspace, "workspace", "", "id of one workspace")
	return cmd
}

func keysRevokeCommand() *cobra.Command {
	asJSON, o := false, administration.KeyRevocation{}
	cmd := &cobra.Command{
		Use: "revoke KEY_ID", Short: "Revoke an API key and its child keys, and list or end the objects that they created", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withAdministration(cmd, func(ctx context.Context, d administration.Administration) error {
				o.ID = args[0]
				result, err := d.RevokeKey(ctx, o)
				if err != nil {
					return err
				}
				var text strings.Builder
				fmt.Fprintf(&text, "%s is revoked\n", result.ID)
				for _, x := range result.Ended {
					fmt.Fprintf(&text, "ended      %s %s\n", x.Object, x.ID)
				}
				for _, x := range result.Remaining {
					fmt.Fprintf(&text, "remains    %s %s\n", x.Object, x.ID)
				}
				return printResult(cmd, asJSON, result, "%s", text.String())
			})
		},
	}
	addAdministrationFlags(cmd)
	cmd.Flags().BoolVar(&o.Cascade, "cascade", false, "also end the OAuth clients, users, webhooks, phones and keys that the key created")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
