package vad_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/vad"
)

// edges feeds audio to a detector in frames of 20 ms and returns the changes by their time.
func edges(sound []byte) map[time.Duration]vad.Edge {
	var d vad.Detector
	out := map[time.Duration]vad.Edge{}
	for i := 0; i+160 <= len(sound); i += 160 {
		if e := d.Frame(sound[i : i+160]); e != vad.None {
			out[time.Duration(i/8+20)*time.Millisecond] = e
		}
	}
	return out
}

// noise generates random noise with an amplitude in units of 16-bit samples.
func noise(d time.Duration, amplitude float64) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	out := make([]byte, d*8000/time.Second)
	for i := range out {
		out[i] = g711.LinearToMu(int16((r.Float64()*2 - 1) * amplitude))
	}
	return out
}

func over(a, b []byte) []byte {
	out := make([]byte, len(a))
	for i := range a {
		out[i] = g711.LinearToMu(g711.MuToLinear(a[i]) + g711.MuToLinear(b[i]))
	}
	return out
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func TestSpeechStartsAfter200MillisecondsAndEndsAfter500OfSilence(t *testing.T) {
	word := func(d time.Duration) []byte { return tone.Make(d, 0.2, 300, 700) }
	sound := join(tone.Silence(time.Second), word(400*time.Millisecond), tone.Silence(200*time.Millisecond), word(400*time.Millisecond),
		tone.Silence(2*time.Second))
	assert.Equal(t, map[time.Duration]vad.Edge{1200 * time.Millisecond: vad.Began, 2500 * time.Millisecond: vad.Ended}, edges(sound))
	assert.Empty(t, edges(join(tone.Silence(time.Second), word(150*time.Millisecond), tone.Silence(time.Second))), "a cough")
}

func TestNoiseFloorFollowsNoise(t *testing.T) {
	background := noise(20*time.Second, 400)
	assert.Empty(t, edges(join(tone.Silence(100*time.Millisecond), background)), "noise is no speech")
	speech := join(tone.Silence(10*time.Second), tone.Make(time.Second, 0.3, 500), tone.Silence(9*time.Second))
	assert.Equal(t, map[time.Duration]vad.Edge{10200 * time.Millisecond: vad.Began, 11500 * time.Millisecond: vad.Ended},
		edges(over(background, speech)))
	assert.Contains(t, edges(tone.Make(time.Second, 0.2, 300, 700)), 200*time.Millisecond, "one who speaks at once is heard")
}

func TestLevelIsRelativeToFullScale(t *testing.T) {
	assert.InDelta(t, -100, vad.Level(tone.Silence(time.Second)), 0.1)
	assert.InDelta(t, -9.2, vad.Level(tone.Make(time.Second, 0.5, 1000)), 0.3)
}
