// Package blobtest is the conformance suite that every blob store has to pass.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
)

// Store has the methods of a blob store that the suite tests.
type Store interface {
	Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error)
	Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error)
	Delete(ctx context.Context, workspace, name string) error
	DeleteAll(ctx context.Context, workspace string) error
	List(ctx context.Context, workspace string) ([]string, error)
}

// TestStore is a blob store with access to the stored bytes below it.
type TestStore struct {
	Store
	// RawBytes returns the stored bytes of a blob. It returns nil if there is no such blob.
	RawBytes func(workspace, name string) []byte
	// SetRawBytes replaces the stored bytes of a blob.
	SetRawBytes func(workspace, name string, raw []byte)
	// RemainingFiles returns the names of everything stored for a workspace, including incomplete uploads.
	RemainingFiles func(workspace string) []string
}

// FakeSealer binds a text to its key and field, as persistence.Store does, but does not encrypt the text.
type FakeSealer struct{}

// Seal implements blob.Sealer. It prefixes the text with key and field.
func (FakeSealer) Seal(_ context.Context, k domain.Key, field, text string) (string, error) {
	return k.Workspace + "|" + k.ID + "|" + field + "|" + text, nil
}

// Unseal implements blob.Sealer. It returns an error if the text was sealed for another key or field.
func (FakeSealer) Unseal(_ context.Context, k domain.Key, field, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, k.Workspace+"|"+k.ID+"|"+field+"|")
	if !ok {
		return "", errors.New("sealed elsewhere")
	}
	return text, nil
}

// RandomBytes returns n random bytes. They are the same for each call with the same n.
func RandomBytes(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Run runs the conformance suite. Each of its tests calls open to get its own store.
func Run(t *testing.T, open func(t *testing.T) TestStore) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, TestStore)
	}{
		{"WhatIsPutComesBackWholeAndInParts", testSeekAndRead},
		{"ALargeOneComesBackWholeAndInParts", testLargeBlobs},
		{"NothingIsReadableThere", testContentIsEncrypted},
		{"WhatWasCutOrChangedDoesNotOpen", testDamagedBlobsAreRefused},
		{"AFailedPutLeavesWhatWasThere", testFailedPutLeavesNothing},
		{"APutThatIsGivenUpLeavesNothing", testCancelledPutLeavesNothing},
		{"TheLastPutCounts", testOverwrite},
		{"OfTwoPutsAtOnceOneIsThereWhole", testConcurrentPuts},
		{"NamesThatLeaveTheirPlaceAreRefused", testInvalidNames},
		{"WorkspacesAreStrangers", testWorkspacesAreSeparate},
		{"AllOfAWorkspaceIsListedAndDeletedAndNothingElse", testDeleteAll},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

const ws = "ws_1"

func put(t *testing.T, p TestStore, workspace, name string, b []byte) {
	t.Helper()
	n, err := p.Put(t.Context(), workspace, name, iotest.HalfReader(bytes.NewReader(b)))
	require.NoError(t, err)
	require.Equal(t, int64(len(b)), n)
}

func read(t *testing.T, p TestStore, workspace, name string) ([]byte, error) {
	t.Helper()
	r, n, err := p.Open(t.Context(), workspace, name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	if err == nil {
		assert.Len(t, b, int(n))
	}
	return b, errors.Join(err, r.Close())
}

func testSeekAndRead(t *testing.T, p TestStore) {
	for _, size := range []int{0, 1, 65535, 65536, 65537, 131072, 200_000, 1_500_000} {
		want := RandomBytes(size)
		put(t, p, ws, "a.wav", want)
		r, n, err := p.Open(t.Context(), ws, "a.wav")
		require.NoError(t, err)
		assert.Equal(t, int64(size), n)
		if size <= 200_000 {
			require.NoError(t, iotest.TestReader(r, want), "%d bytes", size)
		} else {
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
		}
		for _, at := range []int{size / 2, 0, size - 1} {
			if at < 0 {
				continue
			}
			_, err = r.Seek(int64(at), io.SeekStart)
			require.NoError(t, err)
			got := make([]byte, min(100, size-at))
			_, err = io.ReadFull(r, got)
			require.NoError(t, err)
			require.Equal(t, want[at:at+len(got)], got, "at %d of %d", at, size)
		}
		require.NoError(t, r.Close())
	}
	require.NoError(t, p.Delete(t.Context(), ws, "a.wav"))
	require.NoError(t, p.Delete(t.Context(), ws, "a.wav"))
	_, _, err := p.Open(t.Context(), ws, "a.wav")
	require.ErrorIs(t, err, domain.ErrNotFound)
	require.Empty(t, p.RemainingFiles(ws))
}

func testLargeBlobs(t *testing.T, p TestStore) {
	for _, size := range []int{5 << 20, 11<<20 + 7} {
		want := RandomBytes(size)
		put(t, p, ws, "a.wav", want)
		got, err := read(t, p, ws, "a.wav")
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		r, _, err := p.Open(t.Context(), ws, "a.wav")
		require.NoError(t, err)
		_, err = r.Seek(-10, io.SeekEnd)
		require.NoError(t, err)
		end, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, want[size-10:], end)
		require.NoError(t, r.Close())
	}
	assert.Equal(t, []string{"a.wav"}, p.RemainingFiles(ws))
}

func testContentIsEncrypted(t *testing.T, p TestStore) {
	put(t, p, ws, "a.wav", []byte("a conversation on the telephone"))
	raw := p.RawBytes(ws, "a.wav")
	require.NotEmpty(t, raw)
	assert.NotContains(t, string(raw), "telephone")
}

func testDamagedBlobsAreRefused(t *testing.T, p TestStore) {
	put(t, p, ws, "a", RandomBytes(150_000))
	whole := bytes.Clone(p.RawBytes(ws, "a"))
	of := func(raw []byte) error {
		p.SetRawBytes(ws, "a", raw)
		_, err := read(t, p, ws, "a")
		return err
	}
	require.NoError(t, of(whole))
	for _, n := range []int{0, 3, 5, 40, 70_000, 100_000, len(whole) - 65552, len(whole) - 1} {
		err := of(whole[:n])
		require.Error(t, err, "cut at %d", n)
		require.NotErrorIs(t, err, domain.ErrNotFound)
	}
	for _, at := range []int{0, 5, 200, 90_000, len(whole) - 1} {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		require.Error(t, of(changed), "changed at %d", at)
	}
	p.SetRawBytes(ws, "b", whole)
	_, err := read(t, p, ws, "b")
	require.Error(t, err, "a blob read under another name")
	p.SetRawBytes("ws_2", "a", whole)
	_, err = read(t, p, "ws_2", "a")
	require.Error(t, err, "a blob read in another workspace")
}

func testFailedPutLeavesNothing(t *testing.T, p TestStore) {
	gone := errors.New("gone")
	for _, size := range []int{100_000, 12 << 20} {
		_, err := p.Put(t.Context(), ws, "a", io.MultiReader(bytes.NewReader(RandomBytes(size)), iotest.ErrReader(gone)))
		require.ErrorIs(t, err, gone)
		require.Empty(t, p.RemainingFiles(ws))
		_, err = read(t, p, ws, "a")
		require.ErrorIs(t, err, domain.ErrNotFound)
	}
	put(t, p, ws, "a", []byte("before"))
	_, err := p.Put(t.Context(), ws, "a", iotest.ErrReader(gone))
	require.ErrorIs(t, err, gone)
	got, err := read(t, p, ws, "a")
	require.NoError(t, err)
	assert.Equal(t, "before", string(got))
}

func testCancelledPutLeavesNothing(t *testing.T, p TestStore) {
	ctx, cancel := context.WithCancel(t.Context())
	left := 6 << 20
	_, err := p.Put(ctx, ws, "a", reader(func(b []byte) (int, error) {
		if left -= len(b); left < 0 {
			cancel()
		}
		return len(b), nil
	}))
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, p.RemainingFiles(ws))
}

type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

func testOverwrite(t *testing.T, p TestStore) {
	for _, b := range [][]byte{RandomBytes(300_000), []byte("short"), RandomBytes(70_000)} {
		put(t, p, ws, "a", b)
		got, err := read(t, p, ws, "a")
		require.NoError(t, err)
		require.True(t, bytes.Equal(b, got))
	}
	assert.Equal(t, []string{"a"}, p.RemainingFiles(ws))
}

func testConcurrentPuts(t *testing.T, p TestStore) {
	var wait sync.WaitGroup
	faults := make([]error, 6)
	for i := range faults {
		wait.Go(func() {
			_, faults[i] = p.Put(t.Context(), ws, "a", bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 100_000+i)))
		})
	}
	wait.Wait()
	require.NoError(t, errors.Join(faults...))
	got, err := read(t, p, ws, "a")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(got), 100_000)
	assert.Equal(t, bytes.Repeat([]byte{byte(len(got) - 100_000)}, len(got)), got)
}

func testInvalidNames(t *testing.T, p TestStore) {
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "a\x00b", "a.part", "ä", "a b", "a?b", "a%2fb", strings.Repeat("a", 300)} {
		_, err := p.Put(t.Context(), ws, name, bytes.NewReader(nil))
		require.ErrorIs(t, err, blob.ErrName, name)
		_, _, err = p.Open(t.Context(), ws, name)
		require.ErrorIs(t, err, blob.ErrName, name)
		require.ErrorIs(t, p.Delete(t.Context(), ws, name), blob.ErrName, name)
		if name != "a.part" {
			_, err = p.Put(t.Context(), name, "a", bytes.NewReader(nil))
			require.ErrorIs(t, err, blob.ErrName, name)
			require.ErrorIs(t, p.DeleteAll(t.Context(), name), blob.ErrName, name)
			_, err = p.List(t.Context(), name)
			require.ErrorIs(t, err, blob.ErrName, name)
		}
	}
	for _, name := range []string{"a", "_a", "A.b-c_9", "a..b", strings.Repeat("a", 150)} {
		put(t, p, ws, name, []byte(name))
		got, err := read(t, p, ws, name)
		require.NoError(t, err)
		require.Equal(t, name, string(got))
	}
}

func testWorkspacesAreSeparate(t *testing.T, p TestStore) {
	put(t, p, ws, "a", []byte("one"))
	_, err := read(t, p, "ws_2", "a")
	require.ErrorIs(t, err, domain.ErrNotFound)
	require.NoError(t, p.Delete(t.Context(), "ws_2", "a"))
	put(t, p, "ws_2", "a", []byte("two"))
	got, err := read(t, p, ws, "a")
	require.NoError(t, err)
	assert.Equal(t, "one", string(got))
}

func testDeleteAll(t *testing.T, p TestStore) {
	require.NoError(t, p.DeleteAll(t.Context(), ws), "unknown workspace")
	listed := func() []string {
		t.Helper()
		names, err := p.List(t.Context(), ws)
		require.NoError(t, err)
		return names
	}
	assert.Empty(t, listed(), "unknown workspace")
	var all []string
	for i := range 25 {
		all = append(all, fmt.Sprintf("a%d.wav", i))
		put(t, p, ws, all[i], []byte("x"))
	}
	put(t, p, ws+"0", "a", []byte("another")) // another workspace whose ID has this one as its prefix
	p.SetRawBytes(ws, "half.part", nil)
	assert.ElementsMatch(t, all, listed())
	require.NoError(t, p.DeleteAll(t.Context(), ws))
	assert.Empty(t, listed())
	assert.Empty(t, p.RemainingFiles(ws))
	_, err := read(t, p, ws, "a3.wav")
	require.ErrorIs(t, err, domain.ErrNotFound)
	got, err := read(t, p, ws+"0", "a")
	require.NoError(t, err)
	assert.Equal(t, "another", string(got))
}
