package blob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/blob/blobtest"
)

func TestDiskConforms(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.TestStore {
		dir := t.TempDir()
		d, err := blob.NewDisk(dir, blobtest.FakeSealer{})
		require.NoError(t, err)
		return newDiskTestStore(t, d, dir)
	})
}

// newDiskTestStore returns a test store whose stored bytes are files in the folder dir.
func newDiskTestStore(t *testing.T, store blobtest.Store, dir string) blobtest.TestStore {
	t.Helper()
	return blobtest.TestStore{
		Store: store,
		RawBytes: func(workspace, name string) []byte {
			raw, err := os.ReadFile(filepath.Join(dir, workspace, name))
			require.NoError(t, err)
			return raw
		},
		SetRawBytes: func(workspace, name string, raw []byte) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, workspace), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, workspace, name), raw, 0o600))
		},
		RemainingFiles: func(workspace string) (names []string) {
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

func TestDiskRemovesIncompleteFilesOnOpen(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "ws_1"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ws_1", "a.123.part"), []byte("half"), 0o600))
	_, err := blob.NewDisk(dir, blobtest.FakeSealer{})
	require.NoError(t, err)
	left, err := os.ReadDir(filepath.Join(dir, "ws_1"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestSharedDiskWithoutFolderIsUnavailable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shared")
	d := blob.NewSharedDisk(dir, blobtest.FakeSealer{})
	refused, err := d.CheckAccess(t.Context())
	require.Error(t, err)
	assert.False(t, refused, "the folder may be mounted later")
	put := func() error { _, err := d.Put(t.Context(), "ws_1", "a", strings.NewReader("sound")); return err }
	open := func() error { _, _, err := d.Open(t.Context(), "ws_1", "a"); return err }
	list := func() error { _, err := d.List(t.Context(), "ws_1"); return err }
	for _, err := range []error{put(), open(), list(), d.Delete(t.Context(), "ws_1", "a"), d.DeleteAll(t.Context(), "ws_1")} {
		require.ErrorIs(t, err, domain.ErrBlobsUnavailable)
		assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	}
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, put())
	require.NoError(t, open())
	refused, err = d.CheckAccess(t.Context())
	require.NoError(t, err)
	assert.False(t, refused)
}

func TestSharedDiskKeepsIncompleteFilesForADay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, young := filepath.Join(dir, "ws_1", "a.1.part"), filepath.Join(dir, "ws_1", "a.2.part")
	require.NoError(t, os.MkdirAll(filepath.Dir(old), 0o700))
	for _, path := range []string{old, young} {
		require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	at := time.Now().Add(-25 * time.Hour)
	require.NoError(t, os.Chtimes(old, at, at))
	n, err := blob.NewSharedDisk(dir, blobtest.FakeSealer{}).RemoveAbandoned(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.NoFileExists(t, old)
	assert.FileExists(t, young)
}

func TestSharedDiskConforms(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.TestStore {
		dir := t.TempDir()
		return newDiskTestStore(t, blob.NewSharedDisk(dir, blobtest.FakeSealer{}), dir)
	})
}
