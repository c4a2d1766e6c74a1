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

// Moved is what Move did.
type Moved struct {
	Moved int   `json:"moved"` // copied to the bucket, read there again and removed from the folder
	There int   `json:"there"` // removed from the folder, because the bucket had them already
	Other int   `json:"other"` // files that are no blobs and stay
	Bytes int64 `json:"bytes"` // of those that were copied
}

// Move moves the blobs of a folder, which nothing else uses meanwhile, to a bucket. A file is removed once the bucket has
// given the same bytes back. Move can be repeated after an error.
func Move(ctx context.Context, from *Disk, to *S3, progress func(Moved)) (done Moved, err error) {
	err = from.each(func(workspace, name string) error {
		place, wrong := placeOf(workspace, name)
		if wrong != nil { // not a blob, or half of one
			done.Other++
			return nil //nolint:nilerr // it stays
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

// each calls do for every file in the folders of the workspaces.
func (d *Disk) each(do func(workspace, name string) error) error {
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

var errFound = errors.New("found")

// Empty reports whether the folder has no blobs.
func (d *Disk) Empty() (bool, error) {
	err := d.each(func(workspace, name string) error {
		if _, err := placeOf(workspace, name); err != nil {
			return nil //nolint:nilerr // not a blob
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		return false, nil
	}
	return err == nil, err
}

// moveFile copies a file, or compares it with the object that is there already.
func moveFile(ctx context.Context, from *Disk, to *S3, place string, done *Moved) error {
	f, err := os.Open(filepath.Join(from.dir, place)) //nolint:gosec // the name is checked
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	defer func() { _ = f.Close() }()
	same, err := alike(ctx, to, f, place)
	switch {
	case errors.Is(err, domain.ErrNotFound):
	case err != nil:
		return err
	case same:
		done.There++
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
	if same, err = alike(ctx, to, f, place); err == nil && !same {
		err = fmt.Errorf("blob: %s: %s gives other bytes back than it was given", place, to)
	}
	if err == nil {
		done.Moved++
		done.Bytes += size
	}
	return err
}

// alike says whether file and object are the same bytes; domain.ErrNotFound
// where there is no object.
func alike(ctx context.Context, to *S3, f *os.File, place string) (bool, error) {
	there, err := to.fetch(ctx, place)
	if errors.Is(err, ErrDamaged) {
		return false, nil
	}
	if err != nil {
		return false, told("move", place, err)
	}
	defer func() { _ = there.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() != there.size {
		return false, err
	}
	mine, theirs := make([]byte, chunkSize), make([]byte, chunkSize)
	for at := int64(0); at < there.size; at += chunkSize {
		n := min(chunkSize, there.size-at)
		if err = errors.Join(readAt(f, mine[:n], at), readAt(there, theirs[:n], at), ctx.Err()); err != nil {
			return false, err
		}
		if !bytes.Equal(mine[:n], theirs[:n]) {
			return false, nil
		}
	}
	return true, nil
}
