package mix_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/mix"
	"github.com/callboard/callboard/media/tone"
)

func TestBusAddsVoicesAndSaturates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, mix.FrameMost).Draw(t, "samples")
		voices := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), n, n), 1, 5).Draw(t, "voices")
		var bus mix.Bus
		bus.Begin(n)
		want := make([]int, n)
		for _, v := range voices {
			bus.Add(v)
			for i, b := range v {
				want[i] += int(g711.MuToLinear(b))
			}
		}
		got, others := make([]byte, n), make([]byte, n)
		bus.Sum(got)
		bus.SumWithout(others, voices[0])
		for i, w := range want {
			assert.Equal(t, mu(w), got[i], "sample %d", i)
			assert.Equal(t, mu(w-int(g711.MuToLinear(voices[0][i]))), others[i], "without the first, sample %d", i)
		}
	})
}

// mu encodes a saturated sum as µ-law.
func mu(v int) byte { return g711.LinearToMu(int16(min(max(v, -32768), 32767))) }

func TestBusKeepsSingleVoiceUnchanged(t *testing.T) {
	voice := tone.Beep(20 * time.Millisecond)
	var bus mix.Bus
	bus.Begin(len(voice))
	bus.Add(voice)
	got := make([]byte, len(voice))
	bus.Sum(got)
	assert.Equal(t, g711.DecodeMu(voice), g711.DecodeMu(got))
}

func TestBusAcceptsVoicesOfAnyLength(t *testing.T) {
	var bus mix.Bus
	bus.Begin(1000)
	bus.Add(make([]byte, 1000))
	bus.Add([]byte{0x80})
	got := make([]byte, 1000)
	bus.Sum(got)
	bus.SumWithout(got, []byte{1, 2})
	assert.Zero(t, got[mix.FrameMost])
}

func TestMixingAllocatesNothing(t *testing.T) {
	var bus mix.Bus
	voice, out := tone.Beep(20*time.Millisecond), make([]byte, 160)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		bus.Begin(160)
		bus.Add(voice)
		bus.Add(voice)
		bus.Sum(out)
		bus.SumWithout(out, voice)
	}))
}

func BenchmarkMixOfThree(b *testing.B) {
	var bus mix.Bus
	voice, out := tone.Beep(20*time.Millisecond), make([]byte, 160)
	for b.Loop() {
		bus.Begin(160)
		bus.Add(voice)
		bus.Add(voice)
		bus.Add(voice)
		bus.Sum(out)
	}
}
