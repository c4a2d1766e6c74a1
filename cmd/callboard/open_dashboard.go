package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/domain"
)

// openCommand returns the command that signs the first admin in to the dashboard.
func openCommand() *cobra.Command {
	workspace, printOnly, asJSON := "", false, false
	cmd := administrationCommand("open", "Open the dashboard with a sign-in link of the first admin", cobra.NoArgs, func(ctx context.Context, cmd *cobra.Command, d administration.Administration, _ []string) error {
		admin, err := firstAdmin(ctx, d, workspace)
		if err != nil {
			return err
		}
		link, err := d.CreateSignInLink(ctx, admin.ID)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), link)
		}
		if _, err = fmt.Fprintln(cmd.OutOrStdout(), link.URL); err != nil || printOnly || !logging.StdoutIsTerminal() {
			return err
		}
		openBrowser(ctx, link.URL)
		return nil
	})
	cmd.Flags().StringVar(&workspace, "workspace", "", "id of the workspace; required if there are several")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&printOnly, "print", false, "only print the link, which is valid once and for five minutes")
	return cmd
}

// firstAdmin returns the oldest admin of the live environment. If there is none, it creates one who is also an operator.
func firstAdmin(ctx context.Context, d administration.Administration, workspace string) (*domain.User, error) {
	all, err := d.ListUsers(ctx, workspace)
	if err != nil {
		return nil, err
	}
	var first *domain.User
	for _, u := range all {
		if u.Role == domain.RoleAdmin && u.Environment == domain.Live && (first == nil || u.ID < first.ID) {
			first = u
		}
	}
	if first != nil {
		return first, nil
	}
	return d.CreateUser(ctx, administration.NewUser{Name: "Admin", Role: string(domain.RoleAdmin), Operator: true, Environment: domain.Live, Workspace: workspace})
}

// openBrowser opens a URL in the browser of the desktop, if there is one.
func openBrowser(ctx context.Context, url string) {
	program := map[string]string{"darwin": "open", "windows": "explorer"}[runtime.GOOS]
	if program == "" {
		program = "xdg-open"
	}
	_ = exec.CommandContext(ctx, program, url).Start() //nolint:gosec // the program is one of three; without a desktop the user opens the printed link
}

// versionCommand returns the command that prints the version.
func versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if asJSON {
			return printJSON(cmd.OutOrStdout(), map[string]string{"version": version})
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), version)
		return err
	}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
