// Package pebbletest opens stores for tests of other packages.
package pebbletest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
)

// Open returns an empty store on Pebble, which is closed at the end of the test.
func Open(t testing.TB) *persistence.Store {
	t.Helper()
	driver, err := pebble.Open(t.TempDir(), pebble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = driver.Close() })
	store, err := persistence.NewStore(t.Context(), driver, bytes.Repeat([]byte{7}, 32), "1|node")
	require.NoError(t, err)
	return store
}
