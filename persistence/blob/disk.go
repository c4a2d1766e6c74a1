// Package blob keeps large things beside the store: recordings and exports. Each
// lies in one file, or in one object of a bucket, encrypted under a key of its
// own, so that deleting it shreds it. It knows no call and no workspace but
// their names.
package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Disk keeps blobs in a folder, one below it per workspace.
type Disk struct {
	dir    string
	seal   Sealer
	shared bool
}

// NewDisk opens the folder of one process and removes what a crash left
// half-written in it.
func NewDisk(dir string, seal Sealer) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	d := &Disk{dir: dir, seal: seal}
	_, err := d.removeParts(time.Now())
	return d, err
}

// NewSharedDisk opens a folder of a file system that several processes share; it
// is not asked whether it is there. While it is not, the methods return a
// domain.Error of CodeUnavailable, as those of S3.
func NewSharedDisk(dir string, seal Sealer) *Disk {
	return &Disk{dir: dir, seal: seal, shared: true}
}

// String names the place to people.
func (d *Disk) String() string { return "the folder " + d.dir }

// Sweep removes files that no process has written to for a day and that are
// half-written, and returns how many those were.
func (d *Disk) Sweep(context.Context) (int, error) {
	return d.removeParts(time.Now().Add(-abandoned))
}

func (d *Disk) removeParts(before time.Time) (n int, err error) {
	err = d.each(func(workspace, name string) error {
		if !strings.HasSuffix(name, part) {
			return nil
		}
		path := filepath.Join(d.dir, workspace, name)
		info, wrong := os.Stat(path)
		if wrong == nil && info.ModTime().Before(before) {
			n++
			wrong = os.Remove(path)
		}
		if errors.Is(wrong, fs.ErrNotExist) { // another process has removed it
			return nil
		}
		return wrong
	})
	return n, err
}

// Try writes, reads and deletes a small file, as an install has to be able to.
// refused is true where the folder is there and that is not possible.
func (d *Disk) Try(ctx context.Context) (refused bool, err error) {
	done := make(chan error, 1)
	go func() { done <- d.try() }() // system calls on a file system that hangs do not return
	select {
	case err = <-done:
		return err != nil && !errors.Is(err, fs.ErrNotExist), err
	case <-ctx.Done():
		return false, fmt.Errorf("%s does not answer: %w", d, ctx.Err())
	}
}

func (d *Disk) try() error {
	text := []byte("Callboard tries whether it can write, read and delete here.\n")
	f, err := os.CreateTemp(d.dir, "try-*")
	if err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	got, unread := os.ReadFile(f.Name())
	if err = errors.Join(err, unread); err == nil && !bytes.Equal(got, text) {
		err = errors.New("something else came back")
	}
	return errors.Join(err, os.Remove(f.Name()))
}

const diskRetry = 5 // seconds

// path is where a blob lies. A shared folder that is not there, because it is not
// mounted, is no empty one.
func (d *Disk) path(workspace, name string) (string, error) {
	place, err := placeOf(workspace, name)
	if err == nil && d.shared {
		if _, away := os.Stat(d.dir); away != nil {
			err = unavailable(diskRetry, fmt.Errorf("blob: %w", away))
		}
	}
	return filepath.Join(d.dir, place), err
}

// unavailable is the error while the store is away.
func unavailable(seconds int, err error) error {
	return fmt.Errorf("%w: %w: %w", domain.ErrAway, domain.Errorf(domain.CodeUnavailable, "what keeps recordings and exports cannot be reached; try again").With("retry_after", seconds), err)
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
