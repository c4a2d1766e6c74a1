package recordtest

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/callboard/callboard/domain"
)

// Blobs is a blob store in memory. The zero value is empty and ready.
type Blobs struct {
	mu  sync.Mutex
	all map[string][]byte // by workspace/name
}

// blob is an opened blob. Its Close does nothing, because the content is in memory.
type blob struct{ *bytes.Reader }

func (blob) Close() error { return nil }

// Open opens a blob. Errors: domain.ErrNotFound.
func (b *Blobs) Open(_ context.Context, workspace, name string) (io.ReadSeekCloser, int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, ok := b.all[workspace+"/"+name]
	if !ok {
		return nil, 0, domain.ErrNotFound
	}
	return blob{bytes.NewReader(all)}, int64(len(all)), nil
}

// Put stores the content of r as a blob and returns its size. If reading r fails, Put stores nothing.
func (b *Blobs) Put(_ context.Context, workspace, name string, r io.Reader) (int64, error) {
	all, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = make(map[string][]byte)
	}
	b.all[workspace+"/"+name] = all
	return int64(len(all)), nil
}

// Delete deletes a blob. It returns nil if the blob does not exist.
func (b *Blobs) Delete(_ context.Context, workspace, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, workspace+"/"+name)
	return nil
}
