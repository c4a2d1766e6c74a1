package media_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
)

// BenchmarkFrame measures the CPU time of one frame of a call and its peer, without and with listeners and bridges.
func BenchmarkFrame(b *testing.B) {
	for name, modes := range map[string][]media.TapMode{
		"alone": nil, "one listens": {media.Listen}, "one barges": {media.Barge}, "eight listen": {0, 0, 0, 0, 0, 0, 0, 0},
	} {
		b.Run(name, func(b *testing.B) {
			remote, local := engine(b), engine(b)
			caller, ours := open(b, remote, media.Options{}), open(b, local, media.Options{})
			turns := []*media.Turn{media.NewTurn(caller), media.NewTurn(ours)}
			answer, err := ours.Answer(caller.Offer())
			require.NoError(b, err)
			require.NoError(b, caller.Accept(answer))
			caller.Begin()
			ours.Begin()
			sound := chirp(20 * benchTime)
			caller.Play(1, sound)
			ours.Play(1, sound)
			var taps []*media.Tap
			for _, mode := range modes {
				tap, errTap := ours.Tap(mode, func([]byte) {})
				require.NoError(b, errTap)
				taps = append(taps, tap)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, t := range taps {
					t.Speak(sound[:media.TapFrame])
				}
				for _, t := range turns {
					t.Frame()
				}
			}
		})
	}
}
