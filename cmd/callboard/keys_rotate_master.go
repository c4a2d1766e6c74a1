package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/cmd/callboard/store"
)

// keysRotateMaster lets another master key take over, on a stopped store.
func keysRotateMaster() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "rotate-master NEW_KEY_FILE", Short: "Let another master key take over, on a stopped store", Args: cobra.ExactArgs(1),
		Example: "  callboard keys rotate-master /etc/callboard/next.key",
		Long: "Wraps the keys of all workspaces by the master key in NEW_KEY_FILE, which is made where there is none. The service must stand still, " +
			"and needs CALLBOARD_MASTER_KEY_FILE=NEW_KEY_FILE from then on: the master key before opens nothing any more. API keys, tokens and logs of decisions stay good.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			if _, ok := administration.Dial(cfg.Data); ok {
				return errors.New("the service runs: stop it first")
			}
			if _, err = os.Stat(cfg.Data); err != nil {
				return fmt.Errorf("--data %s: there is no store yet; start the service once", cfg.Data)
			}
			v, err := store.Open(cmd.Context(), store.Options{Config: cfg, Version: version, Log: logging.New(cfg)})
			if err != nil {
				return err
			}
			defer v.Close()
			next, err := datafolder.ReadOrCreateMasterKey(args[0])
			if err != nil {
				return err
			}
			if err = v.Records.RotateMasterKey(cmd.Context(), next); err != nil {
				return err
			}
			return printResult(cmd, asJSON, map[string]any{"data": cfg.Data, "master_key_file": args[0], "rotated": true}, "The store belongs to the master key in %s now: set master_key_file to it before you start the service.\n", args[0])
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
