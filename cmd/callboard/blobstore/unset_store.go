package blobstore

import (
	"context"
	"fmt"
	"io"

	"github.com/callboard/callboard/domain"
)

// unsetStore is the blob store of a node without blobs_url. It behaves like an unavailable store: recordings wait
// in the spool until blobs_url is set.
type unsetStore struct{}

func (unsetStore) unavailable() error {
	return fmt.Errorf("%w: %w", domain.ErrBlobsUnavailable, domain.Errorf(domain.CodeUnavailable,
		"blobs_url is not set: with node_addr recordings and exports need a bucket or a shared folder that every node reaches").With("retry_after", 60))
}

// Put implements node.Blobs, as do the next three methods.
func (b unsetStore) Put(context.Context, string, string, io.Reader) (int64, error) {
	return 0, b.unavailable()
}

func (b unsetStore) Open(context.Context, string, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, b.unavailable()
}

func (b unsetStore) Delete(context.Context, string, string) error { return b.unavailable() }

func (b unsetStore) DeleteAll(context.Context, string) error { return b.unavailable() }

// List returns no names: no recordings wait in an unset store.
func (unsetStore) List(context.Context, string) ([]string, error) { return nil, nil }

// RemoveAbandoned does nothing.
func (unsetStore) RemoveAbandoned(context.Context) (int, error) { return 0, nil }

// CheckAccess returns an error that is not final, so that the node starts.
func (b unsetStore) CheckAccess(context.Context) (bool, error) { return false, b.unavailable() }

func (unsetStore) String() string { return "no store" }
