package persistence

import (
	"bytes"
	"context"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// Reader reads rows of a store without claiming a shard, so the owners of the shards can go on committing. It has no
// cache.
type Reader struct{ store *Store }

// NewReader opens a store for reading. It returns ErrMasterKey if the store belongs to another master key, and
// domain.ErrNotFound if the store is empty.
func NewReader(ctx context.Context, d Driver, master []byte) (*Reader, error) {
	if len(master) != MasterKeySize {
		return nil, fmt.Errorf("persistence: a master key has %d bytes, not %d", MasterKeySize, len(master))
	}
	aead, err := newAEAD(master)
	if err != nil {
		return nil, err
	}
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	known, err := checkMaster(ctx, d, master)
	if err != nil {
		return nil, fmt.Errorf("persistence: open: %w", err)
	}
	if !known {
		return nil, fmt.Errorf("persistence: open: %w", domain.ErrNotFound)
	}
	s := &Store{driver: d, codec: c, vault: &vault{driver: d, master: aead}}
	return &Reader{s}, s.readRoot(ctx, master)
}

// RootKey returns a copy of the key from which keys for other purposes are derived.
func (r *Reader) RootKey() []byte { return bytes.Clone(r.store.rootKey) }

// Get reads the row of into by its Key and returns its version. It returns an error for a record with secret fields,
// because a Reader cannot decrypt them.
func (r *Reader) Get(ctx context.Context, into domain.Record) (uint64, error) {
	if _, secret := into.(domain.Sealer); secret {
		return 0, fmt.Errorf("persistence: %T: a reader cannot decrypt secret fields", into)
	}
	return r.store.Get(ctx, into)
}
