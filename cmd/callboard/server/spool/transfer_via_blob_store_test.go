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

// spoolNode is a node with its own spool and a shared folder as blob store.
type spoolNode struct {
	*testing.T
	*Transfer
	served, deleted map[string]bool // served and deleted workspaces

	joined []string
}

func newSpoolNode(t *testing.T, shared string, served ...string) *spoolNode {
	t.Helper()
	seal, err := persistence.NewSealer(datafolder.DeriveKey([]byte("root"), "callboard spool"))
	require.NoError(t, err)
	n := &spoolNode{T: t, served: make(map[string]bool), deleted: make(map[string]bool)}
	n.Transfer = New(Config{
		Dir: t.TempDir(), Blobs: blob.NewSharedDisk(shared, seal), Log: slog.New(slog.DiscardHandler),
		Serves: n.HasWorkspace, Joiner: func(string) PartJoiner { return n },
	})
	for _, workspace := range served {
		n.served[workspace] = true
		require.NoError(t, os.MkdirAll(filepath.Join(n.Dir, workspace), 0o700))
	}
	return n
}

func (n *spoolNode) HasWorkspace(id string) bool { return n.served[id] }

func (n *spoolNode) IsWorkspaceDeleted(_ context.Context, id string) (bool, error) {
	return n.deleted[id], nil
}

func (n *spoolNode) JoinRecordingParts(id string) { n.joined = append(n.joined, id) }

// writeRecording writes a recording into the spool and sets its modification time to ago before now.
func (n *spoolNode) writeRecording(workspace, file, sound string, ago time.Duration) string {
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

// runOnce moves recordings from and to the spool once, as Run does periodically.
func (n *spoolNode) runOnce() {
	n.Helper()
	require.NoError(n, n.push(n.Context(), n.Serves, finishedAfter))
	require.NoError(n, n.pull(n.Context()))
}

func (n *spoolNode) waitingObjects() int {
	n.Helper()
	objects, err := n.list(n.Context())
	require.NoError(n, err)
	return len(objects)
}

func TestSpooledRecordingsReachTheNodeOfTheirWorkspace(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	a, b, c := newSpoolNode(t, shared, "ws_a"), newSpoolNode(t, shared, "ws_b", "ws_b2"), newSpoolNode(t, shared)
	moved := a.writeRecording("ws_b", "call_1.wav", "first", time.Minute)
	part := a.writeRecording("ws_b2", "call_2.wav.beginning", "part", time.Minute)
	stored := []string{
		a.writeRecording("ws_a", "call_3.wav", "its own", time.Minute), a.writeRecording("ws_b", "call_4.wav", "being written", 0),
		a.writeRecording("ws_b", "call_1.wav.part-1", "half", time.Minute), a.writeRecording("ws_b", "notes.txt", "no recording", time.Minute),
	}
	c.writeRecording("ws_b", "call_1.wav", "second", time.Minute) // another part of the same call
	abandoned := a.writeRecording("ws_b", "call_5.wav.beginning.part-7", "half", 2*time.Hour)
	a.runOnce()
	c.runOnce()
	assert.NoFileExists(t, moved)
	assert.NoFileExists(t, abandoned)
	assert.NoDirExists(t, filepath.Dir(part), "the folder is removed when empty")
	for _, path := range stored {
		assert.FileExists(t, path)
	}
	assert.Equal(t, 3, b.waitingObjects())
	files, err := filepath.Glob(filepath.Join(shared, "*", "*"))
	require.NoError(t, err)
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotContains(t, string(raw), "first", "the object is encrypted")
	}

	b.runOnce()
	assert.Equal(t, "part", b.read("ws_b2", "call_2.wav.beginning"))
	assert.Equal(t, 1, b.waitingObjects(), "one part at a time")
	one := b.read("ws_b", "call_1.wav.beginning")
	assert.Contains(t, b.joined, "ws_b")
	require.NoError(t, os.Remove(filepath.Join(b.Dir, "ws_b", "call_1.wav.beginning")))
	b.runOnce()
	assert.ElementsMatch(t, []string{"first", "second"}, []string{one, b.read("ws_b", "call_1.wav.beginning")})
	assert.Zero(t, b.waitingObjects())
}

func TestRecordingOfAWorkspaceServedAgainStaysInTheSpool(t *testing.T) {
	t.Parallel()
	a := newSpoolNode(t, t.TempDir())
	path := a.writeRecording("ws_a", "call_1.wav", "sound", time.Minute)
	for range 2 {
		requests := 0
		require.NoError(t, a.push(t.Context(), func(string) bool { requests++; return requests > 1 }, finishedAfter)) // served again after the copy
		assert.FileExists(t, path)
		assert.Equal(t, 1, a.waitingObjects(), "the second copy replaces the first")
	}
}

func TestSpoolKeepsRecordingsWhileTheBlobStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	shared := filepath.Join(t.TempDir(), "shared")
	a, b := newSpoolNode(t, shared), newSpoolNode(t, shared, "ws_b")
	path := a.writeRecording("ws_b", "call_1.wav", "sound", 0)
	close(a.runEnded)
	a.PushRemaining() // the node stops
	assert.FileExists(t, path)
	require.ErrorIs(t, b.pull(t.Context()), domain.ErrBlobsUnavailable)
	require.NoError(t, os.Mkdir(shared, 0o700))
	a.PushRemaining()
	assert.NoFileExists(t, path)

	require.NoError(t, os.RemoveAll(filepath.Join(b.Dir, "ws_b"))) // the folder cannot be written
	require.Error(t, b.pull(t.Context()))
	assert.Equal(t, 1, b.waitingObjects(), "the object stays until it is fetched")
	require.NoError(t, os.Mkdir(filepath.Join(b.Dir, "ws_b"), 0o700))
	b.runOnce()
	assert.Equal(t, "sound", b.read("ws_b", "call_1.wav.beginning"))
}

func TestRecordingsOfDeletedWorkspacesAreRemoved(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	a, b := newSpoolNode(t, shared), newSpoolNode(t, shared, "ws_a", "ws_ab")
	of := func(days int) string {
		return domain.ID(domain.PrefixCall, time.Now().AddDate(0, 0, -days), [10]byte{1}) + ".wav"
	}
	old, young := of(8), of(6)
	for _, workspace := range []string{"ws_a", "ws_ab", "ws_gone", "ws_rising"} {
		a.writeRecording(workspace, old, "sound", time.Minute)
	}
	a.writeRecording("ws_gone", young, "sound", time.Minute)
	a.runOnce()
	blobs := WorkspaceBlobs{b.Blobs, b.Transfer}
	require.NoError(t, blobs.DeleteAll(t.Context(), "ws_a"))
	assert.Equal(t, 4, b.waitingObjects())
	b.deleted["ws_gone"] = true
	b.runOnce()
	assert.NotEmpty(t, b.read("ws_ab", old+".beginning"))
	objects, err := b.list(t.Context())
	require.NoError(t, err)
	for _, object := range objects {
		workspace, file, _ := parseObjectName(object)
		assert.Contains(t, []string{"ws_rising" + old, "ws_gone" + young}, workspace+file, "a restored store may contain the workspace")
	}
	assert.Len(t, objects, 2)
}
