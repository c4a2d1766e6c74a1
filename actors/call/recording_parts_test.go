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

// addFetchedFile puts a spool file of another node into the spool and notifies Calls.
func (h *fixture) fetched(file string, sound []byte) {
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
	h := build(t, plan{store: interrupted(t, id)})
	h.fetched(id+".wav", sounding(1, 2))
	h.fetched(none+".wav", sounding(1, 2)) // possibly during the scan for the first file
	h.until(10*time.Second, "the part is stored", func() bool { return h.store.call(id).RecordingAvailable })
	assert.Equal(t, wav.EncodeMu(2, sounding(1, 2)), h.blobs.get(recording.BlobName(id)))
	h.until(10*time.Second, "the spool to be empty", func() bool { return h.spooled() == 0 })
	assert.Nil(t, h.blobs.get(recording.BlobName(none)), "the call does not exist")

	h.fetched(id+".wav.beginning", sounding(1, 2, 3)) // a part that the other node could not join
	h.until(10*time.Second, "the spool to be empty", func() bool { return h.spooled() == 0 })
	assert.Equal(t, wav.EncodeMu(2, sounding(1, 2, 3)), h.blobs.get(recording.BlobName(id)))
}

func TestPartOfALiveCallIsJoinedAtItsEnd(t *testing.T) {
	t.Parallel()
	h := build(t, plan{})
	id := h.talking(area+"0009", linger(), func(s *call.StartOutbound) { s.Call.Record = true })
	h.until(10*time.Second, "something is recorded", func() bool { return h.packets(id) > 60 })
	part := make([]byte, 320_000) // twenty seconds, longer than the call
	for i := range part {
		part[i] = 5
	}
	h.fetched(id+".wav", part)
	h.never(300*time.Millisecond, "the spool changes", func() bool { return h.spooled() != 2 })
	require.NoError(t, h.hangUp(id))
	h.end(id)
	h.until(10*time.Second, "both parts are joined and stored", func() bool { return h.store.call(id).RecordingAvailable && h.spooled() == 0 })
	kept := h.recording(h.store.call(id))
	assert.InDelta(t, 20, kept.Duration().Seconds(), 0.1)
}

func (h *fixture) recording(c *domain.Call) *wav.Sound {
	h.t.Helper()
	sound, err := wav.Decode(h.blobs.get(recording.BlobName(c.ID)))
	require.NoError(h.t, err)
	assert.InDelta(h.t, c.RecordingSeconds, sound.Duration().Seconds(), 0.01)
	return sound
}
