package media_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/vad"
	"github.com/callboard/callboard/media/wav"
)

func TestTwoSessionsExchangeAndRecordAudio(t *testing.T) {
	for name, codec := range map[string]media.Codec{"µ-law": media.PCMU, "A-law": media.PCMA} {
		t.Run(name, func(t *testing.T) {
			a, b := engine(t), engine(t)
			dir := t.TempDir()
			var reportedA, reportedB eventLog
			path := filepath.Join(dir, "deep", "a.wav")
			sa := open(t, a, media.Options{Codecs: []media.Codec{codec}, RecordPath: path, Notify: reportedA.notify})
			sb := open(t, b, media.Options{Notify: reportedB.notify})
			ta, tb := media.NewTurn(sa), media.NewTurn(sb)
			connect(t, sa, sb)
			up, down := chirp(1500*time.Millisecond), chirp(1200*time.Millisecond)
			sa.Play(7, up)
			sb.Play(8, down)
			for range 100 { // two seconds, at the same pace on a busy machine
				ta.Frame()
				tb.Frame()
			}
			assert.Contains(t, reportedA.all(), media.Event(media.Played{ID: 7, Heard: up.Duration()}))
			assert.Contains(t, reportedB.all(), media.Event(media.Played{ID: 8, Heard: down.Duration()}))
			assert.Contains(t, reportedA.all(), media.Event(media.SpeechBegan{}))
			assert.Contains(t, reportedA.all(), media.Event(media.SpeechEnded{Silence: vad.EndSilence}))
			assert.Equal(t, 2*time.Second, sa.Position())

			stats, done := sa.Close()
			r := <-done
			assert.Equal(t, media.Recording{Path: path, Duration: 2 * time.Second}, r)
			file, err := wav.ReadFile(path, 1<<20)
			require.NoError(t, err)
			assert.Equal(t, r.Duration, file.Duration())
			right, at := correlate(file.Channel(1), g711.DecodeMu(up), 1600)
			assert.GreaterOrEqual(t, right, 0.95, "the agent is on the right")
			assert.Less(t, at, 800)
			left, at := correlate(file.Channel(0), g711.DecodeMu(down), 2400)
			assert.GreaterOrEqual(t, left, 0.95, "the caller is on the left")
			assert.Less(t, at, 1600, "within 200 ms")

			assert.Equal(t, codec.String(), stats.Codec)
			assert.Zero(t, stats.PacketsLost)
			assert.Zero(t, stats.PacketsRefused)
			assert.Equal(t, 2*time.Second, stats.SentFor)
			assert.Equal(t, 1980*time.Millisecond, stats.ReceivedFor)
			assert.Greater(t, stats.MOS, 4.0)
		})
	}
}

func TestMediaClockKeepsTimeAndRecordingLength(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.wav")
	p := newPeer(t)
	s := open(t, engine(t), media.Options{RecordPath: path})
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	s.Begin()
	begun := time.Now()
	eventually(t, "time passes in which the file is silent", func() bool { return s.Position() >= 200*time.Millisecond })
	s.Play(1, tone.Make(10*time.Second, 0.3, 440))
	eventually(t, "three seconds pass, and media time is real time", func() bool {
		wall := time.Since(begun)
		return wall > 3*time.Second && (wall-s.Position()).Abs() < wall/100+20*time.Millisecond
	})
	mark := s.Position()
	stats, done := s.Close()
	r := <-done
	require.NoError(t, r.Err)
	assert.GreaterOrEqual(t, r.Duration, mark)
	file, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, r.Duration, file.Duration())
	assert.InDelta(t, float64(stats.PacketsSent*160), float64(len(file.Channel(1))), 160, "a frame for every packet since Begin")
	first := slices.IndexFunc(file.Channel(1), func(v int16) bool { return v != 0 })
	assert.GreaterOrEqual(t, first, 1600, "the time before the first audio is silent")
}

func TestPausePlayingHoldsClipAndHearGetsPeerAudioOnly(t *testing.T) {
	a, b := engine(t), engine(t)
	var reported eventLog
	sa, sb := open(t, a, media.Options{Notify: reported.notify}), open(t, b, media.Options{})
	ta, tb := media.NewTurn(sa), media.NewTurn(sb)
	connect(t, sa, sb)
	turns := func(n int) {
		for range n {
			ta.Frame()
			tb.Frame()
		}
	}
	var heard, peerAudio []byte
	sa.SetListener(func(frame []byte) { peerAudio = append(peerAudio, frame...) })
	sb.SetListener(func(frame []byte) { heard = append(heard, frame...) })
	clip := chirp(400 * time.Millisecond)
	sa.Play(1, clip)
	turns(10)
	sa.PausePlaying()
	turns(50)
	assert.Empty(t, reported.all(), "playback is paused")
	sa.ContinuePlaying()
	turns(5)
	assert.Empty(t, reported.all(), "playback continues where it was paused")
	turns(15)
	assert.Contains(t, reported.all(), media.Event(media.Played{ID: 1, Heard: clip.Duration()}))
	assert.Len(t, heard, 80*160)
	match, _ := correlate(g711.DecodeMu(heard), g711.DecodeMu(clip[:1600]), 3200)
	assert.GreaterOrEqual(t, match, 0.95)
	assert.Equal(t, -1, slices.IndexFunc(peerAudio, func(v byte) bool { return v != g711.MuSilence }), "our own audio is not included")
	sa.PausePlaying()
	sa.Play(2, clip)
	turns(25)
	assert.Contains(t, reported.all(), media.Event(media.Played{ID: 2, Heard: clip.Duration()}), "a new Play is audible")
}
