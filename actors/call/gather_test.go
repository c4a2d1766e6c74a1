package call_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media/wav"
)

// farSpool is what another node has in its spool.
type farSpool struct {
	t     *testing.T
	mu    sync.Mutex
	has   map[string][]byte
	asked int
	holds chan struct{} // who fetches waits for it; nil: nobody waits
}

func (f *farSpool) take(_ context.Context, _ string, place func(file string) string) {
	f.mu.Lock()
	f.asked++
	has, holds := maps.Clone(f.has), f.holds
	f.mu.Unlock()
	if holds != nil {
		<-holds
	}
	for name, b := range has {
		path := place(name)
		if path == "" {
			continue
		}
		assert.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NoError(f.t, os.WriteFile(path, b, 0o600))
		f.mu.Lock()
		delete(f.has, name)
		f.mu.Unlock()
	}
}

func (f *farSpool) now() (asked, left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked, len(f.has)
}

func (f *farSpool) put(name string, b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has[name] = b
}

// gathers is a house beside a node that has something.
func gathers(t *testing.T, p plan, has map[string][]byte) (*house, *farSpool) {
	t.Helper()
	far := &farSpool{t: t, has: has}
	p.config = func(c *call.Config) { c.Left = far.take }
	return build(t, p), far
}

// gathered tells, as often as it takes, that there is something elsewhere.
func (h *house) gathered(what string, check func() bool) {
	h.t.Helper()
	h.until(10*time.Second, what, func() bool {
		h.gather()
		return check()
	})
}

func (h *house) gather() { h.sys.Root.Send(h.calls, call.Gather{Elsewhere: true}) }

// What a node that was killed had recorded of calls that ended with it is kept by
// whoever has the workspace, when that node is back.
func TestWhatAKilledNodeHasRecordedIsFetched(t *testing.T) {
	t.Parallel()
	const id, none = "call_01J0000000000000000000000K", "call_01J0000000000000000000000N"
	crashed := append(wav.Header(2, wav.Unknown), sounding(1, 2)...)
	h, far := gathers(t, plan{store: interrupted(t, id)}, map[string][]byte{id + ".wav": crashed, none + ".wav": crashed, "notes.txt": nil})
	h.gathered("it to be kept", func() bool { return h.store.call(id).RecordingAvailable })
	assert.Equal(t, wav.EncodeMu(2, sounding(1, 2)), h.blobs.get(call.RecordingName(id)))
	h.until(10*time.Second, "the spool to be empty", func() bool { return h.spooled() == 0 })
	assert.Nil(t, h.blobs.get(call.RecordingName(none)), "nobody wants it")
	_, left := far.now()
	assert.Equal(t, 1, left, "it is no recording")

	far.put(id+".wav.beginning", append(wav.Header(2, wav.Unknown), sounding(1, 2, 3)...)) // of before, which could not be joined there
	h.gathered("it to be laid beneath", func() bool { return len(h.blobs.get(call.RecordingName(id))) > wav.HeaderLen+32000 && h.spooled() == 0 })
	assert.Equal(t, wav.EncodeMu(2, sounding(1, 2, 3)), h.blobs.get(call.RecordingName(id)))
}

// What comes of a call that lives here waits for its end.
func TestWhatIsFetchedOfALiveCallIsJoinedAtItsEnd(t *testing.T) {
	t.Parallel()
	h, far := gathers(t, plan{}, map[string][]byte{})
	id := h.talking(area+"0009", linger(), func(s *call.Start) { s.Call.Record = true })
	h.until(10*time.Second, "something is recorded", func() bool { return h.packets(id) > 60 })
	part := make([]byte, 320_000) // longer than the call: twenty seconds
	for i := range part {
		part[i] = 5
	}
	far.put(id+".wav", append(wav.Header(2, wav.Unknown), part...))
	h.gathered("it to be here", func() bool { return h.spooled() == 2 })
	h.never(300*time.Millisecond, "it is touched", func() bool { return h.spooled() != 2 })
	require.NoError(t, h.hangUp(id))
	h.end(id)
	h.until(10*time.Second, "both to be one", func() bool { return h.store.call(id).RecordingAvailable && h.spooled() == 0 })
	kept := h.recording(h.store.call(id))
	assert.InDelta(t, 20, kept.Duration().Seconds(), 0.1)
}

// However often it is told of, it is fetched once at a time.
func TestRecordingsAreFetchedOnceAtATime(t *testing.T) {
	t.Parallel()
	const id = "call_01J0000000000000000000000K"
	h, far := gathers(t, plan{store: interrupted(t, id)}, map[string][]byte{id + ".wav": append(wav.Header(2, wav.Unknown), sounding(1)...)})
	far.holds = make(chan struct{})
	h.gathered("it is asked", func() bool { asked, _ := far.now(); return asked == 1 })
	h.never(200*time.Millisecond, "it is asked again", func() bool {
		h.gather()
		asked, _ := far.now()
		return asked > 1
	})
	close(far.holds)
	h.until(10*time.Second, "it to be kept", func() bool { return h.store.call(id).RecordingAvailable })
}

func (h *house) recording(c *domain.Call) *wav.Sound {
	h.t.Helper()
	sound, err := wav.Decode(h.blobs.get(call.RecordingName(c.ID)))
	require.NoError(h.t, err)
	assert.InDelta(h.t, c.RecordingSeconds, sound.Duration().Seconds(), 0.01)
	return sound
}
