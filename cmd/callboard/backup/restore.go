package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/restorequarantine"
)

// copyBackup copies the parts of a backup; one of a service without recordings
// has no folder for them.
func copyBackup(from, data string) error {
	for _, part := range []string{datafolder.BlobsDir, datafolder.StoreDir} {
		err := os.CopyFS(filepath.Join(data, part), os.DirFS(filepath.Join(from, part)))
		if err != nil && (part != datafolder.BlobsDir || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// restoreFolder is the folder in the data folder in which a backup becomes a store in quarantine.
const restoreFolder = "restore.part"

// Restore makes the data folder of a backup. The store gets its place once it is in quarantine: a restore that is cut
// off leaves none, and can be repeated. It answers how many
// campaigns were paused.
func Restore(ctx context.Context, o store.Options, made Manifest, from string, pause bool) (paused int, err error) {
	cfg := o.Config
	part := configForFolder(cfg, filepath.Join(cfg.Data, restoreFolder))
	if err = os.RemoveAll(part.Data); err == nil {
		err = os.MkdirAll(part.Data, 0o700)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part.Data)) }()
	if err == nil {
		err = copyBackup(from, part.Data)
	}
	if err != nil {
		return 0, err
	}
	v, err := store.Open(ctx, store.Options{Config: part, Version: o.Version, Log: o.Log})
	if err != nil {
		return 0, err
	}
	_, err = restorequarantine.Start(ctx, v.Records, made.CreatedAt)
	if err == nil && pause {
		paused, err = campaigns.PauseAll(ctx, v.Records, domain.PausedByRestore)
	}
	if v.Close(); err != nil {
		return 0, err
	}
	for _, name := range []string{datafolder.BlobsDir, datafolder.StoreDir} { // the store last: there is none without its recordings
		err = os.Rename(filepath.Join(part.Data, name), filepath.Join(cfg.Data, name))
		if err != nil && (name != datafolder.BlobsDir || !errors.Is(err, fs.ErrNotExist)) {
			return 0, err
		}
	}
	return paused, datafolder.Sync(cfg.Data)
}

// configForFolder is the configuration of a store that lies in another folder and has the same master key.
func configForFolder(cfg *configs.Config, data string) *configs.Config {
	own := *cfg
	own.Data, own.MasterKeyFile = data, datafolder.MasterKeyFile(cfg)
	return &own
}

// CheckTarget says why a backup cannot be restored to where the settings point.
func CheckTarget(cfg *configs.Config) error {
	if cfg.RedisURL.Reveal() != "" {
		return errors.New("redis_url is set: a backup is restored into the embedded store only")
	}
	if err := datafolder.CheckOwner(cfg.Data); err != nil {
		return err
	}
	for _, name := range []string{datafolder.StoreDir, datafolder.BlobsDir, "callboard.lock"} {
		if _, err := os.Stat(filepath.Join(cfg.Data, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--data %s: there is a %s already; name an empty folder", cfg.Data, name)
		}
	}
	key := datafolder.MasterKeyFile(cfg)
	if _, err := os.Stat(key); errors.Is(err, fs.ErrPermission) {
		return datafolder.ExplainPermission(cfg.Data, err)
	} else if err != nil {
		return fmt.Errorf("the master key of the backup must lie in %s, or master_key_file name it: %w", key, err)
	}
	return nil
}
