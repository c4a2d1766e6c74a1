package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/cmd/callboard/settings"
	"github.com/callboard/callboard/cmd/callboard/store"
)

func restoreCommand() *cobra.Command {
	keepCampaigns, asJSON := false, false
	cmd := &cobra.Command{
		Use: "restore FOLDER", Short: "Create a data folder from a backup", Args: cobra.ExactArgs(1),
		Example: "  callboard restore /backups/monday --data ./data",
		Long: "Creates the data folder (--data) from a backup. The folder must be empty or contain only the master key. Running and scheduled campaigns are paused, because they would " +
			"call the contacts again that they called after the backup. Resume each when you know what it did since, or use --go-on. The store is in quarantine: after the start no call, SIP request, " +
			"webhook, message, reminder or mail leaves the service until callboard release. So you can inspect it while the original service runs.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			manifest, err := backup.ReadManifest(args[0], version)
			if err != nil {
				return err
			}
			if err = backup.CheckTarget(cfg); err != nil {
				return err
			}
			paused, err := backup.Restore(cmd.Context(), store.Options{Config: cfg, Version: version, Log: logging.New(cfg)}, manifest, args[0], !keepCampaigns)
			if err != nil {
				return datafolder.ExplainPermission(cfg.Data, err)
			}
			if manifest.BlobLocation != "" && manifest.BlobLocation != blobstore.Location(cfg) {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "Recordings and exports of this backup are in %s: set blobs_url to this place to play them.\n", manifest.BlobLocation)
			}
			return printResult(cmd, asJSON, map[string]any{"data": cfg.Data, "at": manifest.CreatedAt, "paused": paused}, "%s contains the backup of %s. %d campaigns were paused.\n"+
				"The store is in quarantine: the service answers requests, but nothing leaves it until `callboard release`.\n", cfg.Data, manifest.CreatedAt.Format(time.RFC3339), paused)
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&keepCampaigns, "go-on", false, "do not pause campaigns: they call contacts again that were called after the backup")
	return cmd
}
