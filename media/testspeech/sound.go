// Package testspeech makes speech of synthetic voices, and noises, for tests. Only tests import it. All audio is mono at
// 8 kHz. The same call returns the same samples, and all functions are safe for concurrent use.
package testspeech

import (
	"math"
	"time"

	"github.com/callboard/callboard/media/g711"
)

// Rate is the number of samples per second.
const Rate = 8000

// StandardLevel is the level of speech and of noises in dB of full scale.
const StandardLevel = -20.0

// NoLevel is the level of silence.
const NoLevel = -100.0

// Sound holds samples, where 1 is full scale. Functions that return a Sound return one that the caller may change.
type Sound []float64

// Samples returns the number of samples of a time.
func Samples(d time.Duration) int { return int(d * Rate / time.Second) }

// Silence returns silence.
func Silence(d time.Duration) Sound { return make(Sound, Samples(d)) }

// FromMu decodes µ-law.
func FromMu(mu []byte) Sound {
	out := make(Sound, len(mu))
	for i, b := range mu {
		out[i] = float64(g711.MuToLinear(b)) / 32768
	}
	return out
}

// Mu encodes as µ-law. Samples beyond full scale are clipped.
//
//go:norace
func (s Sound) Mu() []byte {
	out := make([]byte, len(s))
	for i, v := range s {
		out[i] = g711.LinearToMu(toInt16(v))
	}
	return out
}

// PCM returns 16-bit samples. Samples beyond full scale are clipped.
//
//go:norace
func (s Sound) PCM() []int16 {
	out := make([]int16, len(s))
	for i, v := range s {
		out[i] = toInt16(v)
	}
	return out
}

func toInt16(v float64) int16 { return int16(min(max(math.Round(v*32768), -32768), 32767)) }

// Duration returns the playing time.
func (s Sound) Duration() time.Duration { return time.Duration(len(s)) * time.Second / Rate }

// Level returns the mean power in dB of full scale. Samples of digital silence do not count, so that pauses before and
// after speech do not change its level.
//
//go:norace
func (s Sound) Level() float64 {
	sum, n := 0.0, 0
	for _, v := range s {
		if v != 0 {
			sum += v * v
			n++
		}
	}
	if n == 0 {
		return NoLevel
	}
	return 10 * math.Log10(sum/float64(n))
}

// Peak returns the greatest magnitude of the samples.
//
//go:norace
func (s Sound) Peak() float64 {
	peak := 0.0
	for _, v := range s {
		peak = max(peak, math.Abs(v))
	}
	return peak
}

// AtLevel returns the sound with the level in dB of full scale. Silence stays silence.
//
//go:norace
func (s Sound) AtLevel(level float64) Sound {
	out := make(Sound, len(s))
	gain := math.Pow(10, (level-s.Level())/20)
	for i, v := range s {
		out[i] = v * gain
	}
	return out
}

// Repeat returns the sound, repeated or cut, with the duration d.
func (s Sound) Repeat(d time.Duration) Sound {
	out := make(Sound, 0, Samples(d))
	for len(s) > 0 && len(out) < cap(out) {
		out = append(out, s[:min(len(s), cap(out)-len(out))]...)
	}
	return out
}

// Overlay returns the sum of sounds that begin together. It is as long as the longest.
//
//go:norace
func Overlay(sounds ...Sound) Sound {
	length := 0
	for _, s := range sounds {
		length = max(length, len(s))
	}
	out := make(Sound, length)
	for _, s := range sounds {
		for i, v := range s {
			out[i] += v
		}
	}
	return out
}

// Mix adds noise to speech, with a level that is below dB under that of the speech. The noise is repeated or cut to the
// length of the speech.
func Mix(speech, noise Sound, below float64) Sound {
	return Overlay(speech, noise.Repeat(speech.Duration()).AtLevel(speech.Level()-below))
}
