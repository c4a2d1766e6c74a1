package call_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/wav"
)

// newFixtureWithSpool returns a fixture with the recordings of n calls in its spool and a failing blob storage.
func newFixtureWithSpool(t *testing.T, n int) (h *fixture, ids []string) {
	t.Helper()
	spool := t.TempDir()
	dir := filepath.Join(spool, workspace)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	past := time.Now().Add(-time.Minute)
	for i := range n {
		id := fmt.Sprintf("call_01J000000000000000000000%02d", i)
		ids = append(ids, id)
		path := filepath.Join(dir, id+".wav")
		require.NoError(t, os.WriteFile(path, append(wav.Header(2, wav.Unknown), strings.Repeat("\x7f", 800)...), 0o600))
		require.NoError(t, os.Chtimes(path, past, past))
	}
	h = newFixture(t, fixtureOptions{spool: spool, store: newStoreOfInterruptedCalls(t, ids...), blobs: &memoryBlobs{kept: make(map[string][]byte), away: true}})
	return h, ids
}

// newStoreOfInterruptedCalls returns a store with calls whose process crashed. The fixture reads the spool at its start,
// so the calls must be stored earlier.
func newStoreOfInterruptedCalls(t *testing.T, ids ...string) *memoryStore {
	t.Helper()
	store := newMemoryStore()
	for _, id := range ids {
		c := &domain.Call{Meta: domain.Meta{ID: id, WorkspaceID: workspace}, Status: domain.CallInProgress, Record: true}
		b, err := json.Marshal(c)
		require.NoError(t, err)
		store.rows[c.Key()], store.versions[c.Key()] = b, 1
		e := call.EndAsInterrupted(*c, domain.Attempt{ID: id, WorkspaceID: workspace}, time.Now())
		_, err = store.Apply(t.Context(), call.EndChange(e, time.Now()))
		require.NoError(t, err)
	}
	return store
}

func TestOneRecordingProbesTheBlobStorageForAll(t *testing.T) {
	t.Parallel()
	const many = 40
	h, ids := newFixtureWithSpool(t, many)
	h.waitUntil(20*time.Second, "each recording was tried and one probed twice", func() bool { return h.blobs.putCount() >= many+2 })
	assert.LessOrEqual(t, h.blobs.putCount(), many+3)
	assert.Equal(t, many, h.countSpoolFiles(), "the recordings wait in the spool")
	h.blobs.restore()
	h.waitUntil(20*time.Second, "all recordings are stored", func() bool {
		for _, id := range ids {
			if !h.store.readCall(id).RecordingAvailable {
				return false
			}
		}
		return true
	})
	h.waitUntil(5*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
}

// A recording whose call was deleted while it waited is not stored.
func TestWaitingRecordingOfADeletedCallIsNotStored(t *testing.T) {
	t.Parallel()
	h, ids := newFixtureWithSpool(t, 3)
	h.waitUntil(20*time.Second, "each recording was tried", func() bool { return h.blobs.putCount() >= 3 })
	gone := domain.Call{Meta: domain.Meta{ID: ids[0], WorkspaceID: workspace}}
	h.store.mu.Lock()
	delete(h.store.rows, gone.Key())
	delete(h.store.versions, gone.Key())
	h.store.mu.Unlock()
	deleted := h.store.readCall(ids[1])
	at := time.Now()
	deleted.RecordingDeletedAt = &at
	b, err := json.Marshal(deleted)
	require.NoError(t, err)
	h.store.mu.Lock()
	h.store.rows[deleted.Key()] = b
	h.store.mu.Unlock()
	h.blobs.restore()
	h.waitUntil(20*time.Second, "the third recording is stored", func() bool { return h.store.readCall(ids[2]).RecordingAvailable })
	h.waitUntil(20*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
	h.blobs.mu.Lock()
	defer h.blobs.mu.Unlock()
	assert.Len(t, h.blobs.kept, 1)
	assert.Contains(t, h.blobs.kept, recording.BlobName(ids[2]))
}
