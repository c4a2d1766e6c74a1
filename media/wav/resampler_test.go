package wav_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/wav"
)

func TestResamplerOutputIsSameForAnyChunks(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	in := make([]int16, 30000)
	for i := range in {
		in[i] = int16(dice.IntN(20000) - 10000)
	}
	for _, rate := range []int{8000, 16000, 22050, 24000, 44100, 48000} {
		whole, err := wav.Resample(in, rate, 8000)
		require.NoError(t, err)
		r, err := wav.NewResampler(rate, 8000)
		require.NoError(t, err)
		var got []int16
		for rest := in; len(rest) > 0; {
			n := min(1+dice.IntN(700), len(rest))
			got = append(got, r.Write(rest[:n])...)
			rest = rest[n:]
		}
		got = append(got, r.Flush()...)
		assert.Equal(t, whole, got, rate)
		assert.Len(t, got, (len(in)*8000+rate-1)/rate, rate)
	}
	_, err := wav.NewResampler(1, 8000)
	require.ErrorIs(t, err, wav.ErrFormat)
}
