package shelf_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/shelf"
)

// others are nodes that are reached by HTTP.
type others []*httptest.Server

func (o others) Others() (out []shelf.Node) {
	for _, s := range o {
		out = append(out, shelf.Node{ID: s.URL, Addr: s.Listener.Addr().String()})
	}
	return out
}

func (others) AskFiles(addr string, r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = "http", addr
	return http.DefaultTransport.RoundTrip(r)
}

// node is one with files, which were written long ago but for those whose name says
// that they are fresh.
func node(t *testing.T, mine func(string) bool, names ...string) (*httptest.Server, string) {
	t.Helper()
	dir := t.TempDir()
	ago := time.Now().Add(-time.Hour)
	for _, name := range names {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("what is in "+name), 0o600))
		if !strings.Contains(name, "fresh") {
			require.NoError(t, os.Chtimes(path, ago, ago))
		}
	}
	s := httptest.NewServer(http.StripPrefix("/spool", shelf.Folder{Dir: dir, Half: func(name string) bool { return !strings.HasSuffix(name, ".wav") }, Mine: mine}))
	t.Cleanup(s.Close)
	return s, dir
}

func TestWhatOthersHaveOfAWorkspaceIsTaken(t *testing.T) {
	t.Parallel()
	a, dirA := node(t, nil, "ws/1.wav", "ws/2.wav", "ws/fresh.wav", "ws/4.wav.part", "other/5.wav")
	b, dirB := node(t, func(ws string) bool { return ws == "ws" }, "ws/6.wav", "third/7.wav")
	c, dirC := node(t, nil, "ws/8.wav")
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	far := shelf.Far{Nodes: others{a, dead, b, c}, At: "/spool"}
	to := t.TempDir()
	files, err := far.Take(t.Context(), "ws", func(file string) string {
		if file == "2.wav" {
			return ""
		}
		return filepath.Join(to, "ws", file+".part")
	})
	require.ErrorIs(t, err, domain.ErrAway, "of one nobody knows")
	assert.Equal(t, []string{filepath.Join(to, "ws", "1.wav.part"), filepath.Join(to, "ws", "8.wav.part")}, files)
	got, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, "what is in ws/1.wav", string(got))
	for path, want := range map[string]bool{
		dirA + "/ws/1.wav": false, dirA + "/ws/2.wav": true, dirA + "/ws/fresh.wav": true, dirA + "/ws/4.wav.part": true, dirA + "/other/5.wav": true,
		dirB + "/ws/6.wav": true, dirC + "/ws/8.wav": false,
	} {
		_, err := os.Stat(path)
		assert.Equal(t, want, err == nil, path)
	}

	require.ErrorIs(t, far.Drop(t.Context(), "ws", 30*time.Minute), domain.ErrAway)
	for path, want := range map[string]bool{
		dirA + "/ws/2.wav": false, dirA + "/ws/fresh.wav": true, dirA + "/ws/4.wav.part": true, dirA + "/other/5.wav": true, dirB + "/ws/6.wav": true,
	} {
		_, err := os.Stat(path)
		assert.Equal(t, want, err == nil, path)
	}

	told := func(s *httptest.Server) (all []string) {
		require.NoError(t, far.Workspaces(t.Context(), shelf.Node{Addr: s.Listener.Addr().String()}, func(w string) { all = append(all, w) }))
		return all
	}
	assert.ElementsMatch(t, []string{"ws", "other"}, told(a))
	assert.Equal(t, []string{"third"}, told(b), "it goes on with the other one")
	assert.Empty(t, told(c), "nothing is left there")
}

// An answer that breaks off leaves nothing that looks whole, and what is there stays.
func TestHalfAFileIsNotTaken(t *testing.T) {
	t.Parallel()
	deleted := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodDelete:
			deleted = true
		case r.URL.Path == "/ws":
			_, _ = io.WriteString(w, "1.wav 60\n")
		default:
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(s.Close)
	to := t.TempDir()
	files, err := shelf.Far{Nodes: others{s}}.Take(t.Context(), "ws", func(file string) string { return filepath.Join(to, file) })
	require.ErrorIs(t, err, domain.ErrAway)
	assert.Empty(t, files)
	assert.False(t, deleted)
	left, err := os.ReadDir(to)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAListingThatBreaksOffIsNone(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"in the middle": "1.wav 6", "no age": "1.wav\n", "of somebody else": "<html>\n"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, says)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		err := shelf.Far{Nodes: others{s}}.List(t.Context(), others{s}.Others()[0], "ws", func(shelf.Entry) error { return nil })
		require.ErrorIs(t, err, domain.ErrAway, name)
		s.Close()
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(s.Close)
	n, far := others{s}.Others()[0], shelf.Far{Nodes: others{s}}
	require.ErrorContains(t, far.List(t.Context(), n, "ws", nil), "418")
	require.ErrorContains(t, far.Delete(t.Context(), n, "ws", "1.wav"), "418")
	_, err := far.Get(t.Context(), n, "ws", "1.wav", 0, make([]byte, 10), "")
	require.ErrorContains(t, err, "418")
	assert.NotErrorIs(t, err, domain.ErrNotFound)
}
