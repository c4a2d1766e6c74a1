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

// copyBackup copies the store and the recordings of a backup into a data folder. A backup without recordings has no
// folder for recordings.
func copyBackup(from, data string) error {
	for _, part := range []string{datafolder.BlobsDir, datafolder.StoreDir} {
		err := os.CopyFS(filepath.Join(data, part), os.DirFS(filepath.Join(from, part)))
		if err != nil && (part != datafolder.BlobsDir || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// restoreFolder is the temporary folder in the data folder in which Restore prepares the store.
const restoreFolder = "restore.part"

// Restore restores a backup into a data folder and puts the store into quarantine. It moves the store to its final
// folder last, so that an interrupted restore can be repeated. With pause it pauses all campaigns. It returns the
// number of paused campaigns.
func Restore(ctx context.Context, o store.Options, created Manifest, from string, pause bool) (paused int, err error) {
	cfg := o.Config
	partial := configForFolder(cfg, filepath.Join(cfg.Data, restoreFolder))
	if err = os.RemoveAll(partial.Data); err == nil {
		err = os.MkdirAll(partial.Data, 0o700)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial.Data)) }()
	if err == nil {
		err = copyBackup(from, partial.Data)
	}
	if err != nil {
		return 0, err
	}
	v, err := store.Open(ctx, store.Options{Config: partial, Version: o.Version, Log: o.Log})
	if err != nil {
		return 0, err
	}
	_, err = restorequarantine.Start(ctx, v.Records, created.CreatedAt)
	if err == nil && pause {
		paused, err = campaigns.PauseAll(ctx, v.Records, domain.PausedByRestore)
	}
	if v.Close(); err != nil {
		return 0, err
	}
	for _, name := range []string{datafolder.BlobsDir, datafolder.StoreDir} { // the store last, so that it never exists without its recordings
		err = os.Rename(filepath.Join(partial.Data, name), filepath.Join(cfg.Data, name))
		if err != nil && (name != datafolder.BlobsDir || !errors.Is(err, fs.ErrNotExist)) {
			return 0, err
		}
	}
	return paused, datafolder.Sync(cfg.Data)
}

// configForFolder returns a copy of a configuration that uses another data folder and the same master key file.
func configForFolder(cfg *configs.Config, data string) *configs.Config {
	copied := *cfg
	copied.Data, copied.MasterKeyFile = data, datafolder.MasterKeyFile(cfg)
	return &copied
}

// CheckTarget returns an error if a backup cannot be restored into the data folder that cfg names.
func CheckTarget(cfg *configs.Config) error {
	if cfg.RedisURL.Reveal() != "" {
		return errors.New("redis_url is set: a backup is restored into the embedded store only")
	}
	if err := datafolder.CheckOwner(cfg.Data); err != nil {
		return err
	}
	for _, name := range []string{datafolder.StoreDir, datafolder.BlobsDir, "callboard.lock"} {
		if _, err := os.Stat(filepath.Join(cfg.Data, name)); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--data %s already contains %s: use an empty folder", cfg.Data, name)
		}
	}
	key := datafolder.MasterKeyFile(cfg)
	if _, err := os.Stat(key); errors.Is(err, fs.ErrPermission) {
		return datafolder.ExplainPermission(cfg.Data, err)
	} else if err != nil {
		return fmt.Errorf("put the master key of the backup into %s, or set master_key_file: %w", key, err)
	}
	return nil
}
