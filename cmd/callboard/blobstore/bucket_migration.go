package blobstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/blob"
)

// MoveFromDataFolder moves recordings and exports from the data folder to the bucket that blobs_url names. The files stay
// encrypted, so the master key is not needed.
func MoveFromDataFolder(ctx context.Context, cfg *configs.Config, progress func(blob.MoveResult)) (done blob.MoveResult, err error) {
	dir := filepath.Join(cfg.Data, datafolder.BlobsDir)
	if cfg.Blobs.Folder != "" {
		return done, fmt.Errorf("blobs_url names a folder, not a bucket: %s", migrationHint(cfg))
	}
	if cfg.Blobs.Bucket == "" {
		return done, errors.New("blobs_url is not set: there is no bucket to move to")
	}
	if _, err = os.Stat(dir); err != nil {
		return done, fmt.Errorf("--data %s: there are no recordings: %w", cfg.Data, err)
	}
	unlock, err := datafolder.Lock(cfg.Data)
	if err != nil {
		return done, err
	}
	defer unlock()
	blobs, err := openAndCheck(ctx, cfg)
	if err != nil {
		return done, err
	}
	bucket, is := blobs.(*blob.S3)
	if !is {
		return done, errors.New("blobs_url names no bucket")
	}
	defer bucket.Close()
	disk, err := blob.NewDisk(dir, nil)
	if err != nil {
		return done, err
	}
	return blob.MoveToBucket(ctx, disk, bucket, progress)
}
