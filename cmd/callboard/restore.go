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
	goOn, asJSON := false, false
	cmd := &cobra.Command{
		Use: "restore FOLDER", Short: "Make a data folder of a backup", Args: cobra.ExactArgs(1),
		Example: "  callboard restore /backups/monday --data ./data",
		Long: "Makes the data folder (--data), which must be empty or hold no more than the master key, of a backup. Campaigns that were running or scheduled are paused: whom they " +
			"rang since the backup they would ring again. Resume each once you know what it did since, or use --go-on. The store is in quarantine: once it is started, no call, no SIP request, " +
			"webhook, message, reminder or mail leaves the service until callboard release. So it can be looked at beside the service that was backed up.",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			made, err := backup.ReadManifest(args[0], version)
			if err != nil {
				return err
			}
			if err = backup.CheckTarget(cfg); err != nil {
				return err
			}
			paused, err := backup.Restore(cmd.Context(), store.Options{Config: cfg, Version: version, Log: logging.New(cfg)}, made, args[0], !goOn)
			if err != nil {
				return datafolder.ExplainPermission(cfg.Data, err)
			}
			if made.BlobLocation != "" && made.BlobLocation != blobstore.Location(cfg) {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "Recordings and exports of this backup lie in %s: none of them plays unless blobs_url names it.\n", made.BlobLocation)
			}
			return printResult(cmd, asJSON, map[string]any{"data": cfg.Data, "at": made.CreatedAt, "paused": paused}, "%s holds the backup of %s. %d campaigns were paused.\n"+
				"It is in quarantine: the service answers, and nothing leaves it, until `callboard release`.\n", cfg.Data, made.CreatedAt.Format(time.RFC3339), paused)
		},
	}
	settings.AddFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&goOn, "go-on", false, "leave campaigns as they were: what was rung since the backup is rung again")
	return cmd
}
