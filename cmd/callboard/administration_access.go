package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/persistence"
)

// addAdministrationFlags adds the flags of the service settings, and the flags --url, --key and --profile. The latter
// select a remote service.
func addAdministrationFlags(cmd *cobra.Command) {
	settings.AddFlags(cmd)
	cli.AddClientFlags(cmd)
	cmd.PreRunE = nil // the store on this machine needs no profile
}

// withAdministration calls f with the Administration that the flags select. Default: the service that runs on this
// machine. If no service runs, it opens the store of the data folder.
func withAdministration(cmd *cobra.Command, f func(context.Context, administration.Administration) error) error {
	if cli.IsRemote(cmd) {
		c, err := cli.ClientOf(cmd)
		if err != nil {
			return err
		}
		return f(cmd.Context(), administration.NewAPI(c))
	}
	cfg, err := settings.Load(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if d, ok := administration.Dial(cfg.Data); ok {
		return f(ctx, d)
	}
	if _, err = os.Stat(cfg.Data); err != nil {
		return fmt.Errorf("--data %s: the folder does not exist: start the service once to create the store", cfg.Data)
	}
	v, err := store.Open(ctx, store.Options{Config: cfg, Version: version, Log: logging.New(cfg)})
	if errors.Is(err, persistence.ErrInUse) {
		return fmt.Errorf("the service runs but does not answer on its local socket: %w", err)
	}
	if err != nil {
		return err
	}
	defer v.Close()
	return f(ctx, administration.NewStopped(v, cfg.BaseURL(cfg.HTTP.Addr), cfg.Simulator))
}

// administrationCommand returns a command that calls run with the Administration that its flags select.
func administrationCommand(use, short string, args cobra.PositionalArgs, run func(context.Context, *cobra.Command, administration.Administration, []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withAdministration(cmd, func(ctx context.Context, d administration.Administration) error { return run(ctx, cmd, d, args) })
		},
	}
	addAdministrationFlags(cmd)
	return cmd
}
