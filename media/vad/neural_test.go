package vad_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/testspeech"
	"github.com/callboard/callboard/media/vad"
)

// spoken returns a sentence of espeak-ng with the level in dB of full scale.
func spoken(t testing.TB, voice, text string, level float64) testspeech.Sound {
	t.Helper()
	said, err := testspeech.Say(testspeech.Voice{Engine: testspeech.Espeak, Name: voice}, text)
	require.NoError(t, err, "make tools installs espeak-ng")
	return said.AtLevel(level)
}

func gaussianNoise(t testing.TB, seconds, level float64) testspeech.Sound {
	t.Helper()
	noise, err := testspeech.White(time.Duration(seconds * float64(time.Second)))
	require.NoError(t, err)
	return noise.AtLevel(level)
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
func (s *stream) hear(layers ...testspeech.Sound) (began, ended []time.Duration) {
	mu := testspeech.Overlay(layers...).Mu()
	for i := 160; i <= len(mu); i += 160 {
		at := time.Duration(i) * time.Second / 8000
		switch s.detector.Frame(mu[i-160 : i]) {
		case vad.Began:
			began = append(began, at)
		case vad.Ended:
			ended = append(ended, at)
		case vad.None:
		}
	}
	return began, ended
}

func quiet(seconds float64) testspeech.Sound { return make(testspeech.Sound, int(seconds*8000)) }

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
	tone := make(testspeech.Sound, 5*8000)
	for i := range tone {
		tone[i] = math.Sin(2*math.Pi*440*float64(i)/8000) + math.Sin(2*math.Pi*660*float64(i)/8000)
	}
	for name, sound := range map[string]testspeech.Sound{"white": gaussianNoise(t, 10, -30), "loud white": gaussianNoise(t, 10, -15), "tones": tone.AtLevel(-20), "silence": quiet(5)} {
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
		television := spoken(t, voice, "The weather will be fine in the north. There will be some rain in the south tomorrow, and a strong wind at the coast.", -36).Repeat(time.Minute)
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

// A television 12 dB below the caller's voice does not interrupt the agent, but the caller does.
func TestOnlyLoudSpeechInterrupts(t *testing.T) {
	t.Parallel()
	s := newStream(t)
	s.hear(append(spoken(t, "en-us", question, -20), quiet(1)...))
	television := spoken(t, "en-gb", "The weather will be fine in the north.", -32).Repeat(60 * time.Second)
	s.detector.SetInterrupting(true)
	began, _ := s.hear(television)
	assert.Empty(t, began)
	began, _ = s.hear(append(spoken(t, "en-us", "Stop, please.", -20), quiet(1)...), television[:8000])
	assert.Len(t, began, 1)
	s.hear(quiet(1))
	s.detector.SetInterrupting(false)
	began, _ = s.hear(append(spoken(t, "en-us", question, -27), quiet(1)...))
	assert.Len(t, began, 1, "where nobody is interrupted the caller may be softer")
}

// After a long silence, words over the agent are heard as after a short one.
func TestShortWordsAfterLongSilenceInterrupt(t *testing.T) {
	t.Parallel()
	missed := 0
	for _, voice := range []string{"en-us+anika", "en-us+adam", "en+max"} {
		for _, word := range []string{"Stop.", "No."} {
			for shift := range 4 {
				s := newStream(t)
				s.hear(slices.Concat(quiet(2), spoken(t, voice, "Please tell me a story.", -20), quiet(0.5)))
				s.detector.SetInterrupting(true)
				began, _ := s.hear(slices.Concat(quiet(11+0.008*float64(shift)), spoken(t, voice, word, -20), quiet(1)))
				missed += 1 - min(len(began), 1)
			}
		}
	}
	assert.LessOrEqual(t, missed, 5, "of 24")
}

func TestUnknownVoiceMustBeLoudToInterrupt(t *testing.T) {
	t.Parallel()
	for level, want := range map[float64]int{-20: 1, -40: 0} {
		s := newStream(t)
		s.detector.SetInterrupting(true)
		began, _ := s.hear(append(quiet(1), append(spoken(t, "en-us", question, level), quiet(1)...)...))
		assert.Len(t, began, want, "%.0f dB", level)
	}
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
