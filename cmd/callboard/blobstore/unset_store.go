package blobstore

import (
	"context"
	"fmt"
	"io"

	"github.com/callboard/callboard/domain"
)

// unsetStore is the blob store of a node without the setting blobs_url. It behaves like an unavailable store: recordings
// wait in the local spool until blobs_url is set.
type unsetStore struct{}

func (unsetStore) unavailable() error {
	return fmt.Errorf("%w: %w", domain.ErrBlobsUnavailable, domain.Errorf(domain.CodeUnavailable,
		"blobs_url is not set: with node_addr recordings and exports need a bucket or a shared folder that every node reaches").With("retry_after", 60))
}

// Put implements node.Blobs. Like Open, Delete and DeleteAll it returns an error that says that blobs_url is not set.
func (b unsetStore) Put(context.Context, string, string, io.Reader) (int64, error) {
	return 0, b.unavailable()
}

func (b unsetStore) Open(context.Context, string, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, b.unavailable()
}

func (b unsetStore) Delete(context.Context, string, string) error { return b.unavailable() }

func (b unsetStore) DeleteAll(context.Context, string) error { return b.unavailable() }

// List returns no names, because an unset store contains no blobs.
func (unsetStore) List(context.Context, string) ([]string, error) { return nil, nil }

// RemoveAbandoned does nothing, because an unset store contains no uploads.
func (unsetStore) RemoveAbandoned(context.Context) (int, error) { return 0, nil }

// CheckAccess returns an error with refused false, so that the node starts although blobs_url is not set.
func (b unsetStore) CheckAccess(context.Context) (bool, error) { return false, b.unavailable() }

func (unsetStore) String() string { return "no store" }
