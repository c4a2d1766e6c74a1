// Package pebbletest opens stores on Pebble for tests of other packages.
package pebbletest

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
)

// Open returns an empty store on Pebble, which is closed when the test ends.
func Open(t testing.TB) *persistence.Store {
	t.Helper()
	driver, err := pebble.Open(t.TempDir(), pebble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = driver.Close() })
	store, err := persistence.NewStore(t.Context(), driver, bytes.Repeat([]byte{7}, 32), "1|node")
	require.NoError(t, err)
	return store
}

// Store is a store on Pebble. A test can observe its commits and make them fail.
type Store struct {
	*persistence.Store

	// BeforeApply is called before each commit. If it returns an error, nothing is committed. If BeforeApply is nil,
	// every change is committed.
	BeforeApply func(commit.Change) error
}

// OpenStore returns an empty Store, which is closed when the test ends.
func OpenStore(t testing.TB) *Store {
	t.Helper()
	return &Store{Store: Open(t)}
}

// Apply calls BeforeApply and then commits the change.
func (s *Store) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if s.BeforeApply != nil {
		if err := s.BeforeApply(c); err != nil {
			return nil, err
		}
	}
	return s.Store.Apply(ctx, c)
}
