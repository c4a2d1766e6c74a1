package datafolder

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteSecretFile atomically writes a file that only its owner can read.
func WriteSecretFile(path, text string) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // a path in the operator's data folder
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(part, path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// Sync flushes files and folders to disk, so that they survive a power failure.
func Sync(paths ...string) error {
	for _, path := range paths {
		f, err := os.Open(path) //nolint:gosec // the operator chooses the path
		if err != nil {
			return err
		}
		if err = errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
