package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/pebble"
)

// Write writes a backup into the folder to, an absolute path that does not exist yet. The store is copied before
// the recordings. Every recording in the copied store therefore exists, unless it is deleted during the backup.
func Write(ctx context.Context, v *store.Store, to string) (created Manifest, err error) {
	driver, ok := v.Driver.(*pebble.Driver)
	if !ok {
		place := "the folder blobs with a file backup"
		if v.BlobLocation != "" {
			place = v.BlobLocation + " with its own backup"
		}
		return created, errors.New("the store is Redis: back it up with the tools of Redis, and " + place)
	}
	if !filepath.IsAbs(to) {
		return created, fmt.Errorf("the backup folder %s must be an absolute path", to)
	}
	if _, err = os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return created, fmt.Errorf("%s already exists: name a new folder", to)
	}
	partial := to + ".part"
	defer func() {
		if err != nil {
			_ = os.RemoveAll(partial)
		}
	}()
	if err = os.Mkdir(partial, 0o700); err != nil {
		return created, err
	}
	created = Manifest{Format: formatVersion, Version: v.Version, CreatedAt: time.Now().UTC(), BlobLocation: v.BlobLocation}
	if err = driver.Backup(filepath.Join(partial, datafolder.StoreDir)); err != nil {
		return created, err
	}
	if created.Requirement, err = persistence.StoreRequirement(ctx, v.Driver.Get); err != nil { // read after the copy, so that it covers the copied store
		return created, err
	}
	if created.Blobs, created.Bytes, err = blob.Backup(ctx, filepath.Join(v.DataFolder, datafolder.BlobsDir), filepath.Join(partial, datafolder.BlobsDir)); err != nil {
		return created, err
	}
	text, err := json.MarshalIndent(created, "", "  ")
	if err != nil {
		return created, err
	}
	if err = datafolder.WriteSecretFile(filepath.Join(partial, manifestFile), string(text)+"\n"); err != nil {
		return created, err
	}
	if err = os.Rename(partial, to); err != nil {
		return created, err
	}
	return created, datafolder.Sync(filepath.Dir(to))
}
