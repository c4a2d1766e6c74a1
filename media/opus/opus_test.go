package opus_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media/opus"
)

func frame(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*500*float64(i)/8000))
	}
	return pcm
}

func TestOpusRoundTripAt8kHzOrUnavailable(t *testing.T) {
	e, d := opus.NewEncoder(), opus.NewDecoder()
	defer e.Close()
	defer d.Close()
	packet, out := make([]byte, 1400), make([]int16, 1024)
	for _, n := range []int{80, 160, 320} {
		size := e.Encode(packet, frame(n))
		if !opus.Available {
			assert.Zero(t, size)
			assert.Zero(t, d.Decode(out, packet))
			continue
		}
		assert.Positive(t, size)
		assert.Equal(t, n, d.Decode(out, packet[:size]))
	}
	assert.Zero(t, e.Encode(packet, frame(7)), "no frame of Opus")
	assert.Zero(t, d.Decode(out, nil))
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0x08, 1, 2, 3})
	f.Fuzz(func(t *testing.T, packet []byte) {
		d := opus.NewDecoder()
		defer d.Close()
		assert.LessOrEqual(t, d.Decode(make([]int16, 1024), packet), 1024)
	})
}

func BenchmarkRoundTrip20ms(b *testing.B) {
	e, d := opus.NewEncoder(), opus.NewDecoder()
	defer e.Close()
	defer d.Close()
	pcm, packet, out := frame(160), make([]byte, 1400), make([]int16, 1024)
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(out, packet[:e.Encode(packet, pcm)])
	}
}
