package node_test

import (
	"bytes"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/service/calls"
)

// audioRecorder records the audio that a person who listens to a live call receives.
type audioRecorder struct {
	mu    sync.Mutex
	sound []byte
	ends  int
}

func (p *audioRecorder) record(frame []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if frame == nil {
		p.ends++
	}
	p.sound = append(p.sound, frame...)
}

// stats returns the number of received frames, whether any frame was not silent, and how often the end of the audio
// was reported.
func (p *audioRecorder) stats() (frames int, loud bool, ends int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sound) / calls.ListenFrame, len(bytes.Trim(p.sound, "\xff\x7f")) > 0, p.ends
}

func TestLiveCallCanBeListenedToAndItsRecordingPaused(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	c, err := d.Calls.PlaceCall(ctx, h.test, domain.NewCall{
		To: "+12025550009", AgentID: h.createAgent(h.test, waitingPathway()), RingTimeout: 5 * time.Second, MaxDuration: time.Minute, Record: true,
	})
	require.NoError(t, err)
	var one, two audioRecorder
	var audio calls.LiveAudio
	h.waitUntil(20*time.Second, "a call is answered", func() bool {
		audio, err = d.Calls.ListenCall(ctx, h.test, c.ID, calls.Whisper, one.record)
		return err == nil
	})
	other, err := d.Calls.ListenCall(ctx, h.test, c.ID, calls.Listen, two.record)
	require.NoError(t, err)
	h.waitUntil(20*time.Second, "both hear", func() bool {
		n, loud, _ := one.stats()
		m, _, _ := two.stats()
		return n > 50 && m > 10 && loud
	})
	audio.Say(bytes.Repeat([]byte{0x80}, 800))
	other.Leave()
	for range 7 {
		_, err = d.Calls.ListenCall(ctx, h.test, c.ID, calls.Listen, func([]byte) {})
		require.NoError(t, err)
	}
	_, err = d.Calls.ListenCall(ctx, h.test, c.ID, calls.Listen, func([]byte) {})
	assert.Equal(t, domain.CodeRateLimit, domain.CodeOf(err), "eight are enough")
	require.NoError(t, d.Recordings.SetRecordingPaused(ctx, h.test, c.ID, true))
	require.NoError(t, d.Recordings.SetRecordingPaused(ctx, h.test, c.ID, false))
	_, err = d.Calls.ListenCall(ctx, h.live, c.ID, calls.Listen, func([]byte) {})
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err), "not from elsewhere")
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(d.Recordings.SetRecordingPaused(ctx, h.live, c.ID, true)))

	_, err = d.Calls.HangupCall(ctx, h.test, c.ID)
	require.NoError(t, err)
	h.waitUntil(20*time.Second, "the end is reported", func() bool { _, _, ends := one.stats(); return ends == 1 })
	_, _, ends := two.stats()
	assert.Zero(t, ends, "a listener that left gets no end")
	h.waitUntil(20*time.Second, "the call has ended", func() bool { return h.getCall(h.test, c.ID).Final() })
	_, err = d.Calls.ListenCall(ctx, h.test, c.ID, calls.Listen, one.record)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(d.Recordings.SetRecordingPaused(ctx, h.test, c.ID, true)))
}

// storeRecordedCall stores a call that ended some days ago, with a recording.
func (h *fixture) storeRecordedCall(p domain.Principal, blobs *blob.Disk, days int) string {
	h.Helper()
	at := time.Now().AddDate(0, 0, -days)
	c := &domain.Call{
		Meta:      domain.Meta{ID: domain.ID(domain.PrefixCall, at, [10]byte{byte(days)}), Object: "call", WorkspaceID: p.WorkspaceID, Environment: p.Environment},
		Direction: domain.Inbound, Status: domain.CallCompleted, EndedAt: &at, Record: true, RecordingAvailable: true, RecordingURL: "x",
	}
	_, err := blobs.Put(h.Context(), c.WorkspaceID, recording.BlobName(c.ID), bytes.NewReader([]byte("sound")))
	require.NoError(h, err)
	_, err = h.store.Apply(h.Context(), commit.Change{Workspace: c.WorkspaceID, Puts: []domain.Record{c}})
	require.NoError(h, err)
	return c.ID
}

func TestRecordingsAreDeletedAfterTheirRetentionPeriod(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	blobs, err := blob.NewDisk(filepath.Join(h.dir, "blobs"), h.store)
	require.NoError(t, err)
	old, older, young, testing := h.storeRecordedCall(h.live, blobs, 31), h.storeRecordedCall(h.live, blobs, 400), h.storeRecordedCall(h.live, blobs, 29), h.storeRecordedCall(h.test, blobs, 40)
	there := func(p domain.Principal, id string) bool {
		r, errOpen := d.Recordings.Recording(ctx, p, id)
		if errOpen == nil {
			_, errOpen = io.Copy(io.Discard, r.Body)
			require.NoError(t, r.Body.Close())
		} else {
			assert.Equal(t, domain.CodeNotFound, domain.CodeOf(errOpen))
		}
		return errOpen == nil
	}
	token, err := d.Recordings.CreateRecordingLink(ctx, h.live, old, time.Now().Add(time.Hour))
	require.NoError(t, err)
	p, err := d.Recordings.AuthenticateRecordingLink(ctx, old, token)
	require.NoError(t, err)
	assert.True(t, there(p, old))
	assert.Equal(t, domain.Principal{WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, Permissions: []domain.Permission{domain.CallsRead}}, p)
	again, err := d.Recordings.CreateRecordingLink(ctx, h.live, young, time.Now().Add(-time.Second))
	require.NoError(t, err)
	for name, bad := range map[string]struct{ id, token, code string }{
		"link of another call": {young, token, string(domain.CodeInvalidLink)}, "expired link": {young, again, string(domain.CodeExpiredLink)},
		"nonsense": {old, "x", string(domain.CodeInvalidLink)}, "nobody's": {old, mailbox.NewID(domain.PrefixWorkspace) + ".9999999999.AAAA", string(domain.CodeInvalidLink)},
	} {
		_, err = d.Recordings.AuthenticateRecordingLink(ctx, bad.id, bad.token)
		assert.Equal(t, bad.code, string(domain.CodeOf(err)), name)
	}

	h.node.Sweep(ctx)
	assert.True(t, there(h.live, older), "without retention nothing is deleted")
	_, err = d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error { w.Retention.RecordingDays = 30; return nil })
	require.NoError(t, err)
	require.NoError(t, blobs.Delete(ctx, h.live.WorkspaceID, recording.BlobName(older))) // as an interrupted sweep left it after its first step
	assert.False(t, there(h.live, older))
	h.node.Sweep(ctx)
	assert.Equal(t, []bool{false, false, true}, []bool{there(h.live, old), there(h.live, older), there(h.live, young)})
	assert.False(t, there(h.test, testing))
	for _, id := range []string{old, older} {
		c := h.getCall(h.live, id)
		assert.False(t, c.RecordingAvailable)
		assert.Empty(t, c.RecordingURL)
		assert.NotNil(t, c.RecordingDeletedAt)
	}
	left, err := filepath.Glob(filepath.Join(h.dir, "blobs", "*", "*.wav"))
	require.NoError(t, err)
	assert.Len(t, left, 1, "the files are deleted")
	p, err = d.Recordings.AuthenticateRecordingLink(ctx, old, token)
	require.NoError(t, err)
	assert.False(t, there(p, old), "the link ends with its recording")
	_, err = d.Recordings.CreateRecordingLink(ctx, h.live, old, time.Now().Add(time.Hour))
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}
