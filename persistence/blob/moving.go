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
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
)

// Moving keeps blobs in a bucket and reads those of before in a folder, until
// they are moved. Its Move is the only one that writes from one to the other;
// while it moves a blob, who changes that one waits.
type Moving struct {
	to   *S3
	from *Disk

	mu    sync.Mutex
	under map[string]chan struct{} // places that are being moved, or changed
}

// NewMoving puts a bucket before a folder.
func NewMoving(to *S3, from *Disk) *Moving {
	return &Moving{to: to, from: from, under: make(map[string]chan struct{})}
}

// hold waits until nobody moves or changes a blob, and lets nobody do so until
// free is called.
func (m *Moving) hold(ctx context.Context, place string) (free func(), err error) {
	for {
		m.mu.Lock()
		busy := m.under[place]
		if busy == nil {
			mine := make(chan struct{})
			m.under[place] = mine
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				delete(m.under, place)
				close(mine)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, fmt.Errorf("blob: %w", ctx.Err())
		}
	}
}

// Put keeps a blob in the bucket.
func (m *Moving) Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error) {
	place, err := placeOf(workspace, name)
	if err != nil {
		return 0, err
	}
	free, err := m.hold(ctx, place)
	if err != nil {
		return 0, err
	}
	defer free()
	size, err := m.to.Put(ctx, workspace, name, r)
	if err != nil {
		return 0, err
	}
	return size, m.from.Delete(ctx, workspace, name)
}

// Open reads a blob from wherever it lies.
func (m *Moving) Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error) {
	r, size, err := m.from.Open(ctx, workspace, name)
	if !errors.Is(err, domain.ErrNotFound) {
		return r, size, err
	}
	return m.to.Open(ctx, workspace, name)
}

// Delete removes a blob from wherever it lies.
func (m *Moving) Delete(ctx context.Context, workspace, name string) error {
	place, err := placeOf(workspace, name)
	if err != nil {
		return err
	}
	free, err := m.hold(ctx, place)
	if err != nil {
		return err
	}
	defer free()
	if err = m.from.Delete(ctx, workspace, name); err != nil {
		return err
	}
	return m.to.Delete(ctx, workspace, name)
}

// DeleteAll removes all blobs of a workspace from wherever they lie.
func (m *Moving) DeleteAll(ctx context.Context, workspace string) error {
	if err := m.from.DeleteAll(ctx, workspace); err != nil { // nothing of it begins to be moved any more
		return err
	}
	for {
		var busy chan struct{}
		m.mu.Lock()
		for place, under := range m.under {
			if strings.HasPrefix(place, workspace+"/") {
				busy = under
			}
		}
		m.mu.Unlock()
		if busy == nil {
			return m.to.DeleteAll(ctx, workspace)
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return fmt.Errorf("blob: %w", ctx.Err())
		}
	}
}

// Moved is what a Move did.
type Moved struct {
	Moved   int   `json:"moved"`   // copied to the bucket and read there again
	There   int   `json:"there"`   // the bucket had them already
	Newer   int   `json:"newer"`   // the bucket has others of that name, which count
	Removed int   `json:"removed"` // from the folder
	Other   int   `json:"other"`   // files that are no blobs and stay
	Bytes   int64 `json:"bytes"`   // of those that were copied
}

// Add adds what another Move did.
func (m *Moved) Add(o Moved) {
	m.Moved += o.Moved
	m.There += o.There
	m.Newer += o.Newer
	m.Removed += o.Removed
	m.Other += o.Other
	m.Bytes += o.Bytes
}

// Move copies to the bucket what lies in the folder behind a place, which is
// empty at first, for about a time; next is where to go on, and empty where
// nothing is left. A blob counts once the bucket has given the same bytes back.
// Its file goes only where remove says so. It may be repeated at any point.
func (m *Moving) Move(ctx context.Context, after string, remove bool, within time.Duration) (done Moved, next string, err error) {
	until := time.Now().Add(within)
	spaces, err := os.ReadDir(m.from.dir)
	if err != nil {
		return done, "", fmt.Errorf("blob: %w", err)
	}
	last, _, _ := strings.Cut(after, "/")
	for _, space := range spaces {
		if !space.IsDir() {
			done.Other++
			continue
		}
		if space.Name() < last {
			continue
		}
		files, err := os.ReadDir(filepath.Join(m.from.dir, space.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return done, "", fmt.Errorf("blob: %w", err)
		}
		for _, f := range files {
			at := space.Name() + "/" + f.Name()
			if space.Name() == last && at <= after {
				continue
			}
			if err = m.moveOne(ctx, space.Name(), f.Name(), remove, &done); err != nil {
				return done, "", err
			}
			if time.Now().After(until) {
				return done, at, nil
			}
		}
	}
	return done, "", nil
}

func (m *Moving) moveOne(ctx context.Context, workspace, name string, remove bool, done *Moved) error {
	place, err := placeOf(workspace, name)
	if err != nil { // somebody else's, or half of one
		done.Other++
		return nil
	}
	free, err := m.hold(ctx, place)
	if err != nil {
		return err
	}
	defer free()
	f, err := os.Open(filepath.Join(m.from.dir, place)) //nolint:gosec // the name is checked
	if errors.Is(err, fs.ErrNotExist) {                 // deleted meanwhile
		return nil
	}
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		done.Other++
		return err
	}
	alike, err := m.alike(ctx, f, place)
	switch {
	case err == nil && alike:
		done.There++
	case err == nil:
		done.Newer++
	case !errors.Is(err, domain.ErrNotFound):
		return err
	default:
		if err = m.copy(ctx, f, place); err != nil {
			return err
		}
		done.Moved++
		done.Bytes += info.Size()
	}
	if !remove {
		return nil
	}
	done.Removed++
	return m.from.Delete(ctx, workspace, name)
}

// copy sends a file as it is and reads it back.
func (m *Moving) copy(ctx context.Context, f *os.File, place string) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	err := m.to.upload(ctx, place, place, func(_ context.Context, w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
	if err != nil {
		return err
	}
	alike, err := m.alike(ctx, f, place)
	if err == nil && !alike {
		err = fmt.Errorf("blob: %s: %s gives other bytes back than it was given", place, m.to)
	}
	return err
}

// alike says whether file and object are the same bytes; domain.ErrNotFound
// where there is no object.
func (m *Moving) alike(ctx context.Context, f *os.File, place string) (bool, error) {
	there, err := m.to.fetch(ctx, place)
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
