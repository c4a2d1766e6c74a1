// Package blobtest is what every store of blobs has to pass. It knows none.
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

// Store is what is tested.
type Store interface {
	Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error)
	Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error)
	Delete(ctx context.Context, workspace, name string) error
	DeleteAll(ctx context.Context, workspace string) error
	List(ctx context.Context, workspace string) ([]string, error)
}

// Place is a store with a way to what lies below it.
type Place struct {
	Store
	// Raw is what lies there; nil where nothing does.
	Raw func(workspace, name string) []byte
	// Set puts something there.
	Set func(workspace, name string, raw []byte)
	// Left are the names of what lies there of a workspace, and of what is
	// half-written.
	Left func(workspace string) []string
}

// Seal binds a text to its place, as the store does.
type Seal struct{}

// Seal is blob.Sealer's.
func (Seal) Seal(_ context.Context, k domain.Key, field, text string) (string, error) {
	return k.Workspace + "|" + k.ID + "|" + field + "|" + text, nil
}

// Unseal is blob.Sealer's.
func (Seal) Unseal(_ context.Context, k domain.Key, field, sealed string) (string, error) {
	text, ok := strings.CutPrefix(sealed, k.Workspace+"|"+k.ID+"|"+field+"|")
	if !ok {
		return "", errors.New("sealed elsewhere")
	}
	return text, nil
}

// Noise are n bytes that no one else has.
func Noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Run puts a store through the suite; each test has one of its own.
func Run(t *testing.T, open func(t *testing.T) Place) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, Place)
	}{
		{"WhatIsPutComesBackWholeAndInParts", parts},
		{"ALargeOneComesBackWholeAndInParts", large},
		{"NothingIsReadableThere", unreadable},
		{"WhatWasCutOrChangedDoesNotOpen", damaged},
		{"AFailedPutLeavesWhatWasThere", failed},
		{"APutThatIsGivenUpLeavesNothing", givenUp},
		{"TheLastPutCounts", overwritten},
		{"OfTwoPutsAtOnceOneIsThereWhole", atOnce},
		{"NamesThatLeaveTheirPlaceAreRefused", names},
		{"WorkspacesAreStrangers", strangers},
		{"AllOfAWorkspaceIsListedAndDeletedAndNothingElse", deleteAll},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

const ws = "ws_1"

func put(t *testing.T, p Place, workspace, name string, b []byte) {
	t.Helper()
	n, err := p.Put(t.Context(), workspace, name, iotest.HalfReader(bytes.NewReader(b)))
	require.NoError(t, err)
	require.Equal(t, int64(len(b)), n)
}

func read(t *testing.T, p Place, workspace, name string) ([]byte, error) {
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

func parts(t *testing.T, p Place) {
	for _, size := range []int{0, 1, 65535, 65536, 65537, 131072, 200_000, 1_500_000} {
		want := Noise(size)
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
	require.Empty(t, p.Left(ws))
}

func large(t *testing.T, p Place) {
	for _, size := range []int{5 << 20, 11<<20 + 7} {
		want := Noise(size)
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
	assert.Equal(t, []string{"a.wav"}, p.Left(ws))
}

func unreadable(t *testing.T, p Place) {
	put(t, p, ws, "a.wav", []byte("what was said on the telephone"))
	raw := p.Raw(ws, "a.wav")
	require.NotEmpty(t, raw)
	assert.NotContains(t, string(raw), "telephone")
}

func damaged(t *testing.T, p Place) {
	put(t, p, ws, "a", Noise(150_000))
	whole := bytes.Clone(p.Raw(ws, "a"))
	of := func(raw []byte) error {
		p.Set(ws, "a", raw)
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
	p.Set(ws, "b", whole)
	_, err := read(t, p, ws, "b")
	require.Error(t, err, "under another name")
	p.Set("ws_2", "a", whole)
	_, err = read(t, p, "ws_2", "a")
	require.Error(t, err, "in another workspace")
}

func failed(t *testing.T, p Place) {
	gone := errors.New("gone")
	for _, size := range []int{100_000, 12 << 20} {
		_, err := p.Put(t.Context(), ws, "a", io.MultiReader(bytes.NewReader(Noise(size)), iotest.ErrReader(gone)))
		require.ErrorIs(t, err, gone)
		require.Empty(t, p.Left(ws))
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

func givenUp(t *testing.T, p Place) {
	ctx, cancel := context.WithCancel(t.Context())
	left := 6 << 20
	_, err := p.Put(ctx, ws, "a", reader(func(b []byte) (int, error) {
		if left -= len(b); left < 0 {
			cancel()
		}
		return len(b), nil
	}))
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, p.Left(ws))
}

type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

func overwritten(t *testing.T, p Place) {
	for _, b := range [][]byte{Noise(300_000), []byte("short"), Noise(70_000)} {
		put(t, p, ws, "a", b)
		got, err := read(t, p, ws, "a")
		require.NoError(t, err)
		require.True(t, bytes.Equal(b, got))
	}
	assert.Equal(t, []string{"a"}, p.Left(ws))
}

func atOnce(t *testing.T, p Place) {
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

func names(t *testing.T, p Place) {
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

func strangers(t *testing.T, p Place) {
	put(t, p, ws, "a", []byte("one"))
	_, err := read(t, p, "ws_2", "a")
	require.ErrorIs(t, err, domain.ErrNotFound)
	require.NoError(t, p.Delete(t.Context(), "ws_2", "a"))
	put(t, p, "ws_2", "a", []byte("two"))
	got, err := read(t, p, ws, "a")
	require.NoError(t, err)
	assert.Equal(t, "one", string(got))
}

func deleteAll(t *testing.T, p Place) {
	require.NoError(t, p.DeleteAll(t.Context(), ws), "of a workspace that never was")
	listed := func() []string {
		t.Helper()
		names, err := p.List(t.Context(), ws)
		require.NoError(t, err)
		return names
	}
	assert.Empty(t, listed(), "of a workspace that never was")
	var all []string
	for i := range 25 {
		all = append(all, fmt.Sprintf("a%d.wav", i))
		put(t, p, ws, all[i], []byte("x"))
	}
	put(t, p, ws+"0", "a", []byte("another")) // whose name begins as ours does
	p.Set(ws, "half.part", nil)
	assert.ElementsMatch(t, all, listed())
	require.NoError(t, p.DeleteAll(t.Context(), ws))
	assert.Empty(t, listed())
	assert.Empty(t, p.Left(ws))
	_, err := read(t, p, ws, "a3.wav")
	require.ErrorIs(t, err, domain.ErrNotFound)
	got, err := read(t, p, ws+"0", "a")
	require.NoError(t, err)
	assert.Equal(t, "another", string(got))
}
