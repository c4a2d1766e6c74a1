package blobstore

import (
	"context"
	"fmt"
	"io"

	"github.com/callboard/callboard/domain"
)

// unsetStore is the store of a node without blobs_url. It behaves as a store that is
// away: recordings wait in the spool until blobs_url is set.
type unsetStore struct{}

func (unsetStore) unavailable() error {
	return fmt.Errorf("%w: %w", domain.ErrBlobsUnavailable, domain.Errorf(domain.CodeUnavailable,
		"blobs_url is not set: with node_addr recordings and exports need a bucket or a shared folder that every node reaches").With("retry_after", 60))
}

// Put is an actors.Blobs', as are the next three.
func (b unsetStore) Put(context.Context, string, string, io.Reader) (int64, error) {
	return 0, b.unavailable()
}

func (b unsetStore) Open(context.Context, string, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, b.unavailable()
}

func (b unsetStore) Delete(context.Context, string, string) error { return b.unavailable() }

func (b unsetStore) DeleteAll(context.Context, string) error { return b.unavailable() }

// List names nothing: a node has no part of a recording to fetch.
func (unsetStore) List(context.Context, string) ([]string, error) { return nil, nil }

// RemoveAbandoned removes nothing.
func (unsetStore) RemoveAbandoned(context.Context) (int, error) { return 0, nil }

// CheckAccess fails and is not refused: the node starts.
func (b unsetStore) CheckAccess(context.Context) (bool, error) { return false, b.unavailable() }

func (unsetStore) String() string { return "no store" }
