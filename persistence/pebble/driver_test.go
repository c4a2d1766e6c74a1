package pebble_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/storetest"
)

func open(t testing.TB) persistence.Driver {
	t.Helper()
	d, err := pebble.Open(t.TempDir(), pebble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestPebbleConforms(t *testing.T) { storetest.Run(t, open) }

func BenchmarkPebble(b *testing.B) { storetest.Bench(b, open) }
