package g722_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g722"
)

// ffmpeg converts audio between two formats with ffmpeg, an independent implementation of the codec.
func ffmpeg(t *testing.T, in []byte, from, to []string) []byte {
	t.Helper()
	args := append([]string{"-hide_banner", "-loglevel", "error"}, from...)
	args = append(append(append(args, "-i", "pipe:0"), to...), "pipe:1")
	cmd := exec.CommandContext(t.Context(), "ffmpeg", args...)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	require.NoError(t, err, "make tools installs ffmpeg")
	return out
}

var (
	rawWide   = []string{"-f", "s16le", "-ar", "16000", "-ac", "1"}
	codedG722 = []string{"-f", "g722"}
	// encodeG722 disables ffmpeg's trellis search, so that the recommendation determines every bit of the output.
	encodeG722 = []string{"-c:a", "g722", "-trellis", "0", "-f", "g722"}
)

func toBytes(pcm []int16) []byte {
	b := make([]byte, 0, 2*len(pcm))
	for _, v := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func fromBytes(b []byte) []int16 {
	pcm := make([]int16, len(b)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return pcm
}

// words generates audio like speech: a gliding voice with overtones, pauses and some noise.
func words(rate, seconds int) []int16 {
	r := rand.New(rand.NewPCG(3, 4))
	pcm := make([]int16, rate*seconds)
	phase := 0.0
	for i := range pcm {
		at := float64(i) / float64(rate)
		phase += 2 * math.Pi * (160 + 60*math.Sin(2*math.Pi*0.7*at)) / float64(rate)
		loud := 5000 * math.Max(0, math.Sin(2*math.Pi*1.3*at))
		v := 0.0
		for k := 1.0; k <= 12; k++ {
			v += math.Sin(k*phase) / k
		}
		pcm[i] = int16(loud*v + 60*r.NormFloat64())
	}
	return pcm
}

// snr returns the highest signal-to-noise ratio in dB of got against want, over shifts up to shiftMost samples.
func snr(want, got []int16, shiftMost int) float64 {
	best := math.Inf(-1)
	for shift := range shiftMost + 1 {
		signal, noise := 0.0, 0.0
		for i := 1000; i+shift < min(len(want), len(got)); i++ {
			w, g := float64(want[i]), float64(got[i+shift])
			signal += w * w
			noise += (w - g) * (w - g)
		}
		best = max(best, 10*math.Log10(signal/max(noise, 1e-9)))
	}
	return best
}

func TestDecoderMatchesFFmpegDecoder(t *testing.T) {
	pcm := words(16000, 8)
	code := ffmpeg(t, toBytes(pcm), rawWide, encodeG722)
	theirs := fromBytes(ffmpeg(t, code, codedG722, rawWide))
	ours := make([]int16, 2*len(code))
	require.Equal(t, len(ours), g722.NewDecoder().Wide(ours, code))
	assert.Greater(t, snr(theirs, ours, 0), 60.0, "sample by sample")
	assert.Greater(t, snr(pcm, ours, 24), 15.0)
}

func TestFFmpegDecodesEncoderOutput(t *testing.T) {
	pcm := words(16000, 8)
	code := make([]byte, len(pcm)/2)
	require.Equal(t, len(code), g722.NewEncoder().Wide(code, pcm))
	theirs := fromBytes(ffmpeg(t, code, codedG722, rawWide))
	assert.Greater(t, snr(pcm, theirs, 24), 15.0)
	reference := ffmpeg(t, toBytes(pcm), rawWide, encodeG722)
	same := 0
	for i := range min(len(reference), len(code)) {
		if reference[i] == code[i] {
			same++
		}
	}
	assert.Greater(t, float64(same)/float64(len(code)), 0.99, "byte by byte")
}

func TestNarrowMatchesAudioAt8kHz(t *testing.T) {
	pcm := words(8000, 8)
	code := make([]byte, len(pcm))
	require.Equal(t, len(code), g722.NewEncoder().Narrow(code, pcm))
	ours := make([]int16, len(code))
	require.Equal(t, len(ours), g722.NewDecoder().Narrow(ours, code))
	assert.Greater(t, snr(pcm, ours, 2), 20.0)

	// ffmpeg decodes our stream, and we decode ffmpeg's stream. ffmpeg resamples to 8 kHz.
	narrow := []string{"-f", "s16le", "-ar", "8000", "-ac", "1"}
	theirs := fromBytes(ffmpeg(t, code, codedG722, narrow))
	assert.Greater(t, snr(pcm, theirs, 40), 10.0)
	code = ffmpeg(t, toBytes(pcm), narrow, append([]string{"-ar", "16000"}, encodeG722...))
	ours = make([]int16, len(code))
	g722.NewDecoder().Narrow(ours, code)
	assert.Greater(t, snr(pcm, ours, 40), 10.0)
}

func TestG722FullScaleAudioDoesNotOverflow(t *testing.T) {
	pcm := make([]int16, 3200)
	for i := range pcm {
		pcm[i] = int16(32767 - 65535*(i/7%2))
	}
	code := make([]byte, len(pcm)/2)
	g722.NewEncoder().Wide(code, pcm)
	theirs := fromBytes(ffmpeg(t, code, codedG722, rawWide))
	ours := make([]int16, len(pcm))
	g722.NewDecoder().Wide(ours, code)
	assert.Greater(t, snr(theirs, ours, 0), 40.0)
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0, 255, 4, 63, 64})
	f.Fuzz(func(_ *testing.T, code []byte) {
		out := make([]int16, 2*len(code))
		g722.NewDecoder().Wide(out, code)
		g722.NewDecoder().Narrow(out, code)
	})
}

func BenchmarkEncodeNarrow20ms(b *testing.B) {
	pcm, code, c := words(8000, 1)[:160], make([]byte, 160), g722.NewEncoder()
	b.ReportAllocs()
	for b.Loop() {
		c.Narrow(code, pcm)
	}
}

func BenchmarkDecodeNarrow20ms(b *testing.B) {
	pcm, code, c := make([]int16, 160), make([]byte, 160), g722.NewDecoder()
	g722.NewEncoder().Narrow(code, words(8000, 1))
	b.ReportAllocs()
	for b.Loop() {
		c.Narrow(pcm, code)
	}
}

func BenchmarkEncodeWide20ms(b *testing.B) {
	pcm, code, c := words(16000, 1)[:320], make([]byte, 160), g722.NewEncoder()
	b.ReportAllocs()
	for b.Loop() {
		c.Wide(code, pcm)
	}
}

func BenchmarkDecodeWide20ms(b *testing.B) {
	pcm, code, c := make([]int16, 320), make([]byte, 160), g722.NewDecoder()
	g722.NewEncoder().Wide(code, words(16000, 1))
	b.ReportAllocs()
	for b.Loop() {
		c.Wide(pcm, code)
	}
}
