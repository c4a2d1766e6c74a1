package pebble_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/storetest"
)

func openEmpty(t testing.TB) persistence.Driver {
	t.Helper()
	d, err := pebble.Open(t.TempDir(), pebble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestPebbleConforms(t *testing.T) { storetest.Run(t, openEmpty) }

func BenchmarkPebble(b *testing.B) { storetest.Bench(b, openEmpty) }

func TestReadRowChangesNothing(t *testing.T) {
	dir := t.TempDir()
	k := persistence.Key{Table: "agent/ws_1", ID: "agent_1"}
	_, _, err := pebble.ReadRow(dir, k)
	require.ErrorIs(t, err, os.ErrNotExist, "there is no store")
	_, _, err = pebble.ReadRow(filepath.Join(dir, "nothing"), k)
	require.ErrorIs(t, err, os.ErrNotExist, "there is no folder")
	d, err := pebble.Open(dir, pebble.Options{})
	require.NoError(t, err)
	_, err = d.Commit(t.Context(), persistence.Commit{Shard: "s", Puts: []persistence.Put{{Key: k, Value: []byte("a")}}})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	before, err := os.ReadDir(dir)
	require.NoError(t, err)
	value, version, err := pebble.ReadRow(dir, k)
	require.NoError(t, err)
	require.Equal(t, "a", string(value))
	require.Equal(t, uint64(1), version)
	_, _, err = pebble.ReadRow(dir, persistence.Key{Table: "agent/ws_1", ID: "agent_2"})
	require.ErrorIs(t, err, domain.ErrNotFound)
	after, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(before), fmt.Sprint(after))
}
