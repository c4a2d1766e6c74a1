package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/cmd/callboard/store"
)

// backupResult is the JSON output of the command callboard backup.
type backupResult struct {
	backup.Manifest
	Folder       string `json:"folder"`
	Verification string `json:"proof,omitempty"` // summary of what the verification read; empty: the backup was not verified
}

func backupCommand() *cobra.Command {
	skipVerification, asJSON := false, false
	cmd := &cobra.Command{
		Use: "backup FOLDER", Short: "Back up a running or stopped service into a folder, and verify the backup", Args: cobra.ExactArgs(1),
		Example: "  callboard backup /backups/monday",
		Long: "Writes all committed data and all recordings on disk into a new folder. Calls continue. Immutable files are hard links, so a backup on the same " +
			"file system takes little space: copy the backup to another disk afterwards. The command then opens the backup as a store with the master key, and looks for every recording in it. " +
			"The backup does not contain the master key: store the key separately.",
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			var manifest backup.Manifest
			err = withAdministration(cmd, func(ctx context.Context, d administration.Administration) (err error) {
				manifest, err = d.Backup(ctx, administration.BackupRequest{To: to})
				return err
			})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				out = io.Discard
			}
			if _, err = fmt.Fprintf(out, "Backup of %s written to %s: the store, and %d recordings and exports (%d bytes).\n", manifest.CreatedAt.Format(time.RFC3339), to, manifest.Blobs, manifest.Bytes); err != nil {
				return err
			}
			if manifest.BlobLocation != "" {
				if _, err = fmt.Fprintf(out, "The backup does not contain the recordings and exports in %s: back these up separately.\n", manifest.BlobLocation); err != nil {
					return err
				}
			}
			if skipVerification {
				return printIfJSON(cmd, asJSON, backupResult{manifest, to, ""})
			}
			verification, err := backup.Verify(cmd.Context(), store.Options{Config: cfg, Version: version, Log: logging.New(cfg)}, to)
			if err != nil {
				return fmt.Errorf("the backup cannot be restored: %w", err)
			}
			_, err = fmt.Fprintf(out, "Backup verified: %s.\n", verification)
			return errors.Join(err, printIfJSON(cmd, asJSON, backupResult{manifest, to, verification}))
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&skipVerification, "unproven", false, "skip the verification that the backup can be restored")
	return cmd
}
