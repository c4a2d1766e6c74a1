package backup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/recordings"
)

// Verify opens a copy of a backup as a store and checks that the recordings of its calls exist. It returns a
// summary. The backup itself does not change.
func Verify(ctx context.Context, o store.Options, backup string) (string, error) {
	manifest, err := ReadManifest(backup, o.Version)
	if err != nil {
		return "", err
	}
	copyDir, err := os.MkdirTemp(filepath.Dir(backup), filepath.Base(backup)+".trial-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(copyDir) }()
	if err = copyStore(filepath.Join(backup, datafolder.StoreDir), filepath.Join(copyDir, datafolder.StoreDir)); err != nil {
		return "", err
	}
	v, err := store.Open(ctx, store.Options{Config: configForFolder(o.Config, copyDir), Version: o.Version, Log: o.Log})
	if err != nil {
		return "", err
	}
	defer v.Close()
	all, err := record.AllWorkspaces(ctx, v.Records)
	if err != nil {
		return "", err
	}
	recordingCount, missing, err := recordings.CountMissing(ctx, v.Records, func(workspace, name string) bool {
		if manifest.BlobLocation != "" {
			return true // recordings may lie in the bucket
		}
		_, statErr := os.Stat(filepath.Join(backup, datafolder.BlobsDir, workspace, name))
		return statErr == nil
	})
	if err != nil {
		return "", err
	}
	if missing > 0 { // deleted by retention or by hand during the backup
		return fmt.Sprintf("%d workspaces, %d recordings, of which %d were deleted during the backup", len(all), recordingCount, missing), nil
	}
	return fmt.Sprintf("%d workspaces, %d recordings", len(all), recordingCount), nil
}

// copyStore copies the files of a store. It makes hard links to table files, because these never change.
func copyStore(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		source, target := filepath.Join(from, f.Name()), filepath.Join(to, f.Name())
		if strings.HasSuffix(f.Name(), ".sst") && os.Link(source, target) == nil {
			continue
		}
		text, err := os.ReadFile(source) //nolint:gosec // a file of the backup
		if err == nil {
			err = os.WriteFile(target, text, 0o600) //nolint:gosec // a file of the temporary copy
		}
		if err != nil {
			return err
		}
	}
	return nil
}
