package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/blob/blobtest"
	"github.com/callboard/callboard/persistence/shelf"
)

// install are nodes that give each other their blobs.
type install struct {
	t     *testing.T
	mu    sync.Mutex
	gone  map[string]bool // do not live
	deaf  map[string]bool // do not answer, and live
	dirs  []string
	ids   []string
	nodes []*blob.Spread
	at    []*httptest.Server
}

// seen is the install as one node sees it.
type seen struct {
	*install

	me int
}

func (s seen) Others() (out []shelf.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, server := range s.at {
		if i != s.me && !s.gone[s.ids[i]] {
			out = append(out, shelf.Node{ID: s.ids[i], Addr: server.Listener.Addr().String()})
		}
	}
	return out
}

func (s seen) AskFiles(addr string, r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	for i, server := range s.at {
		if server.Listener.Addr().String() == addr && s.deaf[s.ids[i]] {
			s.mu.Unlock()
			return nil, errors.New("it is silent")
		}
	}
	s.mu.Unlock()
	r.URL.Scheme, r.URL.Host = "http", addr
	return http.DefaultTransport.RoundTrip(r)
}

func newInstall(t *testing.T, n int) *install {
	t.Helper()
	in := &install{t: t, gone: make(map[string]bool), deaf: make(map[string]bool)}
	for i := range n {
		dir := t.TempDir()
		disk, err := blob.NewDisk(dir, blobtest.Seal{})
		require.NoError(t, err)
		server := httptest.NewServer(http.StripPrefix("/blobs", blob.Shelf(dir)))
		t.Cleanup(server.Close)
		in.dirs, in.ids, in.at = append(in.dirs, dir), append(in.ids, string(rune('a'+i))), append(in.at, server)
		in.nodes = append(in.nodes, blob.NewSpread(disk, shelf.Far{Nodes: seen{in, i}, At: "/blobs"}, slog.New(slog.DiscardHandler)))
	}
	return in
}

func (in *install) set(which map[string]bool, id string, is bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	which[id] = is
}

// read is what a node has of a blob, wherever it lies.
func (in *install) read(node int, name string) (string, error) {
	r, size, err := in.nodes[node].Open(in.t.Context(), "ws", name)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err == nil {
		assert.Equal(in.t, int64(len(text)), size)
	}
	return string(text), err
}

func (in *install) put(node int, name, text string) {
	in.t.Helper()
	_, err := in.nodes[node].Put(in.t.Context(), "ws", name, strings.NewReader(text))
	require.NoError(in.t, err)
}

func (in *install) lies(node int, name string) bool {
	_, err := os.Stat(filepath.Join(in.dirs[node], "ws", name))
	return err == nil
}

func TestFoldersOfSeveralNodesAreAStoreOfBlobs(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blobtest.Place {
		in := newInstall(t, 2)
		return onDisk(t, in.nodes[0], in.dirs[0])
	})
}

func TestABlobIsReadFromWhicheverNodeHasIt(t *testing.T) {
	t.Parallel()
	in := newInstall(t, 3)
	long := string(bytes.Repeat([]byte("0123456789"), 200_000)) // more than is read at a time
	in.put(0, "call_1.wav", long)
	for node := range 3 {
		got, err := in.read(node, "call_1.wav")
		require.NoError(t, err)
		assert.Equal(t, long, got)
	}
	r, size, err := in.nodes[2].Open(t.Context(), "ws", "call_1.wav")
	require.NoError(t, err)
	_, err = r.Seek(-25, io.SeekEnd)
	require.NoError(t, err)
	end, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, long[size-25:], string(end))
	_, err = r.Seek(1_000_000, io.SeekStart)
	require.NoError(t, err)
	in.put(0, "call_1.wav", "another one")
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, domain.ErrAway, "of two recordings nobody hears a mixture")
	require.NoError(t, r.Close())

	_, err = in.read(1, "call_2.wav")
	require.ErrorIs(t, err, domain.ErrNotFound)
	require.ErrorIs(t, err, domain.ErrAway, "a node that is away may have it")
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	in.set(in.gone, "a", true)
	_, err = in.read(1, "call_1.wav")
	require.ErrorIs(t, err, domain.ErrAway)
	in.set(in.gone, "a", false)
	in.set(in.deaf, "a", true)
	_, err = in.read(1, "call_1.wav")
	require.ErrorIs(t, err, domain.ErrAway)
	in.set(in.deaf, "a", false)
	in.set(in.deaf, "b", true)
	got, err := in.read(2, "call_1.wav")
	require.NoError(t, err, "who has it answers")
	assert.Equal(t, "another one", got)
}

func TestWhoWritesABlobAnewThatItReadElsewhereReplacesItThere(t *testing.T) {
	t.Parallel()
	in := newInstall(t, 2)
	in.put(0, "call_1.wav", "a half")
	_, err := in.read(1, "call_1.wav")
	require.NoError(t, err)
	in.set(in.deaf, "a", true)
	in.put(1, "call_1.wav", "the whole")
	assert.True(t, in.lies(0, "call_1.wav"))
	in.set(in.deaf, "a", false)
	require.NoError(t, in.nodes[1].Stray(t.Context(), "ws", func(context.Context, string, time.Duration) (bool, error) { return true, nil }))
	assert.False(t, in.lies(0, "call_1.wav"), "or the half would be the recording again, were the workspace there")
	in.put(0, "call_2.wav", "a half")
	_, err = in.read(1, "call_2.wav")
	require.NoError(t, err)
	in.put(1, "call_2.wav", "the whole")
	assert.False(t, in.lies(0, "call_2.wav"))
	got, err := in.read(0, "call_1.wav")
	require.NoError(t, err)
	assert.Equal(t, "the whole", got)
}

func TestWhatIsDeletedIsDeletedAtAllNodes(t *testing.T) {
	t.Parallel()
	in := newInstall(t, 3)
	for node, name := range []string{"call_1.wav", "call_2.wav", "call_3.wav"} {
		in.put(node, name, "sound")
	}
	require.NoError(t, in.nodes[1].Delete(t.Context(), "ws", "call_1.wav"))
	assert.False(t, in.lies(0, "call_1.wav"))
	assert.True(t, in.lies(2, "call_3.wav"))
	require.NoError(t, in.nodes[1].DeleteAll(t.Context(), "ws"))
	for node := range 3 {
		files, err := os.ReadDir(filepath.Join(in.dirs[node], "ws"))
		if err == nil {
			assert.Empty(t, files)
		}
	}
}

// What was deleted while a node was away is deleted once it is back, and nothing
// else is.
func TestANodeThatWasAwayLosesWhatWasDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	in := newInstall(t, 2)
	for _, name := range []string{"call_deleted.wav", "call_kept.wav", "call_old.wav", "call_young.wav", "notes.txt"} {
		in.put(0, name, "sound")
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"call_old.wav", "notes.txt"} {
		require.NoError(t, os.Chtimes(filepath.Join(in.dirs[0], "ws", name), old, old))
	}
	in.put(1, "call_here.wav", "sound") // and the row says that it was deleted
	asked := 0
	var unread error
	wanted := func(_ context.Context, name string, age time.Duration) (bool, error) {
		asked++
		if unread != nil {
			return false, unread
		}
		return name == "call_kept.wav" || name == "notes.txt" || name == "call_young.wav" && age < time.Minute, nil
	}
	stray := func() error { return in.nodes[1].Stray(t.Context(), "ws", wanted) }
	in.set(in.deaf, "a", true)
	require.NoError(t, in.nodes[1].Delete(t.Context(), "ws", "call_deleted.wav"), "it goes on without who does not answer")
	require.ErrorIs(t, stray(), domain.ErrAway)
	assert.True(t, in.lies(0, "call_deleted.wav"))
	assert.False(t, in.lies(1, "call_here.wav"))
	in.set(in.deaf, "a", false)
	unread = errors.New("the store is away")
	require.ErrorIs(t, stray(), unread)
	unread = nil
	require.NoError(t, stray())
	for name, want := range map[string]bool{"call_deleted.wav": false, "call_kept.wav": true, "call_old.wav": false, "call_young.wav": true, "notes.txt": true} {
		assert.Equal(t, want, in.lies(0, name), name)
	}
	asked = 0
	require.NoError(t, stray())
	assert.Zero(t, asked, "it is known")
	in.mu.Lock()
	in.ids[0] = "c" // another process
	in.mu.Unlock()
	require.NoError(t, stray())
	assert.Equal(t, 3, asked, "it may have been away")
	for name, out := range map[string]map[string]bool{"it did not answer": in.deaf, "it did not live": in.gone} {
		asked = 0
		in.set(out, "c", true)
		require.NoError(t, in.nodes[1].Delete(t.Context(), "ws", "call_other.wav"))
		in.set(out, "c", false)
		require.NoError(t, stray())
		assert.Equal(t, 3, asked, "%s, and has missed one", name)
	}
	require.Error(t, in.nodes[1].Stray(t.Context(), "../ws", wanted))
}

// Nothing but what a workspace has is given.
func TestAShelfGivesNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "blobs", "ws", "deep"), 0o700))
	for name, text := range map[string]string{"secret": "s", "blobs/ws/a.wav": "sound", "blobs/ws/b.wav.1.part": "half", "blobs/lone": "x", "blobs/ws/deep/c.wav": "sound"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	at := blob.Shelf(filepath.Join(dir, "blobs"))
	ask := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, "/", http.NoBody)
		r.URL.Path = path
		at.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, path := range []string{"/../secret", "/ws/../../secret", "/ws/..", "/../..", "/ws/b.wav.1.part", "/ws/", "/ws/deep/c.wav", "/ws/deep", "/lone/", "/.", "/ws/./a.wav", "//secret", "/ws/a.wav/"} {
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			code, text := ask(method, path)
			assert.Contains(t, []int{http.StatusNotFound, http.StatusInternalServerError}, code, "%s %s", method, path)
			assert.NotContains(t, text, "sound")
			assert.FileExists(t, filepath.Join(dir, "secret"))
			assert.FileExists(t, filepath.Join(dir, "blobs/ws/deep/c.wav"))
		}
	}
	code, text := ask(http.MethodGet, "/")
	assert.Equal(t, []any{http.StatusOK, "ws\n"}, []any{code, text})
	code, text = ask(http.MethodGet, "/ws")
	assert.Equal(t, []any{http.StatusOK, "a.wav 0\n"}, []any{code, text})
	code, text = ask(http.MethodGet, "/other")
	assert.Equal(t, []any{http.StatusOK, ""}, []any{code, text})
	for method, path := range map[string]string{http.MethodPost: "/ws/a.wav", http.MethodDelete: "/", http.MethodPut: "/ws"} {
		code, _ = ask(method, path)
		assert.Equal(t, http.StatusMethodNotAllowed, code, "%s %s", method, path)
	}
	code, _ = ask(http.MethodDelete, "/ws/a.wav")
	assert.Equal(t, http.StatusNoContent, code)
}
