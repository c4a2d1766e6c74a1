package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/persistence/blob"
)

func blobsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "blobs", Short: "Manage recordings and exports in a bucket"}
	cmd.AddCommand(blobsMoveCommand())
	return cmd
}

func blobsMoveCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "move", Short: "Move recordings and exports from the data folder into the bucket of blobs_url", Args: cobra.NoArgs,
		Example: "  callboard blobs move",
		Long: "Moves all files of the folder blobs in the data folder into the bucket. Stop the service first. The command deletes a file after it has read the same bytes back from the bucket. " +
			"Repeat the command after an error. A service with blobs_url does not start while the folder contains recordings or exports.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			result, err := blobstore.MoveFromDataFolder(cmd.Context(), cfg, func(progress blob.MoveResult) {
				if n := progress.Copied + progress.AlreadyStored; !asJSON && n%moveProgressInterval == 0 {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%d files moved so far\n", n)
				}
			})
			if err != nil {
				return fmt.Errorf("%w (%d files were moved; repeat the command to continue)", err, result.Copied)
			}
			if asJSON {
				return printIfJSON(cmd, true, result)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files moved (%d bytes), %d were already in the bucket.\n", result.Copied, result.Bytes, result.AlreadyStored)
			if result.Skipped > 0 && err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d other files in the folder were not moved: they are neither recordings nor exports.\n", result.Skipped)
			}
			return err
		},
	}
	addAdministrationFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// moveProgressInterval is the number of moved files after which the command prints its progress.
const moveProgressInterval = 1000
