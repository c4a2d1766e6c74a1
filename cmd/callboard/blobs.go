package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/persistence/blob"
)

func blobsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "blobs", Short: "Recordings and exports in a bucket"}
	cmd.AddCommand(blobsMoveCommand())
	return cmd
}

func blobsMoveCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "move", Short: "Move recordings and exports from the data folder into the bucket of blobs_url", Args: cobra.NoArgs,
		Example: "  callboard blobs move",
		Long: "Moves what lies in the folder blobs of the data folder into the bucket, while the service is stopped. A file is removed once the bucket has given the same bytes back. " +
			"The command can be repeated after an error. A service with blobs_url does not start while recordings or exports lie in the folder.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			done, err := blobstore.MoveFromDataFolder(cmd.Context(), cfg, func(now blob.MoveResult) {
				if n := now.Copied + now.AlreadyStored; !asJSON && n%moveReport == 0 {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%d moved so far\n", n)
				}
			})
			if err != nil {
				return fmt.Errorf("%w (%d were moved; repeat the command to go on)", err, done.Copied)
			}
			if asJSON {
				return printIfJSON(cmd, true, done)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d were moved (%d bytes), %d were there already.\n", done.Copied, done.Bytes, done.AlreadyStored)
			if done.Skipped > 0 && err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files are no recordings and no exports and stay where they are.\n", done.Skipped)
			}
			return err
		},
	}
	addAdministrationFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// moveReport is after how many files the command tells its progress.
const moveReport = 1000
