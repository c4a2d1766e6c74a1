package blob_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/blob/blobtest"
)

func TestTheDiskIsAStoreOfBlobs(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Place {
		dir := t.TempDir()
		d, err := blob.NewDisk(dir, blobtest.Seal{})
		require.NoError(t, err)
		return onDisk(t, d, dir)
	})
}

// onDisk is a store whose bytes lie in a folder.
func onDisk(t *testing.T, store blobtest.Store, dir string) blobtest.Place {
	t.Helper()
	return blobtest.Place{
		Store: store,
		Raw: func(workspace, name string) []byte {
			raw, err := os.ReadFile(filepath.Join(dir, workspace, name))
			require.NoError(t, err)
			return raw
		},
		Set: func(workspace, name string, raw []byte) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, workspace), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, workspace, name), raw, 0o600))
		},
		Left: func(workspace string) (names []string) {
			left, err := os.ReadDir(filepath.Join(dir, workspace))
			if !os.IsNotExist(err) {
				require.NoError(t, err)
			}
			for _, e := range left {
				names = append(names, e.Name())
			}
			return names
		},
	}
}

func TestWhatACrashLeftHalfWrittenIsRemoved(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "ws_1"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ws_1", "a.123.part"), []byte("half"), 0o600))
	_, err := blob.NewDisk(dir, blobtest.Seal{})
	require.NoError(t, err)
	left, err := os.ReadDir(filepath.Join(dir, "ws_1"))
	require.NoError(t, err)
	assert.Empty(t, left)
}
