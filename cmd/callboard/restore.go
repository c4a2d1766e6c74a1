package main

import (
	"context"
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
			paused, err := restoreInto(cmd.Context(), cfg, args[0], made.At, !goOn)
			if err != nil {
				return explainDenied(cfg.Data, err)
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

// restorePart is the folder in the data folder in which a backup becomes a store in quarantine.
const restorePart = "restore.part"

// restoreInto makes the data folder of a backup. The store gets its place once it is in quarantine: a restore that is cut
// off leaves none, and can be repeated. It answers how many
// campaigns were paused.
func restoreInto(ctx context.Context, cfg *configs.Config, backup string, at time.Time, pause bool) (paused int, err error) {
	part := configIn(cfg, filepath.Join(cfg.Data, restorePart))
	if err = os.RemoveAll(part.Data); err == nil {
		err = os.MkdirAll(part.Data, 0o700)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part.Data)) }()
	if err == nil {
		err = copyBackup(backup, part.Data)
	}
	if err != nil {
		return 0, err
	}
	v, err := openVault(ctx, part, logger(cfg), nil)
	if err != nil {
		return 0, err
	}
	_, err = actors.SetQuarantine(ctx, v.store, at)
	if err == nil && pause {
		paused, err = actors.Standstill(ctx, v.store, domain.PausedByRestore)
	}
	if v.close(); err != nil {
		return 0, err
	}
	for _, name := range []string{backupBlobs, backupStore} { // the store last: there is none without its recordings
		err = os.Rename(filepath.Join(part.Data, name), filepath.Join(cfg.Data, name))
		if err != nil && (name != backupBlobs || !errors.Is(err, fs.ErrNotExist)) {
			return 0, err
		}
	}
	return paused, synced(cfg.Data)
}

// configIn is the configuration of a store that lies in another folder and has the same master key.
func configIn(cfg *configs.Config, data string) *configs.Config {
	own := *cfg
	own.Data, own.MasterKeyFile = data, masterKeyFile(cfg)
	return &own
}

// masterKeyFile is where the master key of a data folder lies.
func masterKeyFile(cfg *configs.Config) string {
	if cfg.MasterKeyFile != "" {
		return cfg.MasterKeyFile
	}
	return filepath.Join(cfg.Data, "master.key")
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
	key := masterKeyFile(cfg)
	if _, err := os.Stat(key); errors.Is(err, fs.ErrPermission) {
		return explainDenied(cfg.Data, err)
	} else if err != nil {
		return fmt.Errorf("the master key of the backup must lie in %s, or master_key_file name it: %w", key, err)
	}
	return nil
}
