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

// keysRotateMasterCommand returns the command that replaces the master key while the service is stopped.
func keysRotateMasterCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "rotate-master NEW_KEY_FILE", Short: "Replace the master key of a stopped store", Args: cobra.ExactArgs(1),
		Example: "  callboard keys rotate-master /etc/callboard/next.key",
		Long: "Encrypts the keys of all workspaces with the master key in NEW_KEY_FILE, which is created if it does not exist. Stop the service first. " +
			"Afterwards set CALLBOARD_MASTER_KEY_FILE=NEW_KEY_FILE: the old master key cannot decrypt the store. API keys, tokens and decision logs stay valid.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			if _, ok := administration.Dial(cfg.Data); ok {
				return errors.New("the service runs: stop the service before you replace the master key")
			}
			if _, err = os.Stat(cfg.Data); err != nil {
				return fmt.Errorf("--data %s: the folder does not exist: start the service once to create the store", cfg.Data)
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
			return printResult(cmd, asJSON, map[string]any{"data": cfg.Data, "master_key_file": args[0], "rotated": true}, "The store now uses the master key in %s: set master_key_file to this file before you start the service.\n", args[0])
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
