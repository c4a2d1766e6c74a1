package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Backup copies every blob of the folder from into the new folder to. Blobs never change, so a blob is hard-linked
// where the file system allows it, and copied otherwise. The backup may lack a blob that is written or deleted while
// the backup runs.
func Backup(ctx context.Context, from, to string) (blobs int, bytes int64, err error) {
	err = filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o700)
		case !e.Type().IsRegular() || strings.HasSuffix(path, partSuffix):
			return nil
		}
		size, err := linkOrCopy(path, target)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			blobs, bytes = blobs+1, bytes+size
		}
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("blob: backup: %w", err)
	}
	return blobs, bytes, nil
}

func linkOrCopy(from, to string) (size int64, err error) {
	if err = os.Link(from, to); err == nil {
		at, unseen := os.Stat(to)
		if unseen != nil {
			return 0, unseen
		}
		return at.Size(), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	in, err := os.Open(from) //nolint:gosec // below the folder of the blobs
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // below the folder of the backup
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(out, in)
	return size, errors.Join(err, out.Sync(), out.Close())
}
