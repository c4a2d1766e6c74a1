package actors_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/shelf"
)

// neighbour is another node with its folder.
type neighbour struct {
	dir   string // of blobs
	spool string
	at    *httptest.Server
	deaf  atomic.Bool
}

func (n *neighbour) Others() []shelf.Node {
	return []shelf.Node{{ID: "node_b", Addr: n.at.Listener.Addr().String()}}
}

func (n *neighbour) AskFiles(addr string, r *http.Request) (*http.Response, error) {
	if n.deaf.Load() {
		return nil, errors.New("it is silent")
	}
	r.URL.Scheme, r.URL.Host = "http", addr
	return http.DefaultTransport.RoundTrip(r)
}

// besides is a house with a neighbour.
func besides(t *testing.T) (*house, *neighbour) {
	t.Helper()
	n := newNeighbour(t)
	h := build(t, nil)
	h.shut()
	h.beside = n
	h.open()
	return h, n
}

func newNeighbour(t *testing.T) *neighbour {
	t.Helper()
	n := &neighbour{dir: t.TempDir(), spool: t.TempDir()}
	mux := http.NewServeMux()
	mux.Handle("/blobs/", http.StripPrefix("/blobs", blob.Shelf(n.dir)))
	mux.Handle("/spool/", http.StripPrefix("/spool", shelf.Folder{Dir: n.spool}))
	n.at = httptest.NewServer(mux)
	t.Cleanup(n.at.Close)
	return n
}

// spools are those of other nodes.
type spools struct{ far shelf.Far }

func (s spools) Take(ctx context.Context, workspace string, place func(file string) string) {
	_, _ = s.far.Take(ctx, workspace, place)
}

func (s spools) Drop(ctx context.Context, workspace string, age time.Duration) {
	_ = s.far.Drop(ctx, workspace, age)
}

// has keeps a file as the neighbour would have done, were the workspace there.
func (h *house) has(n *neighbour, p domain.Principal, name string) {
	h.Helper()
	disk, err := blob.NewDisk(n.dir, h.store)
	require.NoError(h, err)
	_, err = disk.Put(h.Context(), p.WorkspaceID, name, strings.NewReader("sound of "+name))
	require.NoError(h, err)
}

func (n *neighbour) names(p domain.Principal) (names []string) {
	files, _ := os.ReadDir(filepath.Join(n.dir, p.WorkspaceID))
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// Recordings and exports of a workspace that was at another node are had from there,
// and are deleted there, also where that was away.
func TestFilesOfAWorkspaceAreWhereverTheirNodeIs(t *testing.T) {
	t.Parallel()
	h, n := besides(t)
	d, ctx, p := h.desk(), t.Context(), h.live
	recorded := func(days int) string {
		id := h.talked(p, days, days, 1)
		c := h.call(p, id)
		c.RecordingAvailable = true
		_, err := h.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{c}})
		require.NoError(t, err)
		h.has(n, p, call.RecordingName(id))
		return id
	}
	keep := func(days int) {
		_, err := d.UpdateWorkspace(ctx, p, func(w *domain.Workspace) error { w.Retention.RecordingDays = days; return nil })
		require.NoError(t, err)
		h.node.Sweep(ctx)
	}
	first, second, third := recorded(40), recorded(20), recorded(1)
	r, err := d.Recording(ctx, p, first)
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, errors.Join(err, r.Body.Close()))
	assert.Equal(t, "sound of "+call.RecordingName(first), string(text))

	x := &domain.Export{
		Meta: domain.Meta{ID: domain.ID(domain.PrefixExport, time.Now(), [10]byte{1}), WorkspaceID: p.WorkspaceID, Environment: p.Environment}, Type: domain.ExportCalls, Format: "csv",
		Status: domain.ExportCompleted, CompletedAt: new(time.Now()), ExpiresAt: new(time.Now().Add(time.Hour)),
	}
	_, err = h.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{x}})
	require.NoError(t, err)
	h.has(n, p, x.File())
	r, err = d.ExportFile(ctx, p, x.ID)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())

	keep(30)
	assert.ElementsMatch(t, []string{call.RecordingName(second), call.RecordingName(third), x.File()}, n.names(p))

	n.deaf.Store(true)
	_, err = d.Recording(ctx, p, second)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	_, err = d.ExportFile(ctx, p, x.ID)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	x.Status = domain.ExportExpired
	_, err = h.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{x}})
	require.NoError(t, err)
	keep(10)
	assert.NotNil(t, h.call(p, second).RecordingDeletedAt, "nobody waits for who is away")
	assert.Len(t, n.names(p), 3)
	n.deaf.Store(false)
	h.node.Sweep(ctx)
	assert.Equal(t, []string{call.RecordingName(third)}, n.names(p))
	r, err = d.Recording(ctx, p, third)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
}

// A store that fails says nothing of what is wanted.
func TestNoFileIsTakenForDeletedWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	n := newNeighbour(t)
	h, m := meddled(t)
	h.shut()
	h.beside = n
	h.open()
	gone := string(domain.PrefixCall) + "_01J0000000000000000000000C"
	h.has(n, h.live, call.RecordingName(gone))
	path := filepath.Join(n.dir, h.live.WorkspaceID, call.RecordingName(gone))
	ago := time.Now().AddDate(0, 0, -8)
	require.NoError(t, os.Chtimes(path, ago, ago))
	m.meddle(nil, func(k domain.Key) error {
		if k.Kind == "call" && k.ID == gone {
			return errDoubt
		}
		return nil
	})
	h.node.Sweep(t.Context())
	assert.FileExists(t, path)
	m.meddle(nil, nil)
	h.node.Sweep(t.Context())
	assert.NoFileExists(t, path)
}

// What a node had in its spool goes to whoever has the workspace, or goes with that.
func TestASpoolElsewhereFollowsItsWorkspace(t *testing.T) {
	t.Parallel()
	h, n := besides(t)
	ctx, d := t.Context(), h.desk()
	spooled := func(workspace, id string, age time.Duration) string {
		path := filepath.Join(n.spool, workspace, id+".wav")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, wav.EncodeMu(2, make([]byte, 16000)), 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, at, at))
		return path
	}
	id := h.talked(h.live, 1, 1, 1)
	took := spooled(h.live.WorkspaceID, id, time.Minute)
	h.until(patience, "it is kept", func() bool {
		h.node.Gather(ctx, h.live.WorkspaceID)
		return h.call(h.live, id).RecordingAvailable
	})
	h.until(patience, "it is gone there", func() bool { _, err := os.Stat(took); return err != nil })

	w, _, _, err := d.CreateWorkspace(ctx, &domain.Workspace{Name: "acme", Plan: domain.Enterprise, Limits: domain.RoomyLimits(), DefaultCountry: "US"})
	require.NoError(t, err)
	deleted := spooled(w.ID, id, time.Second)
	require.NoError(t, d.DeleteWorkspace(ctx, h.live, w.ID))
	h.until(patience, "it goes with its workspace", func() bool { _, err := os.Stat(deleted); return err != nil })

	nobodys := domain.ID(domain.PrefixWorkspace, time.Now(), [10]byte{9})
	old, young := spooled(nobodys, id, 8*24*time.Hour), spooled(nobodys, id+"2", 6*24*time.Hour)
	h.node.Gather(ctx, nobodys)
	assert.NoFileExists(t, old)
	assert.FileExists(t, young, "a store that was restored may have it again")
}
