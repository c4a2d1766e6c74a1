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

// backupResult is what a backup tells in JSON.
type backupResult struct {
	backup.Manifest
	Folder string `json:"folder"`
	Proof  string `json:"proof,omitempty"` // what was read of it; empty: it was not opened
}

func backupCommand() *cobra.Command {
	unproven, asJSON := false, false
	cmd := &cobra.Command{
		Use: "backup FOLDER", Short: "Write a backup into a folder, of a running service or a stopped one, and prove it", Args: cobra.ExactArgs(1),
		Example: "  callboard backup /backups/monday",
		Long: "Writes what is committed, with all recordings on disk, into a folder that is not there yet; calls go on. What never changes is linked, so a backup on the same " +
			"file system takes little room: carry it elsewhere afterwards. Then the backup is opened as a store of its own, with the master key, and every recording that it names is looked for. " +
			"The master key is not in it: keep that apart.",
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			var made backup.Manifest
			err = withAdministration(cmd, func(ctx context.Context, d administration.Administration) (err error) {
				made, err = d.Backup(ctx, administration.BackupRequest{To: to})
				return err
			})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				out = io.Discard
			}
			if _, err = fmt.Fprintf(out, "The backup of %s lies in %s: the store, and %d recordings and exports of %d bytes.\n", made.CreatedAt.Format(time.RFC3339), to, made.Blobs, made.Bytes); err != nil {
				return err
			}
			if made.BlobLocation != "" {
				if _, err = fmt.Fprintf(out, "Not in it are the recordings and exports that lie in %s: keep those by its own means.\n", made.BlobLocation); err != nil {
					return err
				}
			}
			if unproven {
				return printIfJSON(cmd, asJSON, backupResult{made, to, ""})
			}
			proof, err := backup.Verify(cmd.Context(), store.Options{Config: cfg, Version: version, Log: logging.New(cfg)}, to)
			if err != nil {
				return fmt.Errorf("the backup cannot be restored: %w", err)
			}
			_, err = fmt.Fprintf(out, "It was opened and read: %s.\n", proof)
			return errors.Join(err, printIfJSON(cmd, asJSON, backupResult{made, to, proof}))
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&unproven, "unproven", false, "do not open the backup to see that it can be restored")
	return cmd
}
