package testspeech_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/testspeech"
	"github.com/callboard/callboard/media/wav"
)

const sentence = "Hello, who is calling, please?"

func TestVoicesOfTheSetsDiffer(t *testing.T) {
	t.Parallel()
	set := map[testspeech.Voice]string{}
	variants := map[string]string{}
	for name, voices := range map[string][]testspeech.Voice{"tuning": testspeech.TuningVoices(), "report": testspeech.ReportVoices(), "background": testspeech.BackgroundVoices()} {
		assert.GreaterOrEqual(t, len(voices), 8, name)
		for _, v := range voices {
			v.Rate = 0
			assert.NotContains(t, set, v, "%s of the set %s is in another one", v, name)
			set[v] = name
			language, variant, _ := strings.Cut(v.Name, "+")
			if variant == "" {
				variant = "voice of " + language
			}
			if other, used := variants[variant]; used {
				assert.Equal(t, other, name, "variant %s is in two sets", variant)
			}
			variants[variant] = name
		}
	}
}

// Espeak says nothing of a variant that it does not apply, as in en-gb+f4.
func TestVoicesSoundDifferent(t *testing.T) {
	t.Parallel()
	said := map[string]testspeech.Voice{}
	for _, voices := range [][]testspeech.Voice{testspeech.TuningVoices(), testspeech.ReportVoices(), testspeech.BackgroundVoices()} {
		for _, v := range voices {
			if v.Engine != testspeech.Espeak {
				continue // make dialogues installs the others
			}
			v.Rate = 0
			s, err := testspeech.Say(v, "Hello.")
			require.NoError(t, err)
			bytes := string(s.Mu())
			assert.NotContains(t, said, bytes, "%s sounds as %s", v, said[bytes])
			said[bytes] = v
		}
	}
}

func TestSpeechHasStandardLevelAndNoSilenceAround(t *testing.T) {
	t.Parallel()
	voices := []testspeech.Voice{testspeech.ReportVoices()[2]}
	if os.Getenv("DIALOGUES") != "" {
		voices = append(testspeech.TuningVoices(), testspeech.ReportVoices()...)
	}
	for _, v := range voices {
		s, err := testspeech.Say(v, sentence)
		require.NoError(t, err, v)
		assert.InDelta(t, testspeech.StandardLevel, s.Level(), 0.001, v)
		assert.Less(t, s.Peak(), 1.0, "%s is clipped", v)
		assert.InDelta(t, 1.9, s.Duration().Seconds(), 0.9, v)
		edge := testspeech.Samples(20 * time.Millisecond)
		assert.Greater(t, s[:edge].Peak(), 0.001, v)
		assert.Greater(t, s[len(s)-edge:].Peak(), 0.001, v)
		assert.InDelta(t, testspeech.StandardLevel, testspeech.FromMu(s.Mu()).Level(), 0.3, "µ-law of %s", v)
	}
}

func TestChangedSpeechDoesNotChangeTheCache(t *testing.T) {
	t.Parallel()
	v := testspeech.ReportVoices()[2]
	one, err := testspeech.Say(v, sentence)
	require.NoError(t, err)
	clear(one)
	two, err := testspeech.Say(v, sentence)
	require.NoError(t, err)
	assert.InDelta(t, testspeech.StandardLevel, two.Level(), 0.001)
}

func TestUnknownVoicesAreErrors(t *testing.T) {
	t.Parallel()
	for _, v := range []testspeech.Voice{{Engine: testspeech.Espeak, Name: "xx-yy"}, {Engine: "horn", Name: "rms"}} {
		_, err := testspeech.Say(v, sentence)
		require.ErrorContains(t, err, v.Name)
	}
}

func TestStoredSpeechIsNotSynthesizedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "speech")
	say := func() testspeech.Sound {
		c, err := testspeech.NewCache(dir)
		require.NoError(t, err)
		said, err := c.Say(testspeech.ReportVoices()[3], sentence)
		require.NoError(t, err)
		return said
	}
	first := say()
	assert.Equal(t, first, say())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	noise, err := testspeech.White(time.Second)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, files[0].Name()), wav.EncodePCM(1, noise.PCM()), 0o600))
	assert.Equal(t, time.Second, say().Duration().Round(10*time.Millisecond), "the file is read")
}

func TestNoisesHaveExactLevelAndAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	for _, n := range testspeech.Noises() {
		one, err := n.Make(2 * time.Second)
		require.NoError(t, err, n.Name)
		two, err := n.Make(2 * time.Second)
		require.NoError(t, err, n.Name)
		assert.Equal(t, one.Mu(), two.Mu(), n.Name)
		assert.Len(t, one, 2*testspeech.Rate, n.Name)
		assert.InDelta(t, testspeech.StandardLevel, one.Level(), 0.001, n.Name)
	}
}

func TestMixPutsNoiseBelowSpeech(t *testing.T) {
	t.Parallel()
	noise, err := testspeech.Pink(time.Second)
	require.NoError(t, err)
	speech := make(testspeech.Sound, 3*testspeech.Rate)
	for i := range testspeech.Rate { // the rest is silence
		speech[i+testspeech.Rate/2] = 0.2 * math.Sin(2*math.Pi*300*float64(i+1)/testspeech.Rate)
	}
	mixed := testspeech.Mix(speech, noise, 12)
	require.Len(t, mixed, len(speech))
	for i := range mixed {
		mixed[i] -= speech[i]
	}
	assert.InDelta(t, speech.Level()-12, mixed.Level(), 0.001)
	assert.InDelta(t, mixed[100], mixed[100+testspeech.Rate], 1e-9, "the noise is repeated")
}

// power returns the power of a frequency in Hz.
func power(s testspeech.Sound, hertz float64) float64 {
	re, im := 0.0, 0.0
	for i, v := range s {
		x := 2 * math.Pi * hertz * float64(i) / testspeech.Rate
		window := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(s)))
		re += v * window * math.Cos(x)
		im += v * window * math.Sin(x)
	}
	return re*re + im*im
}

func TestMusicHasPitchesOfItsScore(t *testing.T) {
	t.Parallel()
	instruments := map[string]testspeech.Instrument{"piano": testspeech.Piano(), "strings": testspeech.Strings(), "flute": testspeech.Flute(), "bass": testspeech.Bass()}
	for name, instrument := range instruments {
		played, err := testspeech.Score{BeatsPerMinute: 120, Parts: []testspeech.Part{{Instrument: instrument, Volume: 1, Notes: "a4:1 c5:1 f#3:1 -:1"}}}.Play()
		require.NoError(t, err)
		require.Len(t, played, 2*testspeech.Rate, name)
		for beat, hertz := range []float64{440, 523.25, 185} {
			part := played[beat*testspeech.Rate/2 : (beat+1)*testspeech.Rate/2]
			for _, semitones := range []float64{-1, 1} {
				assert.Greater(t, power(part, hertz), 10*power(part, hertz*math.Pow(2, semitones/12)), "%s, beat %d", name, beat)
			}
		}
		assert.Zero(t, played[3*testspeech.Rate/2+1:].Peak(), "the rest of %s", name)
	}
	one, err := testspeech.Scores()[2].Play()
	require.NoError(t, err)
	two, err := testspeech.Scores()[2].Play()
	require.NoError(t, err)
	assert.Equal(t, one.Mu(), two.Mu(), "the same each time")
}

func TestUnreadableNotesAreErrors(t *testing.T) {
	t.Parallel()
	for _, notes := range []string{"a4", "h4:1", "a:1", "ax:1"} {
		_, err := testspeech.Score{BeatsPerMinute: 120, Parts: []testspeech.Part{{Instrument: testspeech.Piano(), Notes: notes}}}.Play()
		require.ErrorIs(t, err, testspeech.ErrScore, notes)
	}
}

// With NOISES, a directory, the noises and a sentence of each voice are written to it.
func TestWriteNoisesAndVoices(t *testing.T) { //nolint:paralleltest // writes files on request only
	dir := os.Getenv("NOISES")
	if dir == "" {
		return
	}
	write := func(name string, s testspeech.Sound) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".wav"), wav.EncodePCM(1, s.PCM()), 0o600))
	}
	for _, n := range testspeech.Noises() {
		s, err := n.Make(30 * time.Second)
		require.NoError(t, err)
		write("noise-"+n.Name, s)
	}
	for set, voices := range map[string][]testspeech.Voice{"tuning": testspeech.TuningVoices(), "report": testspeech.ReportVoices(), "background": testspeech.BackgroundVoices()} {
		for _, v := range voices {
			s, err := testspeech.Say(v, "I would like to book an appointment for tomorrow morning, please.")
			require.NoError(t, err)
			write(set+"-"+v.String(), s)
		}
	}
}

func TestFiguresSayWhetherTargetsAreMet(t *testing.T) {
	t.Parallel()
	atLeast := testspeech.Measurement{Name: "people", Value: 96.996, Unit: "%", Target: 97, AtLeast: true}
	assert.False(t, atLeast.MeetsTarget(), "it is not rounded")
	atLeast.Value = 97
	assert.True(t, atLeast.MeetsTarget())
	assert.Equal(t, "dialogues: "+fmt.Sprintf("%-72s", "people")+"       97 %            at least       97  ok", atLeast.String())
	atMost := testspeech.Measurement{Name: "delay", Value: 0.61, Unit: "s", Target: 0.6}
	assert.False(t, atMost.MeetsTarget())
	assert.True(t, strings.HasSuffix(atMost.String(), "short"))
	assert.False(t, testspeech.Measurement{Value: testspeech.Percentile(nil, 50), Target: 1}.MeetsTarget(), "nothing was measured")
	assert.InDelta(t, 3.0, testspeech.Percentile([]float64{5, 1, 3, 2, 4}, 50), 0)
	assert.InDelta(t, 5.0, testspeech.Percentile([]float64{5, 1, 3, 2, 4}, 95), 0)
	assert.InDelta(t, 75.0, testspeech.Share(3, 4), 0)
}
