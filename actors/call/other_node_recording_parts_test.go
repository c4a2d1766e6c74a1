package call_test

import (
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

// addFetchedFile puts a file that comes from the spool of another node into the spool and notifies Calls.
func (h *fixture) addFetchedFile(file string, sound []byte) {
	h.t.Helper()
	path := recording.FreePartPath(filepath.Join(h.spool, workspace), file)
	require.NotEmpty(h.t, path)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	whole := filepath.Join(h.t.TempDir(), file) // a fetched file is renamed when complete
	require.NoError(h.t, os.WriteFile(whole, append(wav.Header(2, wav.Unknown), sound...), 0o600))
	require.NoError(h.t, os.Rename(whole, path))
	h.sys.Root.Send(h.calls, recording.JoinParts{})
}

func TestPartsFromAnotherNodeAreJoined(t *testing.T) {
	t.Parallel()
	const id, none = "call_01J0000000000000000000000K", "call_01J0000000000000000000000N"
	h := newFixture(t, fixtureOptions{store: newStoreOfInterruptedCalls(t, id)})
	h.addFetchedFile(id+".wav", muLawSeconds(1, 2))
	h.addFetchedFile(none+".wav", muLawSeconds(1, 2)) // possibly during the scan for the first file
	h.waitUntil(10*time.Second, "the part is stored", func() bool { return h.store.readCall(id).RecordingAvailable })
	assert.Equal(t, wav.EncodeMu(2, muLawSeconds(1, 2)), h.blobs.get(recording.BlobName(id)))
	h.waitUntil(10*time.Second, "the spool to be empty", func() bool { return h.countSpoolFiles() == 0 })
	assert.Nil(t, h.blobs.get(recording.BlobName(none)), "the call does not exist")

	h.addFetchedFile(id+".wav.beginning", muLawSeconds(1, 2, 3)) // a part that the other node could not join
	h.waitUntil(10*time.Second, "the spool to be empty", func() bool { return h.countSpoolFiles() == 0 })
	assert.Equal(t, wav.EncodeMu(2, muLawSeconds(1, 2, 3)), h.blobs.get(recording.BlobName(id)))
}

func TestPartOfALiveCallIsJoinedAtItsEnd(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(numberPrefix+"0009", waitingPathway(), func(s *call.StartOutbound) { s.Call.Record = true })
	h.waitUntil(10*time.Second, "something is recorded", func() bool { return h.packetsSent(id) > 60 })
	part := make([]byte, 320_000) // twenty seconds, longer than the call
	for i := range part {
		part[i] = 5
	}
	h.addFetchedFile(id+".wav", part)
	h.assertNever(300*time.Millisecond, "the spool changes", func() bool { return h.countSpoolFiles() != 2 })
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
	h.waitUntil(10*time.Second, "both parts are joined and stored", func() bool { return h.store.readCall(id).RecordingAvailable && h.countSpoolFiles() == 0 })
	kept := h.decodeRecording(h.store.readCall(id))
	assert.InDelta(t, 20, kept.Duration().Seconds(), 0.1)
}

func (h *fixture) decodeRecording(c *domain.Call) *wav.Sound {
	h.t.Helper()
	sound, err := wav.Decode(h.blobs.get(recording.BlobName(c.ID)))
	require.NoError(h.t, err)
	assert.InDelta(h.t, c.RecordingSeconds, sound.Duration().Seconds(), 0.01)
	return sound
}
