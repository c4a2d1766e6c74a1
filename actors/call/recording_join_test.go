package call_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/wav"
)

const partedCallID = "call_01J0000000000000000000000P"

// muLawSeconds returns stereo audio with one byte value per second.
func muLawSeconds(seconds ...byte) (sound []byte) {
	for _, v := range seconds {
		sound = append(sound, bytes.Repeat([]byte{v}, 16000)...)
	}
	return sound
}

// newFixtureWithPart returns a fixture whose spool contains a part of a recording. suffix ends the file name. kept is the
// stored recording, and nil makes it unreadable. putting runs before a blob is stored.
func newFixtureWithPart(t *testing.T, suffix string, part, kept []byte, deleted bool, putting func(store *memoryStore)) *fixture {
	t.Helper()
	spool := t.TempDir()
	dir := filepath.Join(spool, workspace)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path, past := filepath.Join(dir, partedCallID+suffix), time.Now().Add(-time.Minute)
	require.NoError(t, os.WriteFile(path, append(wav.Header(2, wav.Unknown), part...), 0o600))
	require.NoError(t, os.Chtimes(path, past, past))
	b := &memoryBlobs{kept: make(map[string][]byte)}
	if kept != nil {
		b.kept[recording.BlobName(partedCallID)] = wav.EncodeMu(2, kept)
	}
	return newFixture(t, fixtureOptions{spool: spool, blobs: b, config: func(c *call.Config) {
		store, ok := c.Store.(*memoryStore)
		require.True(t, ok)
		storeFinishedCall(store, deleted)
		if putting != nil {
			b.putting = func() { putting(store) }
		}
	}})
}

// storeFinishedCall stores the ended call to which the part in the spool belongs.
func storeFinishedCall(store *memoryStore, deleted bool) {
	c := &domain.Call{Meta: domain.Meta{ID: partedCallID, WorkspaceID: workspace}, Status: domain.CallCompleted, Record: true, RecordingAvailable: !deleted, RecordingSeconds: 3}
	if deleted {
		c.RecordingDeletedAt = new(time.Now())
	}
	row, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	store.rows[c.Key()] = row
	store.versions[c.Key()]++
}

func TestPartIsJoinedWithTheStoredRecording(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{".wav", ".wav.beginning"} { // the name of a live recording, and the name of a part
		h := newFixtureWithPart(t, suffix, muLawSeconds(1, 2), muLawSeconds(0xFF, 0xFF, 3), false, nil)
		h.waitUntil(10*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
		assert.Equal(t, wav.EncodeMu(2, muLawSeconds(1, 2, 3)), h.blobs.get(recording.BlobName(partedCallID)))
		c := h.store.readCall(partedCallID)
		assert.True(t, c.RecordingAvailable)
		assert.InDelta(t, 3, c.RecordingSeconds, 0.001)
		assert.Empty(t, h.store.eventTypes(partedCallID), "the event was sent before")
	}
}

func TestRedundantPartIsRemoved(t *testing.T) {
	t.Parallel()
	h := newFixtureWithPart(t, ".wav", muLawSeconds(1, 2), muLawSeconds(1, 2, 3), false, nil)
	h.waitUntil(10*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
	assert.Equal(t, wav.EncodeMu(2, muLawSeconds(1, 2, 3)), h.blobs.get(recording.BlobName(partedCallID)))
	assert.Zero(t, h.blobs.putCount(), "the stored recording is not written again")
}

func TestPartWaitsUntilTheStoredRecordingIsReadable(t *testing.T) {
	t.Parallel()
	h := newFixtureWithPart(t, ".wav", muLawSeconds(1, 2), nil, false, nil)
	partPath := filepath.Join(h.spool, workspace, partedCallID+".wav.beginning")
	h.waitUntil(10*time.Second, "the part is renamed", func() bool { _, err := os.Stat(partPath); return err == nil })
	assert.Equal(t, 1, h.countSpoolFiles())
	assert.Nil(t, h.blobs.get(recording.BlobName(partedCallID)))

	h.blobs.mu.Lock() // the node with the stored recording is back
	h.blobs.kept[recording.BlobName(partedCallID)] = wav.EncodeMu(2, muLawSeconds(0xFF, 0xFF, 3))
	h.blobs.mu.Unlock()
	h.waitUntil(10*time.Second, "the part is joined", func() bool {
		h.sys.Root.Send(h.calls, recording.JoinParts{})
		return h.countSpoolFiles() == 0
	})
	assert.Equal(t, wav.EncodeMu(2, muLawSeconds(1, 2, 3)), h.blobs.get(recording.BlobName(partedCallID)))
}

func TestPartOfADeletedRecordingIsDeleted(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{".wav", ".wav.beginning"} {
		h := newFixtureWithPart(t, suffix, muLawSeconds(1, 2), nil, true, nil)
		h.waitUntil(10*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
		assert.Nil(t, h.blobs.get(recording.BlobName(partedCallID)))
	}
}

// A recording that is deleted while its parts are being joined stays deleted.
func TestRecordingDeletedDuringAJoinStaysDeleted(t *testing.T) {
	t.Parallel()
	h := newFixtureWithPart(t, ".wav", muLawSeconds(1, 2), muLawSeconds(0xFF, 0xFF, 3), false, func(store *memoryStore) { storeFinishedCall(store, true) })
	h.waitUntil(10*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
	assert.Equal(t, 1, h.blobs.putCount())
	assert.Nil(t, h.blobs.get(recording.BlobName(partedCallID)))
	assert.Empty(t, h.store.eventTypes(partedCallID))
}

func TestAbandonedFetchIsRemovedFromTheSpool(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	dir := filepath.Join(spool, workspace)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	old, young := filepath.Join(dir, "call_1.wav.part-1"), filepath.Join(dir, "call_2.wav.part-2")
	for _, path := range []string{old, young} {
		require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	ago := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(old, ago, ago))
	h := newFixture(t, fixtureOptions{spool: spool})
	h.waitUntil(5*time.Second, "the old file is removed", func() bool { return h.countSpoolFiles() == 1 })
	assert.FileExists(t, young, "a fetch may be running")
}

// Several parts of one recording in the spool are joined and stored as one recording.
func TestPartsInTheSpoolBecomeOneRecording(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	dir := filepath.Join(spool, workspace)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	h := newFixture(t, fixtureOptions{})
	o := h.prepareCall(numberPrefix+"0001", confirmPathway()) // a busy number
	o.Call.Record = true
	id := h.startCall(o)
	h.waitUntilFinished(id)
	said := func(silent, n int, with byte) []byte {
		return wav.EncodeMu(2, append(bytes.Repeat([]byte{0xFF}, 2*silent), bytes.Repeat([]byte{with}, 2*n)...))
	}
	for name, b := range map[string][]byte{
		id + ".wav.beginning": said(0, 1600, 1), id + ".wav": said(1600, 1600, 2),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	next := newFixture(t, fixtureOptions{spool: spool, config: func(c *call.Config) { c.Store, c.Blobs = h.store, h.blobs }})
	next.waitUntil(10*time.Second, "the recording is stored", func() bool { return h.store.readCall(id).RecordingAvailable })
	var all []byte
	for with := range byte(2) {
		all = append(all, bytes.Repeat([]byte{with + 1}, 3200)...)
	}
	assert.Equal(t, wav.EncodeMu(2, all), h.blobs.get(recording.BlobName(id)))
	assert.InDelta(t, 0.4, h.store.readCall(id).RecordingSeconds, 0.001)
	next.waitUntil(5*time.Second, "nothing is left", func() bool { return next.countSpoolFiles() == 0 })
}
