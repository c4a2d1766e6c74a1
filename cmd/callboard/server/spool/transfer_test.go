package spool

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/blob"
)

// spoolNode is a node with its spool beside a folder that all share.
type spoolNode struct {
	*testing.T
	*Transfer
	has, gone map[string]bool // workspaces that it serves, and that were deleted

	joined []string
}

func newSpoolNode(t *testing.T, shared string, has ...string) *spoolNode {
	t.Helper()
	seal, err := persistence.NewSealer(datafolder.DeriveKey([]byte("root"), "callboard spool"))
	require.NoError(t, err)
	n := &spoolNode{T: t, has: make(map[string]bool), gone: make(map[string]bool)}
	n.Transfer = New(Config{
		Dir: t.TempDir(), Blobs: blob.NewSharedDisk(shared, seal), Log: slog.New(slog.DiscardHandler),
		Serves: n.HasWorkspace, Joiner: func(string) PartJoiner { return n },
	})
	for _, workspace := range has {
		n.has[workspace] = true
		require.NoError(t, os.MkdirAll(filepath.Join(n.Dir, workspace), 0o700))
	}
	return n
}

func (n *spoolNode) HasWorkspace(id string) bool { return n.has[id] }

func (n *spoolNode) IsWorkspaceDeleted(_ context.Context, id string) (bool, error) {
	return n.gone[id], nil
}

func (n *spoolNode) JoinRecordingParts(id string) { n.joined = append(n.joined, id) }

// records puts a file into the spool that nobody has written to for so long.
func (n *spoolNode) records(workspace, file, sound string, ago time.Duration) string {
	n.Helper()
	path := filepath.Join(n.Dir, workspace, file)
	require.NoError(n, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(n, os.WriteFile(path, []byte(sound), 0o600))
	at := time.Now().Add(-ago)
	require.NoError(n, os.Chtimes(path, at, at))
	return path
}

func (n *spoolNode) read(workspace, file string) string {
	n.Helper()
	text, err := os.ReadFile(filepath.Join(n.Dir, workspace, file))
	if !os.IsNotExist(err) {
		require.NoError(n, err)
	}
	return string(text)
}

// sweep does what run does each time.
func (n *spoolNode) sweep() {
	n.Helper()
	require.NoError(n, n.push(n.Context(), n.Serves, finishedAfter))
	require.NoError(n, n.pull(n.Context()))
}

func (n *spoolNode) waiting() int {
	n.Helper()
	objects, err := n.list(n.Context())
	require.NoError(n, err)
	return len(objects)
}

func TestSpooledRecordingsReachTheNodeOfTheirWorkspace(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	a, b, c := newSpoolNode(t, shared, "ws_a"), newSpoolNode(t, shared, "ws_b", "ws_b2"), newSpoolNode(t, shared)
	moved := a.records("ws_b", "call_1.wav", "first", time.Minute)
	part := a.records("ws_b2", "call_2.wav.beginning", "part", time.Minute)
	kept := []string{
		a.records("ws_a", "call_3.wav", "its own", time.Minute), a.records("ws_b", "call_4.wav", "being written", 0),
		a.records("ws_b", "call_1.wav.part-1", "half", time.Minute), a.records("ws_b", "notes.txt", "no recording", time.Minute),
	}
	c.records("ws_b", "call_1.wav", "second", time.Minute) // of the same call
	abandoned := a.records("ws_b", "call_5.wav.beginning.part-7", "half", 2*time.Hour)
	a.sweep()
	c.sweep()
	assert.NoFileExists(t, moved)
	assert.NoFileExists(t, abandoned)
	assert.NoDirExists(t, filepath.Dir(part), "nothing is left in it")
	for _, path := range kept {
		assert.FileExists(t, path)
	}
	assert.Equal(t, 3, b.waiting())
	files, err := filepath.Glob(filepath.Join(shared, "*", "*"))
	require.NoError(t, err)
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotContains(t, string(raw), "first", "it is sealed")
	}

	b.sweep()
	assert.Equal(t, "part", b.read("ws_b2", "call_2.wav.beginning"))
	assert.Equal(t, 1, b.waiting(), "one part at a time")
	one := b.read("ws_b", "call_1.wav.beginning")
	assert.Contains(t, b.joined, "ws_b")
	require.NoError(t, os.Remove(filepath.Join(b.Dir, "ws_b", "call_1.wav.beginning")))
	b.sweep()
	assert.ElementsMatch(t, []string{"first", "second"}, []string{one, b.read("ws_b", "call_1.wav.beginning")})
	assert.Zero(t, b.waiting())
}

func TestRecordingThatIsInUseAgainStaysInTheSpool(t *testing.T) {
	t.Parallel()
	a := newSpoolNode(t, t.TempDir())
	path := a.records("ws_a", "call_1.wav", "sound", time.Minute)
	for range 2 {
		asked := 0
		require.NoError(t, a.push(t.Context(), func(string) bool { asked++; return asked > 1 }, finishedAfter)) // from when it was copied on
		assert.FileExists(t, path)
		assert.Equal(t, 1, a.waiting(), "the second copy replaces the first")
	}
}

func TestNothingInTheSpoolIsLostWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	shared := filepath.Join(t.TempDir(), "shared")
	a, b := newSpoolNode(t, shared), newSpoolNode(t, shared, "ws_b")
	path := a.records("ws_b", "call_1.wav", "sound", 0)
	close(a.runEnded)
	a.PushRemaining() // it ends, and nothing is written any more
	assert.FileExists(t, path)
	require.ErrorIs(t, b.pull(t.Context()), domain.ErrBlobsUnavailable)
	require.NoError(t, os.Mkdir(shared, 0o700))
	a.PushRemaining()
	assert.NoFileExists(t, path)

	require.NoError(t, os.RemoveAll(filepath.Join(b.Dir, "ws_b"))) // it cannot be written
	require.Error(t, b.pull(t.Context()))
	assert.Equal(t, 1, b.waiting(), "it is not removed before it is fetched")
	require.NoError(t, os.Mkdir(filepath.Join(b.Dir, "ws_b"), 0o700))
	b.sweep()
	assert.Equal(t, "sound", b.read("ws_b", "call_1.wav.beginning"))
}

func TestRecordingsOfDeletedWorkspacesGo(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	a, b := newSpoolNode(t, shared), newSpoolNode(t, shared, "ws_a", "ws_ab")
	of := func(days int) string {
		return domain.ID(domain.PrefixCall, time.Now().AddDate(0, 0, -days), [10]byte{1}) + ".wav"
	}
	old, young := of(8), of(6)
	for _, workspace := range []string{"ws_a", "ws_ab", "ws_gone", "ws_rising"} {
		a.records(workspace, old, "sound", time.Minute)
	}
	a.records("ws_gone", young, "sound", time.Minute)
	a.sweep()
	blobs := WorkspaceBlobs{b.Blobs, b.Transfer}
	require.NoError(t, blobs.DeleteAll(t.Context(), "ws_a"))
	assert.Equal(t, 4, b.waiting())
	b.gone["ws_gone"] = true
	b.sweep()
	assert.NotEmpty(t, b.read("ws_ab", old+".beginning"))
	objects, err := b.list(t.Context())
	require.NoError(t, err)
	for _, object := range objects {
		workspace, file, _ := parseObjectName(object)
		assert.Contains(t, []string{"ws_rising" + old, "ws_gone" + young}, workspace+file, "the store may have it again")
	}
	assert.Len(t, objects, 2)
}
