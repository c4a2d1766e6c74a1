package persistence

import (
	"bytes"
	"context"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// Reader reads rows of a store without owning a shard. It claims nothing, so it fences no other process. It caches
// nothing.
type Reader struct{ store *Store }

// NewReader opens a store for reading. ErrMasterKey: the store belongs to another master key. domain.ErrNotFound:
// the store is empty.
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

// RootKey returns the store's root key (Store.RootKey).
func (r *Reader) RootKey() []byte { return bytes.Clone(r.store.rootKey) }

// Get reads a row that has no secret fields, like Store.Get.
func (r *Reader) Get(ctx context.Context, into domain.Record) (uint64, error) {
	if _, secret := into.(domain.Sealer); secret {
		return 0, fmt.Errorf("persistence: %T: a reader cannot decrypt secret fields", into)
	}
	return r.store.Get(ctx, into)
}
