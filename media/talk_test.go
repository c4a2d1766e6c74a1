package media_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/wav"
)

func TestTwoSessionsHearEachOtherAndBothRecordIt(t *testing.T) {
	for name, codec := range map[string]media.Codec{"µ-law": media.PCMU, "A-law": media.PCMA} {
		t.Run(name, func(t *testing.T) {
			a, b := engine(t, 31000, 31099), engine(t, 31100, 31199)
			dir := t.TempDir()
			var earA, earB ear
			path := filepath.Join(dir, "deep", "a.wav")
			sa := open(t, a, media.Options{Codecs: []media.Codec{codec}, RecordPath: path, Notify: earA.notify})
			sb := open(t, b, media.Options{Notify: earB.notify})
			connect(t, sa, sb)
			begun := time.Now()
			up, down := chirp(1500*time.Millisecond), chirp(1200*time.Millisecond)
			sa.Play(7, up)
			sb.Play(8, down)
			eventually(t, "played", earA.heard(func(e media.Event) bool { return e == media.Played{ID: 7, Heard: up.Duration()} }))
			eventually(t, "played", earB.heard(func(e media.Event) bool { return e == media.Played{ID: 8, Heard: down.Duration()} }))
			eventually(t, "the rest is played out", func() bool { return sa.Mark() > 2*time.Second })

			mark := sa.Mark()
			wall := time.Since(begun)
			stats, done := sa.Close()
			r := <-done
			require.NoError(t, r.Err)
			assert.Equal(t, path, r.Path)
			assert.InEpsilon(t, wall.Seconds(), r.Duration.Seconds(), 0.025, "length against the wall clock")
			assert.InDelta(t, mark.Seconds(), r.Duration.Seconds(), 0.05)

			file, err := wav.ReadFile(path, 1<<20)
			require.NoError(t, err)
			assert.Equal(t, r.Duration, file.Duration())
			right, at := correlate(file.Channel(1), g711.DecodeMu(up), 0, 1600)
			assert.GreaterOrEqual(t, right, 0.95, "the agent is on the right")
			assert.Less(t, at, 800)
			left, at := correlate(file.Channel(0), g711.DecodeMu(down), 0, 2400)
			assert.GreaterOrEqual(t, left, 0.95, "the caller is on the left")
			assert.Less(t, at, 1600, "within 200 ms")

			assert.Equal(t, codec.String(), stats.Codec)
			assert.Zero(t, stats.PacketsLost)
			assert.Zero(t, stats.PacketsRefused)
			assert.InDelta(t, stats.SentFor.Seconds(), stats.ReceivedFor.Seconds(), 0.2)
			assert.Greater(t, stats.MOS, 4.0)
		})
	}
}
