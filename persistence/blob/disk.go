// Package blob keeps large things beside the store: recordings and exports. Each
// lies in one file, or in one object of a bucket, encrypted under a key of its
// own, so that deleting it shreds it. It knows no call and no workspace but
// their names.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callboard/callboard/domain"
)

// Disk keeps blobs in a folder, one below it per workspace.
type Disk struct {
	dir  string
	seal Sealer
}

// NewDisk opens a folder and removes what a crash left half-written in it.
func NewDisk(dir string, seal Sealer) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"+part))
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("blob: %w", err)
		}
	}
	return &Disk{dir: dir, seal: seal}, nil
}

// For is the same folder for whoever seals in another way.
func (d *Disk) For(seal Sealer) *Disk { return &Disk{dir: d.dir, seal: seal} }

func (d *Disk) path(workspace, name string) (string, error) {
	place, err := placeOf(workspace, name)
	return filepath.Join(d.dir, place), err
}

// Put keeps what r gives under a name and returns its size; a blob of that
// name is replaced. When it returns, the bytes are safe on disk.
func (d *Disk) Put(ctx context.Context, workspace, name string, r io.Reader) (size int64, err error) {
	path, err := d.path(workspace, name)
	if err != nil {
		return 0, err
	}
	folder := filepath.Dir(path)
	if err = d.makeFolder(folder); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(folder, name+".*"+part)
	if err != nil {
		return 0, fmt.Errorf("blob: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	size, err = write(ctx, d.seal, f, workspace, name, r)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("blob: put %s: %w", name, err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return 0, fmt.Errorf("blob: %w", err)
	}
	return size, syncFolder(folder)
}

// makeFolder makes a workspace's folder durable before anything stands in it.
func (d *Disk) makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("blob: %w", err)
	}
	return syncFolder(d.dir)
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	f, err := os.Open(path) //nolint:gosec // a folder of ours
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open reads a blob; domain.ErrNotFound where there is none. Whoever opens it
// closes it. Seeking costs one chunk.
func (d *Disk) Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error) {
	path, err := d.path(workspace, name)
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path) //nolint:gosec // the name is checked
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("blob: %s: %w", name, domain.ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("blob: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("blob: %w", err), f.Close())
	}
	r, err := open(ctx, d.seal, f, info.Size(), workspace, name)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return r, r.size, nil
}

// Delete removes a blob and with it its key; one that is not there is gone.
func (d *Disk) Delete(_ context.Context, workspace, name string) error {
	path, err := d.path(workspace, name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob: %w", err)
	}
	return nil
}

// DeleteAll removes all blobs of a workspace.
func (d *Disk) DeleteAll(_ context.Context, workspace string) error {
	path, err := d.path(workspace, "all")
	if err != nil {
		return err
	}
	if err = os.RemoveAll(filepath.Dir(path)); err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	return syncFolder(d.dir)
}
