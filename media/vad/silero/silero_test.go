package silero_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/vad/silero"
)

// modules is the folder of the npm packages that make tools installs.
const modules = "../../../cmd/callboard/testdata/clients/node_modules"

// spoken returns a sentence of espeak-ng as 8 kHz samples from -1 to 1.
func spoken(t testing.TB, voice, text string) []float32 {
	t.Helper()
	e, err := speech.NewEspeak(1, 10*time.Second)
	require.NoError(t, err, "make tools installs espeak-ng")
	clip, err := e.Speak(t.Context(), speech.Request{Text: text, Voice: voice})
	require.NoError(t, err)
	out := make([]float32, len(clip))
	for i, b := range clip {
		out[i] = float32(g711.MuToLinear(b)) / 32768
	}
	return out
}

// testAudio returns speech of several voices, silence, noise, a tone and clipped speech, one after another.
func testAudio(t testing.TB) (audio []float32) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(seconds, level float64) {
		for range int(seconds * 8000) {
			audio = append(audio, float32(level*(2*r.Float64()-1)))
		}
	}
	for _, voice := range []string{"en-us", "de", "fr+f3"} {
		audio = append(audio, spoken(t, voice, "I would like to book an appointment for Tuesday at half past nine.")...)
		noise(0.5, 0.01)
	}
	audio = append(audio, make([]float32, 8000)...)
	noise(1, 0.5)
	for i := range 8000 {
		audio = append(audio, float32(0.4*math.Sin(2*math.Pi*440*float64(i)/8000)))
	}
	for _, v := range spoken(t, "en-us+m4", "Stop. Who is this?") {
		audio = append(audio, min(max(20*v, -1), 1))
	}
	return audio
}

// probabilities returns the probability of each complete window.
func probabilities(t testing.TB, audio []float32) (all []float32) {
	t.Helper()
	d, err := silero.New()
	require.NoError(t, err)
	for ; len(audio) >= silero.WindowLength; audio = audio[silero.WindowLength:] {
		all = append(all, d.Probability((*[silero.WindowLength]float32)(audio)))
	}
	return all
}

// Every probability equals that of the reference runtime, within 1e-3.
func TestProbabilitiesMatchReferenceRuntime(t *testing.T) {
	t.Parallel()
	audio := testAudio(t)
	var raw bytes.Buffer
	require.NoError(t, binary.Write(&raw, binary.LittleEndian, audio))
	path, err := filepath.Abs(modules)
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), "node", "testdata/reference.mjs", path, "silero_vad.onnx")
	c.Stdin, c.Stderr = &raw, os.Stderr
	out, err := c.Output()
	require.NoError(t, err, "make tools installs node and onnxruntime-web")
	var want []float32
	require.NoError(t, json.Unmarshal(out, &want))
	got := probabilities(t, audio)
	require.Len(t, got, len(want))
	require.Greater(t, len(want), 400)
	for i := range want {
		require.InDeltaf(t, want[i], got[i], 1e-3, "window %d", i)
	}
}

func TestEmbeddedModelIsThatOfNpmPackage(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(modules + "/@ricky0123/vad-web/dist/silero_vad_v6.onnx")
	require.NoError(t, err, "make tools installs the package")
	got, err := os.ReadFile("silero_vad.onnx")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
}

func TestSpeechIsProbableAndNoiseIsNot(t *testing.T) {
	t.Parallel()
	mean := func(all []float32) (sum float32) {
		for _, p := range all {
			sum += p / float32(len(all))
		}
		return sum
	}
	assert.Greater(t, mean(probabilities(t, spoken(t, "en-us", "Please put me through to the person who is in charge."))), float32(0.7))
	r := rand.New(rand.NewPCG(3, 4))
	noise := make([]float32, 5*8000)
	for i := range noise {
		noise[i] = float32(0.1 * r.NormFloat64())
	}
	assert.Less(t, mean(probabilities(t, noise)), float32(0.1))
}

func TestResetReturnsToBeginningOfStream(t *testing.T) {
	t.Parallel()
	audio := testAudio(t)[:4*silero.WindowLength]
	d, err := silero.New()
	require.NoError(t, err)
	run := func() (all []float32) {
		for a := audio; len(a) > 0; a = a[silero.WindowLength:] {
			all = append(all, d.Probability((*[silero.WindowLength]float32)(a)))
		}
		return all
	}
	first := run()
	assert.NotEqual(t, first, run(), "the second run continues the stream")
	d.Reset()
	assert.Equal(t, first, run())
}

func TestProbabilityAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts all goroutines
	d, err := silero.New()
	require.NoError(t, err)
	var window [silero.WindowLength]float32
	assert.Zero(t, testing.AllocsPerRun(100, func() { d.Probability(&window) }))
}

func BenchmarkProbability(b *testing.B) {
	d, err := silero.New()
	require.NoError(b, err)
	audio := spoken(b, "en-us", "How much does one window cost?")
	b.ReportAllocs()
	for b.Loop() {
		d.Probability((*[silero.WindowLength]float32)(audio))
	}
}
