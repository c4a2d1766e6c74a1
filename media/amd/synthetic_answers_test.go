package amd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/testspeech"
)

// This file makes the set of answers of the test by random numbers with a fixed seed. The two halves of the set have
// different voices and words. One half is for tuning the detector, the other for the figures. No human has spoken them.

const seconds = time.Second

// answer is one synthetic recording of an answered call.
type answer struct {
	group string
	truth amd.Class
	words string
	voice testspeech.Voice
	sound []byte        // µ-law, as a session passes it to the detector
	spoke time.Duration // end of the last word of the greeting
	beep  time.Duration // end of the beep; 0: there is none
	noise int           // index of noises; -1: a quiet line
	below float64       // level of the noise below the speech in dB
}

// half is one half of the answer set.
type half struct {
	seed   uint64
	voices []testspeech.Voice
	texts  texts
	part   int // only each part-th answer is made
}

func tuning() half { return half{1, testspeech.TuningVoices(), tuningTexts(), 1} }
func report() half { return half{2, testspeech.ReportVoices(), reportTexts(), 1} }

// smallPart is a part of the set for report, with voices of espeak-ng only.
func smallPart() half {
	h := half{seed: 2, texts: reportTexts(), part: 13}
	for _, v := range testspeech.ReportVoices() {
		if v.Engine == testspeech.Espeak {
			h.voices = append(h.voices, v)
		}
	}
	return h
}

// levels are the levels of noise in dB below the speech.
func levels() [3]float64 { return [...]float64{20, 15, 10} }

// noises returns five kinds of noise with a duration of 12 s.
func noises(t testing.TB) (out [5]testspeech.Sound) {
	t.Helper()
	for i, make12s := range []func(time.Duration) (testspeech.Sound, error){testspeech.White, testspeech.Pink, testspeech.Babble, testspeech.Music, testspeech.Television} {
		s, err := make12s(12 * seconds)
		require.NoError(t, err)
		out[i] = s
	}
	return out
}

const (
	whiteNoise = iota
	pinkNoise
	babbleNoise
	musicNoise
	televisionNoise
)

// recipe says what one answer consists of.
type recipe struct {
	group  string
	truth  amd.Class
	text   string
	before float64 // longest silence before the greeting in seconds
	again  bool    // the person says "Hello?" once more
	beep   bool
	noise  int // index of noises; -1: a quiet line
	below  float64
}

// recipes lists the answers of a half.
func (h half) recipes() (out []recipe) {
	each := func(group string, truth amd.Class, texts []string, times int, change func(i int, r *recipe)) {
		for i := range times {
			r := recipe{group: group, truth: truth, text: texts[i%len(texts)], before: 1.5, noise: -1}
			if change != nil {
				change(i, &r)
			}
			out = append(out, r)
		}
	}
	noisy := func(i int, r *recipe) { r.noise, r.below = i%5, levels()[i/5%3] }
	each("short", amd.Human, h.texts.short, 80, func(i int, r *recipe) { r.again = i%4 == 0 })
	each("business", amd.Human, h.texts.business, 80, nil)
	each("noisy", amd.Human, h.texts.short, 75, noisy)
	each("noisy business", amd.Human, h.texts.business, 75, noisy)
	each("music or television", amd.Human, h.texts.short[:5], 60, func(i int, r *recipe) {
		r.noise, r.below, r.before = musicNoise+i%2, levels()[i/2%3], 3
	})
	beeps := func(_ int, r *recipe) { r.beep = true }
	each("voicemail", amd.Voicemail, h.texts.voicemail, 120, beeps)
	each("noisy voicemail", amd.Voicemail, h.texts.voicemail, 75, func(i int, r *recipe) { noisy(i, r); r.beep = true })
	each("without beep", amd.Voicemail, h.texts.withoutTone, 40, nil)
	return out
}

// answers makes the answers of a half.
func (h half) answers(t testing.TB) []answer {
	t.Helper()
	background := noises(t)
	all := h.recipes()
	out := make([]answer, (len(all)+h.part-1)/h.part)
	var mu sync.Mutex
	var work sync.WaitGroup
	limit := make(chan struct{}, 4)
	var failed error
	for i := 0; i < len(all); i += h.part {
		work.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			b := &builder{r: rand.New(rand.NewPCG(h.seed, uint64(i)))}
			a, err := b.answer(all[i], h.voices[(i+i/len(h.voices))%len(h.voices)], background[:])
			mu.Lock()
			defer mu.Unlock()
			out[i/h.part] = a
			if err != nil {
				failed = err
			}
		})
	}
	work.Wait()
	require.NoError(t, failed)
	return out
}

// builder makes the audio of one answer. sound is the audio without noise.
type builder struct {
	r     *rand.Rand
	sound testspeech.Sound
}

func (b *builder) between(from, to float64) float64 { return from + (to-from)*b.r.Float64() }

func (b *builder) silence(from, to float64) {
	b.sound = append(b.sound, testspeech.Silence(time.Duration(b.between(from, to)*float64(seconds)))...)
}

func (b *builder) say(voice testspeech.Voice, text string) error {
	for k, sentence := range strings.SplitAfter(text, ". ") {
		said, err := testspeech.Say(voice, strings.TrimSpace(sentence))
		if err != nil {
			return err
		}
		if k > 0 {
			b.silence(0.15, 0.9)
		}
		b.sound = append(b.sound, said...)
	}
	return nil
}

//go:norace
func (b *builder) tone(hertz, length float64) {
	level := b.between(0.1, 0.3)
	for i := range int(length * testspeech.Rate) {
		b.sound = append(b.sound, level*math.Sin(2*math.Pi*hertz*float64(i)/testspeech.Rate))
	}
}

func (b *builder) answer(r recipe, voice testspeech.Voice, background []testspeech.Sound) (a answer, err error) {
	a = answer{group: r.group, truth: r.truth, words: r.text, voice: voice, noise: r.noise, below: r.below}
	b.silence(0.1, r.before)
	if err = b.say(voice, r.text); err != nil {
		return a, err
	}
	a.spoke = b.sound.Duration()
	switch {
	case r.again:
		b.silence(1.5, 2.5)
		err = b.say(voice, "Hello?")
	case r.beep:
		b.silence(0.2, 1.3)
		b.tone([]float64{425, 440, 620, 800, 850, 1000, 1004, 1400, 1650, 2000}[b.r.IntN(10)], []float64{0.15, 0.25, 0.4, 0.6, 1}[b.r.IntN(5)])
		a.beep = b.sound.Duration()
	}
	b.silence(4, 5)
	var noise testspeech.Sound
	if r.noise >= 0 {
		noise = background[r.noise]
	}
	a.sound = b.mixed(noise, r.below)
	return a, err
}

// mixed adds noise to the speech, whose level is -16 to -28 dB of full scale, and encodes it as a media session would pass it
// to the detector. On a quiet line the noise is 50 dB below the speech.
//
//go:norace
func (b *builder) mixed(noise testspeech.Sound, below float64) []byte {
	gain := math.Pow(10, (4-12*b.r.Float64())/20)
	from, noiseGain := b.r.IntN(10*testspeech.Rate), math.Pow(10, -below/20)
	line := math.Pow(10, (testspeech.StandardLevel-50)/20)
	alaw := b.r.IntN(2) == 0
	out := make([]byte, len(b.sound))
	for i, v := range b.sound {
		if noise != nil {
			v += noiseGain * noise[(from+i)%len(noise)]
		} else {
			v += line * b.r.NormFloat64()
		}
		s := int16(32767 * min(max(gain*v, -1), 1))
		if alaw {
			s = g711.AToLinear(g711.LinearToA(s))
		}
		out[i] = g711.LinearToMu(s)
	}
	return out
}

// result holds what the detector reports for an answer.
type result struct {
	first   amd.Class
	last    amd.Class
	decided time.Duration // when the verdict became that of a person or a machine for the last time
	beeps   []time.Duration
}

//go:norace
func (a *answer) judge(t testing.TB) (j result) {
	t.Helper()
	d, err := amd.NewDetector()
	require.NoError(t, err)
	for i := 0; i+160 <= len(a.sound); i += 160 {
		e := d.Frame(a.sound[i : i+160])
		at := time.Duration(i+160) * seconds / testspeech.Rate
		if e.Verdict {
			if j.decided == 0 {
				j.first = e.Class
			}
			if j.decided == 0 || e.Class.Machine() != j.last.Machine() {
				j.decided = at
			}
			j.last = e.Class
		}
		if e.Beep {
			j.beeps = append(j.beeps, at)
		}
	}
	return j
}

func (a *answer) String() string {
	return fmt.Sprintf("%s, %s, noise %d at -%.0f dB: %q", a.group, a.voice, a.noise, a.below, a.words)
}
