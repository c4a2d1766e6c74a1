package lend_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
)

func TestACallSoundsOnAnotherNode(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	assert.Equal(t, lend.Load{Most: 100, Free: 10}, link.Load())
	path, theirPath := filepath.Join(t.TempDir(), "ws_1", "call_1.wav"), filepath.Join(t.TempDir(), "their.wav")
	var ours, theirs ear
	s := borrow(t, link, media.Options{RecordPath: path, Notify: ours.notify})
	assert.Same(t, link, s.Link())
	p := open(t, far, media.Options{RecordPath: theirPath, Notify: theirs.notify})
	assert.Zero(t, s.Mark())
	connect(t, s, p)
	assert.Equal(t, "PCMU/8000", s.Stats().Codec, "at once")
	s.Hear(ours.hear)
	p.Hear(theirs.hear)
	up, down := chirp(700*time.Millisecond), higher(500*time.Millisecond)
	s.Play(7, up)
	eventually(t, "it is played", ours.told(media.Played{ID: 7, Heard: up.Duration()}))
	again(t, "what the far end says is heard", func() { p.Play(8, down) }, func() bool { return like(ours.heard(), down) > alikeEnough })
	again(t, "and what we say is heard by it", func() { s.Play(6, up) }, func() bool { return like(theirs.heard(), up) > alikeEnough })
	eventually(t, "somebody speaks", ours.told(media.SpeechBegan{}))
	s.SendDigits(3, "1#")
	p.SendDigits(4, "*9")
	eventually(t, "digits go there", func() bool { return theirs.keys() == "1#" })
	eventually(t, "which is told", ours.told(media.DigitsSent{ID: 3}))
	eventually(t, "and come here", func() bool { return ours.keys() == "*9" })
	s.Hear(nil)
	assert.InDelta(t, p.Mark().Seconds(), s.Mark().Seconds(), 0.5)
	assert.Equal(t, 1, n.lender.Live())
	assert.Equal(t, 1, link.Live())

	stats, done := s.Close()
	again, same := s.Close()
	assert.Equal(t, stats, again)
	assert.Equal(t, done, same)
	assert.Zero(t, link.Live())
	assert.True(t, stats.Recorded)
	assert.Positive(t, stats.PacketsSent)
	_, theirDone := p.Close()
	r, their := <-done, <-theirDone
	require.NoError(t, r.Err)
	assert.Equal(t, path, r.Path)
	assert.Zero(t, n.lender.Live())
	assert.NoFileExists(t, filepath.Join(n.spool, "ws_1", "call_1.wav"), "it is here, and nowhere else")
	file, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	local, err := wav.ReadFile(theirPath, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, r.Duration, file.Duration())
	assert.InDelta(t, their.Duration.Seconds(), r.Duration.Seconds(), 0.5, "as long as one that was made here")
	for name, sound := range map[string][2][]int16{"ours": {file.Channel(1), file.Channel(0)}, "theirs": {local.Channel(0), local.Channel(1)}} {
		assert.GreaterOrEqual(t, alike(sound[0], up), alikeEnough, name)
		assert.GreaterOrEqual(t, alike(sound[1], down), alikeEnough, name)
	}
	before := len(ours.all())
	s.Play(9, up) // nothing of this is done
	s.Begin()
	require.ErrorIs(t, s.Accept(p.Offer()), media.ErrClosed)
	assert.Len(t, ours.all(), before, "nothing is told of a session that is closed")
	_, err = s.Tap(media.Listen, ours.hear)
	require.ErrorIs(t, err, media.ErrClosed)
}

func TestWhatAFarEndOffersIsAnsweredAndHeldAndResumed(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	var ours, theirs ear
	path := filepath.Join(t.TempDir(), "ws_1", "call_2.wav")
	s, p := borrow(t, link, media.Options{Notify: ours.notify, RecordPath: path}), open(t, far, media.Options{})
	answer, err := s.Answer(p.Offer())
	require.NoError(t, err)
	require.NoError(t, p.Accept(answer))
	p.Hear(theirs.hear)
	p.Begin()
	music := higher(400 * time.Millisecond)
	s.Hold(music)
	eventually(t, "music", func() bool { return like(theirs.heard(), music) > alikeEnough })
	assert.Zero(t, s.Mark(), "no time passes before the answer")
	s.Early()
	eventually(t, "but where sound is heard early", func() bool { return s.Mark() > 0 })
	s.Begin()
	s.Resume()
	clip := chirp(300 * time.Millisecond)
	again(t, "it goes on", func() { s.Play(1, clip) }, func() bool { return like(theirs.heard(), clip) > alikeEnough })
	s.PausePlaying()
	s.Play(2, tone.Make(time.Minute, 0.3, 440))
	eventually(t, "what is played afresh is heard", func() bool { return s.Mark() > 0 && ours.played(1) != nil })
	s.PausePlaying()
	s.ContinuePlaying()
	s.StopPlaying()
	eventually(t, "stopped", func() bool { played := ours.played(2); return played != nil && played.Interrupted })
	s.Pressed('5', 80*time.Millisecond)
	eventually(t, "by INFO", ours.told(media.Digit{Key: '5', Duration: 80 * time.Millisecond}))
	assert.Positive(t, s.Await())
	s.Rekey()

	p.Direct(false, true)
	_, err = s.Answer(p.Offer())
	require.NoError(t, err)
	eventually(t, "held by them", ours.told(media.Hold{Deaf: true}))
	_, done := s.Close()
	require.NoError(t, (<-done).Err)
}

func TestARecordingPauses(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	path := filepath.Join(t.TempDir(), "ws_1", "call_3.wav")
	s, p := borrow(t, link, media.Options{RecordPath: path}), open(t, far, media.Options{})
	connect(t, s, p)
	s.Play(1, tone.Make(time.Minute, 0.5, 440))
	until := func(d time.Duration) {
		from := s.Mark()
		eventually(t, "time passes", func() bool { return s.Mark() > from+d })
	}
	until(300 * time.Millisecond)
	s.PauseRecording()
	until(200 * time.Millisecond)
	s.ResumeRecording()
	until(600 * time.Millisecond)
	s.Sensitive(true)
	until(250 * time.Millisecond)
	_, done := s.Close()
	r := <-done
	require.NoError(t, r.Err)
	file, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	var gaps []int // lengths in samples of what is silent, at least 100 ms
	run := 0
	for _, v := range append(file.Channel(1), 1) {
		if v == 0 {
			run++
			continue
		}
		if run > 800 {
			gaps = append(gaps, run)
		}
		run = 0
	}
	require.GreaterOrEqual(t, len(gaps), 2, "a pause, and what is sensitive: %v", gaps)
}

func TestWhatCannotBeIsSaidAsAtHome(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	_, err := link.Open(media.Options{SRTP: media.SRTPRequired})
	require.ErrorIs(t, err, media.ErrConfidential)
	for _, path := range []string{"/spool/ws/..", "/spool/../x.wav/", "/spool/w s/call.wav", "/spool/ws/.hidden", "/spool/ws/" + strings.Repeat("x", 200), "call.wav"} {
		_, err = link.Open(media.Options{RecordPath: path})
		require.ErrorIs(t, err, lend.ErrName, path)
	}
	_, err = link.Open(media.Options{PTime: 17})
	require.Error(t, err)
	s := borrow(t, link, media.Options{NAT: media.NATOff})
	require.ErrorIs(t, s.Accept([]byte("nonsense")), media.ErrBadSDP)
	_, err = s.Answer([]byte("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=video 9 RTP/AVP 99\r\n"))
	require.ErrorIs(t, err, media.ErrNoCodec)
	_, err = s.Answer([]byte("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 224.0.0.1\r\nt=0 0\r\nm=audio 5004 RTP/AVP 0\r\n"))
	require.ErrorIs(t, err, media.ErrRefusedAddress)
	for range 4 {
		borrow(t, link, media.Options{})
	}
	_, err = link.Open(media.Options{})
	require.ErrorIs(t, err, media.ErrNoPorts)
	s.Close()
	eventually(t, "a port that is free again", func() bool {
		var errOpen error
		s, errOpen = link.Open(media.Options{})
		return errOpen == nil
	})
	assert.Equal(t, 5, link.Live())
	assert.Equal(t, 5, n.engine.Live())
	_, done := s.Close()
	assert.Equal(t, media.Recording{}, <-done)
	_ = far
}

func TestKeysAreAgreedOnThroughTheLink(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	safe := media.Options{SRTP: media.SRTPRequired, Confidential: true}
	s, p := borrow(t, link, safe), open(t, far, safe)
	connect(t, s, p)
	assert.NotEmpty(t, s.Stats().SRTP)
	assert.True(t, s.Memo().Secure)
	eventually(t, "sound under keys", func() bool { return p.Stats().PacketsReceived > 5 })
	assert.Zero(t, p.Stats().PacketsRefused)
}

func TestSoundGoesOnElsewhereFromWhatIsRemembered(t *testing.T) {
	t.Parallel()
	n, other, far := lends(t, engine(t)), lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	next, _ := joins(t, other, lend.LinkConfig{})
	s, p := borrow(t, link, media.Options{}), open(t, far, media.Options{})
	connect(t, s, p)
	eventually(t, "time", func() bool { return s.Mark() > 100*time.Millisecond })
	text, err := json.Marshal(s.Memo())
	require.NoError(t, err)
	var memo media.Memo
	require.NoError(t, json.Unmarshal(text, &memo))
	assert.GreaterOrEqual(t, memo.Mark, 100*time.Millisecond)
	assert.WithinDuration(t, time.Now(), memo.At, 10*time.Second)
	memo.At = memo.At.Add(-3 * time.Second)
	memo.Lift()
	after := borrow(t, next, media.Options{After: &memo})
	assert.GreaterOrEqual(t, after.Mark(), 3*time.Second+100*time.Millisecond)
	mark := after.Mark()
	offer := after.Offer()
	var id, version uint64
	_, err = fmt.Sscanf(string(offer), "v=0\r\no=- %d %d ", &id, &version)
	require.NoError(t, err)
	assert.Equal(t, memo.ID, id)
	assert.GreaterOrEqual(t, version, memo.Version)
	answer, err := p.Answer(offer)
	require.NoError(t, err)
	require.NoError(t, after.Accept(answer))
	after.Begin()
	eventually(t, "it runs on", func() bool { return after.Mark() > mark+40*time.Millisecond })
}

func TestTheLoadIsToldAndSharedAndSaysWhoLeaves(t *testing.T) {
	t.Parallel()
	n := lends(t, engine(t))
	changed := make(chan struct{}, 100)
	one, _ := joins(t, n, lend.LinkConfig{Changed: func() { changed <- struct{}{} }})
	assert.Equal(t, 10, one.Load().Free)
	two, _ := joins(t, n, lend.LinkConfig{})
	eventually(t, "half of it", func() bool { return one.Load().Free == 5 && two.Load().Free == 5 })
	<-changed
	n.mu.Lock()
	n.load.Live, n.load.Free = 7, 4
	n.mu.Unlock()
	eventually(t, "told", func() bool { return one.Load() == lend.Load{Most: 100, Live: 7, Free: 2} })
	two.Close()
	eventually(t, "whose share is free again", func() bool { return one.Load().Free == 4 })
	require.ErrorIs(t, two.Err(), media.ErrClosed)
	s := borrow(t, one, media.Options{})
	n.lender.Leave()
	eventually(t, "it leaves", func() bool { return one.Load().Leaving })
	_, err := one.Open(media.Options{})
	require.ErrorIs(t, err, media.ErrClosed)
	assert.NotNil(t, s.Offer(), "what is open lives on")
}
