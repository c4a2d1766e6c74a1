package persistence

import (
	"bytes"
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"strings"

	"github.com/callboard/callboard/domain"
)

// rootKeyRow is the key of the row that holds the root key, encrypted by the master key. The row exists only after a
// rotation of the master key.
var rootKeyRow = Key{Table: table("_meta", ""), ID: "root"}

func rootKeyAAD() []byte { return additionalData(domain.Key{Kind: "_meta", ID: "root"}, "key") }

func dataKeyAAD(workspace string) []byte {
	return additionalData(domain.Key{Kind: "_key", Workspace: workspace, ID: "data"}, "key")
}

// RootKey returns the key from which keys for other purposes are derived. It is the first master key of the store and
// does not change with a rotation, so that API keys, refresh tokens and decision logs stay valid.
func (s *Store) RootKey() []byte { return bytes.Clone(s.rootKey) }

// readRoot reads the root key of the store. In a store without a rotation, the root key is the master key.
func (s *Store) readRoot(ctx context.Context, master []byte) error {
	wrapped, _, err := s.driver.Get(ctx, rootKeyRow)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		s.rootKey = bytes.Clone(master)
		return nil
	case err != nil:
		return fmt.Errorf("persistence: root: %w", err)
	}
	if s.rootKey, err = decrypt(s.vault.master, wrapped, rootKeyAAD()); err != nil {
		return fmt.Errorf("persistence: root: %w", err)
	}
	return nil
}

// ErrSameKey is returned by RotateMasterKey if the store has this master key already.
var ErrSameKey = errors.New("persistence: the store belongs to this master key already")

// RotateMasterKey replaces the store's master key with next (32 bytes) in one commit. It encrypts all data keys and the
// root key with next, so that the previous master key decrypts nothing. No other process may use the store
// meanwhile, and this Store must not be used afterwards.
func (s *Store) RotateMasterKey(ctx context.Context, next []byte) error {
	if len(next) != MasterKeySize {
		return fmt.Errorf("persistence: a master key has %d bytes, not %d", MasterKeySize, len(next))
	}
	if s.shard.Count > 1 {
		return errors.New("persistence: the store of one shard cannot rotate the master key")
	}
	aead, err := newAEAD(next)
	if err != nil {
		return err
	}
	s.vault.creating.Lock()
	defer s.vault.creating.Unlock()
	tables, err := s.driver.Tables(ctx, "")
	if err != nil {
		return fmt.Errorf("persistence: rotate: %w", err)
	}
	var c Commit
	add := func(key Key, version uint64, value []byte) {
		c.Guards = append(c.Guards, Guard{Key: key, Version: version})
		c.Puts = append(c.Puts, Put{Key: key, Value: value})
	}
	for _, name := range tables {
		workspace, is := strings.CutPrefix(name, table("_key", ""))
		if !is {
			continue
		}
		key := Key{Table: name, ID: "data"}
		wrapped, version, failed := s.rewrapKey(ctx, key, dataKeyAAD(workspace), aead)
		if failed != nil {
			return fmt.Errorf("persistence: rotate: data key of %q: %w", workspace, failed)
		}
		add(key, version, wrapped)
	}
	_, version, err := s.driver.Get(ctx, rootKeyRow)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return fmt.Errorf("persistence: rotate: %w", err)
	}
	wrapped, err := encrypt(aead, s.rootKey, rootKeyAAD())
	if err != nil {
		return err
	}
	add(rootKeyRow, version, wrapped)
	have, version, err := s.driver.Get(ctx, fingerprintKey)
	if err != nil {
		return fmt.Errorf("persistence: rotate: %w", err)
	}
	if bytes.Equal(have, fingerprint(next)) {
		return ErrSameKey
	}
	add(fingerprintKey, version, fingerprint(next))
	if _, err = s.commit(ctx, c); err != nil {
		return fmt.Errorf("persistence: rotate: %w", err)
	}
	return nil
}

// rewrapKey decrypts a stored key with the present master key and encrypts it with next. It also returns the version of
// the key's row. bound is the additional data of the encryption.
func (s *Store) rewrapKey(ctx context.Context, key Key, bound []byte, next cipher.AEAD) (wrapped []byte, version uint64, err error) {
	if wrapped, version, err = s.driver.Get(ctx, key); err != nil {
		return nil, 0, err
	}
	plain, err := decrypt(s.vault.master, wrapped, bound)
	if err != nil {
		return nil, 0, err
	}
	wrapped, err = encrypt(next, plain, bound)
	return wrapped, version, err
}
