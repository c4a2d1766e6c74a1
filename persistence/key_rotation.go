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

// rootKey holds the root, wrapped by the master key, once that was changed.
var rootKey = Key{Table: table("_meta", ""), ID: "root"}

func rootBound() []byte { return additional(domain.Key{Kind: "_meta", ID: "root"}, "key") }

func dataBound(workspace string) []byte {
	return additional(domain.Key{Kind: "_key", Workspace: workspace, ID: "data"}, "key")
}

// Root is what keys for other purposes are derived of: the first master key
// that the store had. It stays when another one takes over, so that API keys,
// refresh tokens and logs of decisions stay good.
func (s *Store) Root() []byte { return bytes.Clone(s.root) }

// readRoot is the root of a store that belongs to master.
func (s *Store) readRoot(ctx context.Context, master []byte) error {
	wrapped, _, err := s.driver.Get(ctx, rootKey)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		s.root = bytes.Clone(master)
		return nil
	case err != nil:
		return fmt.Errorf("persistence: root: %w", err)
	}
	if s.root, err = unlock(s.vault.master, wrapped, rootBound()); err != nil {
		return fmt.Errorf("persistence: root: %w", err)
	}
	return nil
}

// ErrSameKey is Rotate's for the key that the store belongs to already.
var ErrSameKey = errors.New("persistence: the store belongs to this master key already")

// Rotate lets next (32 bytes) take the place of the store's master key, in one
// commit: all data keys and the root are wrapped by it, and the one before opens
// nothing any more. Nobody else may use the store meanwhile, and nobody this
// Store afterwards.
func (s *Store) Rotate(ctx context.Context, next []byte) error {
	if len(next) != MasterKeySize {
		return fmt.Errorf("persistence: a master key has %d bytes, not %d", MasterKeySize, len(next))
	}
	if s.part.Of > 1 {
		return errors.New("persistence: a part of a store cannot rotate the master key of all")
	}
	aead, err := newAEAD(next)
	if err != nil {
		return err
	}
	s.vault.making.Lock()
	defer s.vault.making.Unlock()
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
		wrapped, version, failed := s.rewrapped(ctx, key, dataBound(workspace), aead)
		if failed != nil {
			return fmt.Errorf("persistence: rotate: data key of %q: %w", workspace, failed)
		}
		add(key, version, wrapped)
	}
	_, version, err := s.driver.Get(ctx, rootKey)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return fmt.Errorf("persistence: rotate: %w", err)
	}
	wrapped, err := lock(aead, s.root, rootBound())
	if err != nil {
		return err
	}
	add(rootKey, version, wrapped)
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

// rewrapped is a key that the master key wraps, wrapped by the next.
func (s *Store) rewrapped(ctx context.Context, key Key, bound []byte, next cipher.AEAD) (wrapped []byte, version uint64, err error) {
	if wrapped, version, err = s.driver.Get(ctx, key); err != nil {
		return nil, 0, err
	}
	plain, err := unlock(s.vault.master, wrapped, bound)
	if err != nil {
		return nil, 0, err
	}
	wrapped, err = lock(next, plain, bound)
	return wrapped, version, err
}
