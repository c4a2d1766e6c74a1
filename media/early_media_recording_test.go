package media_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
)

func TestEarlyMediaIsRecordedIfCallIsAnswered(t *testing.T) {
	t.Parallel()
	for _, answered := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "early.wav")
		s := open(t, engine(t), media.Options{RecordPath: path})
		turn := media.NewTurn(s)
		_, err := s.Answer(newPeer(t).sdp(""))
		require.NoError(t, err)
		loud := 0
		_, err = s.Tap(media.Listen, func(frame []byte) {
			if len(frame) > 0 && frame[3]|0x80 != 0xFF {
				loud++
			}
		})
		require.NoError(t, err)
		s.Hold(tone.Make(time.Second, 0.3, 425))
		s.Early()
		for range 50 {
			turn.Frame()
		}
		assert.Equal(t, time.Second, s.Position())
		assert.Greater(t, loud, 30, "the peer hears early media")
		if !answered {
			_, done := s.Close()
			assert.Equal(t, media.Recording{}, <-done)
			assert.NoFileExists(t, path)
			continue
		}
		s.Resume()
		s.Begin()
		for range 25 {
			turn.Frame()
		}
		assert.Equal(t, 1500*time.Millisecond, s.Position())
		_, done := s.Close()
		assert.Equal(t, media.Recording{Path: path, Duration: 1500 * time.Millisecond}, <-done)
		file, err := wav.ReadFile(path, 1<<20)
		require.NoError(t, err)
		best, at := correlate(file.Channel(1), file.Channel(1)[800:4000], 1600)
		assert.Greater(t, best, 0.99)
		assert.LessOrEqual(t, at, 800)
		assert.NotZero(t, file.Channel(1)[10], "audio from the first sample on")
		assert.Zero(t, file.Channel(1)[9000], "the audio has ended")
	}
}
