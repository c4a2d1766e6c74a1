// Package blob stores large objects, such as recordings and exports, in a folder or in an S3 bucket.
//
// Each blob is encrypted with its own random key, which is stored in the blob in encrypted form. Deleting a blob
// therefore also deletes its key, so that copies of the encrypted bytes alone cannot be read.
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

// Disk stores blobs in a folder, with one subfolder per workspace.
type Disk struct {
	dir    string
	seal   Sealer
	shared bool
}

// NewDisk opens a folder that only this process uses. It removes files that a crash left incomplete.
func NewDisk(dir string, seal Sealer) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	d := &Disk{dir: dir, seal: seal}
	_, err := d.removeParts(time.Now())
	return d, err
}

// NewSharedDisk opens a folder on a file system that several processes share. It does not check that the folder
// exists. While the folder is missing, the methods return a domain.Error with CodeUnavailable, like those of S3.
func NewSharedDisk(dir string, seal Sealer) *Disk {
	return &Disk{dir: dir, seal: seal, shared: true}
}

// String returns a description of the store for users.
func (d *Disk) String() string { return "the folder " + d.dir }

// RemoveAbandoned removes incomplete files that were last written more than a day ago. It returns their number.
func (d *Disk) RemoveAbandoned(context.Context) (int, error) {
	return d.removeParts(time.Now().Add(-abandonedAfter))
}

func (d *Disk) removeParts(before time.Time) (n int, err error) {
	err = d.eachFile(func(workspace, name string) error {
		if !strings.HasSuffix(name, partSuffix) {
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

// CheckAccess writes, reads and deletes a small file. refused is true if the folder exists but one of these
// operations fails.
func (d *Disk) CheckAccess(ctx context.Context) (refused bool, err error) {
	done := make(chan error, 1)
	go func() { done <- d.checkAccess() }() // in a goroutine, because system calls on a hanging file system do not return
	select {
	case err = <-done:
		return err != nil && !errors.Is(err, fs.ErrNotExist), err
	case <-ctx.Done():
		return false, fmt.Errorf("%s does not answer: %w", d, ctx.Err())
	}
}

func (d *Disk) checkAccess() error {
	text := []byte("Callboard checks that it can write, read and delete here.\n")
	f, err := os.CreateTemp(d.dir, "try-*")
	if err != nil {
		return fmt.Errorf("cannot write: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	got, unread := os.ReadFile(f.Name())
	if err = errors.Join(err, unread); err == nil && !bytes.Equal(got, text) {
		err = errors.New("the bytes read differ from those written")
	}
	return errors.Join(err, os.Remove(f.Name()))
}

const diskRetrySeconds = 5 // seconds

// path returns the file path of a blob. If a shared folder does not exist, the error says that the store is
// unavailable, because its file system may not be mounted.
func (d *Disk) path(workspace, name string) (string, error) {
	place, err := blobPath(workspace, name)
	if err == nil && d.shared {
		if _, away := os.Stat(d.dir); away != nil {
			err = unavailable(diskRetrySeconds, fmt.Errorf("blob: %w", away))
		}
	}
	return filepath.Join(d.dir, place), err
}

// unavailable returns the error for a store that cannot be reached. seconds is its retry_after.
func unavailable(seconds int, err error) error {
	return fmt.Errorf("%w: %w: %w", domain.ErrBlobsUnavailable, domain.Errorf(domain.CodeUnavailable, "the storage of recordings and exports cannot be reached; try again").With("retry_after", seconds), err)
}

// Put stores the bytes that r returns under a name and returns their number. It replaces an existing blob of that name.
// The blob is durable when Put returns.
func (d *Disk) Put(ctx context.Context, workspace, name string, r io.Reader) (size int64, err error) {
	path, err := d.path(workspace, name)
	if err != nil {
		return 0, err
	}
	folder := filepath.Dir(path)
	if err = d.makeFolder(folder); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(folder, name+".*"+partSuffix)
	if err != nil {
		return 0, fmt.Errorf("blob: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	size, err = writeSealed(ctx, d.seal, f, workspace, name, r)
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

// makeFolder creates the folder of a workspace if it does not exist, and syncs its directory entry to disk.
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

// syncFolder syncs a folder to disk, so that renames and deletions in it are durable.
func syncFolder(path string) error {
	f, err := os.Open(path) //nolint:gosec // a folder of ours
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open opens a blob for reading and returns its size. The caller closes it. A read after a seek decrypts one chunk. A
// missing blob is the error domain.ErrNotFound.
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
	r, err := openSealed(ctx, d.seal, f, info.Size(), workspace, name)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return r, r.size, nil
}

// Delete removes a blob with its key. A missing blob is not an error.
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
