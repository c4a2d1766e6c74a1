package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
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
			cfg, err := settings(cmd)
			if err != nil {
				return err
			}
			made, err := paperOf(args[0])
			if err != nil {
				return err
			}
			if err = restorable(cfg); err != nil {
				return err
			}
			if err = os.MkdirAll(cfg.Data, 0o700); err != nil {
				return err
			}
			end := filling(cmd, asJSON, "  copying", args[0], cfg.Data)
			err = copyBackup(args[0], cfg.Data)
			if end(); err != nil {
				return explainDenied(cfg.Data, err)
			}
			v, err := openVault(cmd.Context(), cfg, logger(cfg), nil)
			if err != nil {
				return errors.Join(err, removeCopy(cfg.Data))
			}
			defer v.close()
			if _, err = actors.SetQuarantine(cmd.Context(), v.store, made.At); err != nil {
				return err
			}
			paused := 0
			if !goOn {
				if paused, err = actors.Standstill(cmd.Context(), v.store, domain.PausedByRestore); err != nil {
					return err
				}
			}
			if made.BlobsIn != "" && made.BlobsIn != placeOf(cfg) {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "Recordings and exports of this backup lie in %s: none of them plays unless blobs_url names it.\n", made.BlobsIn)
			}
			return tell(cmd, asJSON, map[string]any{"data": cfg.Data, "at": made.At, "paused": paused}, "%s holds the backup of %s. %d campaigns were paused.\n"+
				"It is in quarantine: the service answers, and nothing leaves it, until `callboard release`.\n", cfg.Data, made.At.Format(time.RFC3339), paused)
		},
	}
	settingsFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&goOn, "go-on", false, "leave campaigns as they were: what was rung since the backup is rung again")
	return cmd
}

// copyBackup copies the parts of a backup; one of a service without recordings
// has no folder for them.
func copyBackup(from, data string) error {
	for _, part := range []string{backupBlobs, backupStore} {
		err := os.CopyFS(filepath.Join(data, part), os.DirFS(filepath.Join(from, part)))
		if err != nil && (part != backupBlobs || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// removeCopy removes the parts of a backup that cannot be opened, so that another
// one can be restored.
func removeCopy(data string) error {
	return errors.Join(os.RemoveAll(filepath.Join(data, backupStore)), os.RemoveAll(filepath.Join(data, backupBlobs)), os.RemoveAll(filepath.Join(data, "callboard.lock")))
}

// restorable says why a backup cannot be restored to where the settings point.
func restorable(cfg *configs.Config) error {
	if cfg.RedisURL.Reveal() != "" {
		return errors.New("redis_url is set: a backup is restored into the embedded store only")
	}
	if err := checkOwner(cfg.Data); err != nil {
		return err
	}
	for _, name := range []string{backupStore, backupBlobs, "callboard.lock"} {
		if _, err := os.Stat(filepath.Join(cfg.Data, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--data %s: there is a %s already; name an empty folder", cfg.Data, name)
		}
	}
	key := cfg.MasterKeyFile
	if key == "" {
		key = filepath.Join(cfg.Data, "master.key")
	}
	if _, err := os.Stat(key); errors.Is(err, fs.ErrPermission) {
		return explainDenied(cfg.Data, err)
	} else if err != nil {
		return fmt.Errorf("the master key of the backup must lie in %s, or master_key_file name it: %w", key, err)
	}
	return nil
}
