package g711_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media/g711"
)

func TestEncodingMatchesG711Values(t *testing.T) {
	for mu, want := range map[byte]int16{0x00: -32124, 0x80: 32124, 0xFF: 0, 0x7F: 0, 0xF0: 120, 0x70: -120, 0xEF: 132, 0x8F: 16764} {
		assert.Equal(t, want, g711.MuToLinear(mu), "%#x", mu)
	}
	for a, want := range map[byte]int16{0xD5: 8, 0x55: -8, 0xAA: 32256, 0x2A: -32256, 0xC5: 264, 0x45: -264} {
		assert.Equal(t, want, g711.AToLinear(a), "%#x", a)
	}
}

func TestEveryByteSurvivesRoundTrip(t *testing.T) {
	for i := range 256 {
		b := byte(i)
		assert.Equal(t, g711.MuToLinear(b), g711.MuToLinear(g711.LinearToMu(g711.MuToLinear(b))))
		assert.Equal(t, b, g711.LinearToA(g711.AToLinear(b)))
	}
}

func TestQuantizationErrorIsProportionalToValue(t *testing.T) {
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		for name, got := range map[string]int16{"µ": g711.MuToLinear(g711.LinearToMu(int16(v))), "A": g711.AToLinear(g711.LinearToA(int16(v)))} {
			if diff := math.Abs(float64(got) - float64(v)); diff > math.Abs(float64(v))/30+16 {
				t.Fatalf("%s: %d became %d", name, v, got)
			}
		}
	}
}

func TestCodesAreOrderedLikeTheirValues(t *testing.T) {
	last := math.MinInt32
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		got := int(g711.MuToLinear(g711.LinearToMu(int16(v))))
		if got < last {
			t.Fatalf("at %d", v)
		}
		last = got
	}
}

func TestTranscodingBetweenLawsKeepsAudio(t *testing.T) {
	mu := make([]byte, 256)
	for i := range mu {
		mu[i] = byte(i)
	}
	a, back := make([]byte, 256), make([]byte, 256)
	g711.MuToA(a, mu)
	g711.AToMu(back, a)
	for i := range mu {
		was, is := float64(g711.MuToLinear(mu[i])), float64(g711.MuToLinear(back[i]))
		assert.InDelta(t, was, is, math.Abs(was)/16+16)
	}
	assert.Equal(t, mu[0x80], g711.EncodeMu(g711.DecodeMu(mu[0x80:0x81]))[0])
}
