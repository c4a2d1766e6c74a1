package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/persistence"
)

// keysMaster lets another master key take over, on a stopped store.
func keysMaster() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "rotate-master NEW_KEY_FILE", Short: "Let another master key take over, on a stopped store", Args: cobra.ExactArgs(1),
		Example: "  callboard keys rotate-master /etc/callboard/next.key",
		Long: "Wraps the keys of all workspaces by the master key in NEW_KEY_FILE, which is made where there is none. The service must stand still, " +
			"and needs CALLBOARD_MASTER_KEY_FILE=NEW_KEY_FILE from then on: the master key before opens nothing any more. API keys, tokens and logs of decisions stay good.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := settings(cmd)
			if err != nil {
				return err
			}
			if _, ok := dialAdmin(cfg.Data); ok {
				return errors.New("the service runs: stop it first")
			}
			if _, err = os.Stat(cfg.Data); err != nil {
				return fmt.Errorf("--data %s: there is no store yet; start the service once", cfg.Data)
			}
			v, err := openVault(cmd.Context(), cfg, logger(cfg), nil)
			if err != nil {
				return err
			}
			defer v.close()
			next, err := nextMaster(args[0])
			if err != nil {
				return err
			}
			if err = v.store.Rotate(cmd.Context(), next); err != nil {
				return err
			}
			return tell(cmd, asJSON, map[string]any{"data": cfg.Data, "master_key_file": args[0], "rotated": true}, "The store belongs to the master key in %s now: set master_key_file to it before you start the service.\n", args[0])
		},
	}
	settingsFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// nextMaster reads the master key of a file, or makes the file.
func nextMaster(path string) ([]byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err == nil {
		if err = synced(path, filepath.Dir(path)); err != nil {
			return nil, err
		}
		return parseMaster(path, text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	made := make([]byte, persistence.MasterKeySize)
	if _, err = rand.Read(made); err != nil {
		return nil, err
	}
	return made, writeSecret(path, hex.EncodeToString(made)+"\n")
}
