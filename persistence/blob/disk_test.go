package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
)

// marks binds a text to its place, as the store does.
type marks struct{}

func (marks) Seal(_ context.Context, k domain.Key, field, text string) (string, error) {
	return k.Workspace + "|" + k.ID + "|" + field + "|" + text, nil
}

func (marks) Unseal(_ context.Context, k domain.Key, field, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, k.Workspace+"|"+k.ID+"|"+field+"|")
	if !ok {
		return "", errors.New("sealed elsewhere")
	}
	return text, nil
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func put(t *testing.T, d *blob.Disk, name string, b []byte) {
	t.Helper()
	n, err := d.Put(t.Context(), "ws_1", name, iotest.OneByteReader(bytes.NewReader(b)))
	require.NoError(t, err)
	require.Equal(t, int64(len(b)), n)
}

func TestWhatIsPutComesBackWholeAndInParts(t *testing.T) {
	d, err := blob.NewDisk(t.TempDir(), marks{})
	require.NoError(t, err)
	for _, size := range []int{0, 1, 65535, 65536, 65537, 131072, 200_000} {
		want := noise(size)
		put(t, d, "a.wav", want)
		r, n, err := d.Open(t.Context(), "ws_1", "a.wav")
		require.NoError(t, err)
		assert.Equal(t, int64(size), n)
		require.NoError(t, iotest.TestReader(r, want), "%d bytes", size)
		require.NoError(t, r.Close())
	}
	require.NoError(t, d.Delete(t.Context(), "ws_1", "a.wav"))
	require.NoError(t, d.Delete(t.Context(), "ws_1", "a.wav"))
	_, _, err = d.Open(t.Context(), "ws_1", "a.wav")
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func TestNothingIsReadableOnDisk(t *testing.T) {
	dir := t.TempDir()
	d, err := blob.NewDisk(dir, marks{})
	require.NoError(t, err)
	put(t, d, "a.wav", []byte("what was said on the telephone"))
	raw, err := os.ReadFile(filepath.Join(dir, "ws_1", "a.wav"))
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "telephone")
}

func TestAFileThatWasCutOrChangedDoesNotOpen(t *testing.T) {
	dir := t.TempDir()
	d, err := blob.NewDisk(dir, marks{})
	require.NoError(t, err)
	put(t, d, "a", noise(150_000))
	path := filepath.Join(dir, "ws_1", "a")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	read := func(raw []byte) error {
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		r, _, err := d.Open(t.Context(), "ws_1", "a")
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, r)
		return errors.Join(err, r.Close())
	}
	require.NoError(t, read(whole))
	for _, n := range []int{0, 3, 5, 40, 70_000, 100_000, len(whole) - 65552, len(whole) - 1} {
		require.Error(t, read(whole[:n]), "cut at %d", n)
	}
	for _, at := range []int{0, 5, 200, 90_000, len(whole) - 1} {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		require.Error(t, read(changed), "changed at %d", at)
	}
	require.NoError(t, os.Rename(path, filepath.Join(dir, "ws_1", "b")))
	_, _, err = d.Open(t.Context(), "ws_1", "b")
	assert.Error(t, err, "under another name")
}

func TestAFailedPutLeavesNothingAndACrashIsCleanedUp(t *testing.T) {
	dir := t.TempDir()
	d, err := blob.NewDisk(dir, marks{})
	require.NoError(t, err)
	_, err = d.Put(t.Context(), "ws_1", "a", io.MultiReader(bytes.NewReader(noise(100_000)), iotest.ErrReader(errors.New("gone"))))
	require.ErrorContains(t, err, "gone")
	left, err := os.ReadDir(filepath.Join(dir, "ws_1"))
	require.NoError(t, err)
	assert.Empty(t, left)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "ws_1", "a.123.part"), []byte("half"), 0o600))
	_, err = blob.NewDisk(dir, marks{})
	require.NoError(t, err)
	left, err = os.ReadDir(filepath.Join(dir, "ws_1"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestNamesThatLeaveTheFolderAreRefused(t *testing.T) {
	d, err := blob.NewDisk(t.TempDir(), marks{})
	require.NoError(t, err)
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "a\x00b", "a.part", strings.Repeat("a", 300)} {
		_, err := d.Put(t.Context(), "ws_1", name, bytes.NewReader(nil))
		require.ErrorIs(t, err, blob.ErrName, name)
		_, _, err = d.Open(t.Context(), "ws_1", name)
		require.ErrorIs(t, err, blob.ErrName, name)
	}
}
