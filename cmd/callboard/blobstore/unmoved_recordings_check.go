package blobstore

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/blob"
)

// CheckConfig returns an error if a process must not start with its setting blobs_url: the folder does not exist, or
// the data folder still contains recordings.
func CheckConfig(cfg *configs.Config) error {
	if cfg.Blobs == (configs.Blobs{}) {
		return nil
	}
	local, folder := filepath.Join(cfg.Data, datafolder.BlobsDir), cfg.Blobs.Folder
	if folder != "" {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("blobs_url: the folder %s does not exist: mount its file system or create it", folder)
		}
	}
	if path, err := filepath.Abs(local); err == nil && path == folder {
		return nil
	}
	disk, err := blob.NewDisk(local, nil)
	if err != nil {
		return err
	}
	empty, err := disk.Empty()
	if err == nil && !empty {
		err = fmt.Errorf("blobs_url is set, but %s contains recordings or exports: %s, then start the service", local, migrationHint(cfg))
	}
	return err
}

// migrationHint tells the operator in words how to move recordings and exports from the data folder to blobs_url.
func migrationHint(cfg *configs.Config) string {
	if cfg.Blobs.Folder != "" {
		return fmt.Sprintf("copy them with cp -a %s/. %s/ and delete the originals", filepath.Join(cfg.Data, datafolder.BlobsDir), cfg.Blobs.Folder)
	}
	return "run callboard blobs move"
}
