package vad_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad"
)

// spoken returns a sentence of espeak-ng as samples of 8 kHz with the level in dB of full scale.
func spoken(t testing.TB, voice, text string, level float64) []float64 {
	t.Helper()
	e, err := speech.NewEspeak(1, 10*time.Second)
	require.NoError(t, err, "make tools installs espeak-ng")
	clip, err := e.Speak(t.Context(), speech.Request{Text: text, Voice: voice})
	require.NoError(t, err)
	out := make([]float64, len(clip))
	for i, b := range clip {
		out[i] = float64(g711.MuToLinear(b)) / 32768
	}
	return atLevel(out, level)
}

// atLevel changes the mean power of samples.
func atLevel(samples []float64, level float64) []float64 {
	sum := 0.0
	for _, v := range samples {
		sum += v * v
	}
	gain := math.Pow(10, level/20) / math.Sqrt(sum/float64(len(samples)))
	for i := range samples {
		samples[i] *= gain
	}
	return samples
}

func gaussianNoise(seconds, level float64) []float64 {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]float64, int(seconds*8000))
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return atLevel(out, level)
}

// stream is audio that a detector hears frame by frame, and what the detector says of it.
type stream struct {
	testing.TB
	detector *vad.Neural
}

func newStream(t testing.TB) *stream {
	t.Helper()
	d, err := vad.NewNeural()
	require.NoError(t, err)
	return &stream{TB: t, detector: d}
}

// hear passes samples to the detector, the sum of all layers, and returns when speech began and ended, from the
// beginning of the samples.
func (s *stream) hear(layers ...[]float64) (began, ended []time.Duration) {
	length := 0
	for _, l := range layers {
		length = max(length, len(l))
	}
	mu := make([]byte, 0, 160)
	for i := range length {
		sum := 0.0
		for _, l := range layers {
			if i < len(l) {
				sum += l[i]
			}
		}
		mu = append(mu, g711.LinearToMu(int16(min(max(sum*32768, -32768), 32767))))
		if len(mu) < cap(mu) {
			continue
		}
		at := time.Duration(i+1) * time.Second / 8000
		switch s.detector.Frame(mu) {
		case vad.Began:
			began = append(began, at)
		case vad.Ended:
			ended = append(ended, at)
		case vad.None:
		}
		mu = mu[:0]
	}
	return began, ended
}

func quiet(seconds float64) []float64 { return make([]float64, int(seconds*8000)) }

func repeated(samples []float64, seconds float64) []float64 {
	var out []float64
	for len(out) < int(seconds*8000) {
		out = append(out, samples...)
	}
	return out[:int(seconds*8000)]
}

const question = "Hello, I would like to know when your office opens tomorrow."

func TestSpeechBeginsAndEnds(t *testing.T) {
	t.Parallel()
	for _, level := range []float64{-12, -20, -30, -38} {
		s := newStream(t)
		words := spoken(t, "en-us", question, level)
		began, ended := s.hear(append(words, quiet(1)...))
		require.Len(t, began, 1, "at %.0f dB", level)
		require.Len(t, ended, 1, "at %.0f dB", level)
		assert.Less(t, began[0], 500*time.Millisecond)
		end := time.Duration(len(words)) * time.Second / 8000
		assert.InDelta(t, (end + vad.NeuralEndSilence).Seconds(), ended[0].Seconds(), 0.3)
		assert.False(t, s.detector.Speaking())
	}
}

func TestNoiseIsNoSpeech(t *testing.T) {
	t.Parallel()
	tone := make([]float64, 5*8000)
	for i := range tone {
		tone[i] = math.Sin(2*math.Pi*440*float64(i)/8000) + math.Sin(2*math.Pi*660*float64(i)/8000)
	}
	for name, sound := range map[string][]float64{"white": gaussianNoise(10, -30), "loud white": gaussianNoise(10, -15), "tones": atLevel(tone, -20), "silence": quiet(5)} {
		began, _ := newStream(t).hear(sound)
		assert.Empty(t, began, name)
	}
}

// A television 16 dB below the caller's voice is not the caller, and does not hide the end of the caller's speech.
func TestVoicesInBackgroundAreNotTheCaller(t *testing.T) {
	t.Parallel()
	for _, voice := range []string{"en-gb", "en-us+f3", "en-us+m4", "de"} {
		s := newStream(t)
		words := spoken(t, "en-us", question, -20)
		television := repeated(spoken(t, voice, "The weather will be fine in the north. There will be some rain in the south tomorrow, and a strong wind at the coast.", -36), 60)
		began, ended := s.hear(append(words, quiet(2)...), television[:len(words)+16000])
		require.Len(t, began, 1, voice)
		require.Len(t, ended, 1, voice)
		end := time.Duration(len(words)) * time.Second / 8000
		assert.InDelta(t, (end + vad.NeuralEndSilence).Seconds(), ended[0].Seconds(), 0.3, voice)
		began, _ = s.hear(television)
		assert.Empty(t, began, voice)
		began, _ = s.hear(spoken(t, "en-us", "Stop, please.", -20), television)
		assert.Len(t, began, 1, "the caller again, over %s", voice)
	}
}

// Speech that was rejected before the caller has spoken has to become louder.
func TestRejectedSpeechIsNotHeardAgain(t *testing.T) {
	t.Parallel()
	s := newStream(t)
	television := spoken(t, "en-gb", question, -42)
	began, _ := s.hear(append(television, quiet(1)...))
	require.Len(t, began, 1)
	s.detector.Reject()
	began, _ = s.hear(append(television, quiet(1)...))
	assert.Empty(t, began)
	began, _ = s.hear(append(spoken(t, "en-us", question, -22), quiet(1)...))
	assert.Len(t, began, 1, "the caller is louder")
	began, _ = s.hear(append(spoken(t, "en-us", question, -22), quiet(1)...))
	assert.Len(t, began, 1)
	s.detector.Reject()
	began, _ = s.hear(append(spoken(t, "en-us", question, -22), quiet(1)...))
	assert.Len(t, began, 1, "the caller's voice is known")
}

// The caller's voice may become softer, as when the telephone is put on a table.
func TestSofterCallerIsHeard(t *testing.T) {
	t.Parallel()
	s := newStream(t)
	s.hear(append(spoken(t, "en-us", question, -18), quiet(1)...))
	began, _ := s.hear(append(spoken(t, "en-us", question, -26), quiet(1)...))
	assert.Len(t, began, 1)
}

func TestNeuralFrameAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts all goroutines
	s := newStream(t)
	frame := make([]byte, 160)
	assert.Zero(t, testing.AllocsPerRun(50, func() { s.detector.Frame(frame) }))
}

func BenchmarkNeuralSecond(b *testing.B) {
	d, err := vad.NewNeural()
	require.NoError(b, err)
	frame := make([]byte, 160)
	for i := range frame {
		frame[i] = byte(i * 7)
	}
	b.ReportAllocs()
	for b.Loop() {
		for range 50 {
			d.Frame(frame)
		}
	}
}
