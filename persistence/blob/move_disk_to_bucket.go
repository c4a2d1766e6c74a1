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

	"github.com/callboard/callboard/domain"
)

// MoveResult counts the files that MoveToBucket has handled.
type MoveResult struct {
	Copied        int   `json:"moved"` // copied to the bucket, read back, and removed from the folder
	AlreadyStored int   `json:"there"` // removed from the folder, as the bucket had the same bytes already
	Skipped       int   `json:"other"` // files that are not blobs and stay in the folder
	Bytes         int64 `json:"bytes"` // bytes of the copied blobs
}

// MoveToBucket moves the blobs of a folder to a bucket. No other process may use the folder meanwhile. A file is
// removed only after its bytes were read back from the bucket. MoveToBucket can be repeated after an error. It calls
// progress after each file.
func MoveToBucket(ctx context.Context, from *Disk, to *S3, progress func(MoveResult)) (done MoveResult, err error) {
	err = from.eachFile(func(workspace, name string) error {
		place, wrong := blobPath(workspace, name)
		if wrong != nil { // not a complete blob
			done.Skipped++
			return nil //nolint:nilerr // the file stays
		}
		failed := moveFile(ctx, from, to, place, &done)
		if failed == nil {
			failed = from.Delete(ctx, workspace, name)
		}
		progress(done)
		return failed
	})
	return done, err
}

// eachFile calls do for every file in the workspace folders.
func (d *Disk) eachFile(do func(workspace, name string) error) error {
	spaces, err := os.ReadDir(d.dir)
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	for _, space := range spaces {
		if !space.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(d.dir, space.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("blob: %w", err)
		}
		for _, f := range files {
			if err = do(space.Name(), f.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

var errNotEmpty = errors.New("found")

// Empty reports whether the folder has no blobs.
func (d *Disk) Empty() (bool, error) {
	err := d.eachFile(func(workspace, name string) error {
		if _, err := blobPath(workspace, name); err != nil {
			return nil //nolint:nilerr // not a blob
		}
		return errNotEmpty
	})
	if errors.Is(err, errNotEmpty) {
		return false, nil
	}
	return err == nil, err
}

// moveFile copies a file to the bucket and compares the stored bytes. If the bucket already has an object of that name,
// it only compares the bytes.
func moveFile(ctx context.Context, from *Disk, to *S3, place string, done *MoveResult) error {
	f, err := os.Open(filepath.Join(from.dir, place)) //nolint:gosec // the name is checked
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	defer func() { _ = f.Close() }()
	same, err := hasSameBytes(ctx, to, f, place)
	switch {
	case errors.Is(err, domain.ErrNotFound):
	case err != nil:
		return err
	case same:
		done.AlreadyStored++
		return nil
	default:
		return fmt.Errorf("blob: %s: %s has another object of this name: remove one of them", place, to)
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	err = to.upload(ctx, place, place, func(_ context.Context, w io.Writer) error {
		_, failed := io.Copy(w, f)
		return failed
	})
	if err != nil {
		return err
	}
	if same, err = hasSameBytes(ctx, to, f, place); err == nil && !same {
		err = fmt.Errorf("blob: %s: %s returned other bytes than were written", place, to)
	}
	if err == nil {
		done.Copied++
		done.Bytes += size
	}
	return err
}

// hasSameBytes reports whether an object has the same bytes as a file. A missing object is the error domain.ErrNotFound.
func hasSameBytes(ctx context.Context, to *S3, f *os.File, place string) (bool, error) {
	object, err := to.fetch(ctx, place)
	if errors.Is(err, ErrDamaged) {
		return false, nil
	}
	if err != nil {
		return false, wrapStoreError("move", place, err)
	}
	defer func() { _ = object.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() != object.size {
		return false, err
	}
	fileChunk, objectChunk := make([]byte, chunkSize), make([]byte, chunkSize)
	for at := int64(0); at < object.size; at += chunkSize {
		n := min(chunkSize, object.size-at)
		if err = errors.Join(readAt(f, fileChunk[:n], at), readAt(object, objectChunk[:n], at), ctx.Err()); err != nil {
			return false, err
		}
		if !bytes.Equal(fileChunk[:n], objectChunk[:n]) {
			return false, nil
		}
	}
	return true, nil
}
