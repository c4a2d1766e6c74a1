// Package tone generates signals as 8 kHz µ-law samples: beeps, ringback and DTMF tones.
package tone

import (
	"math"
	"slices"
	"time"

	"github.com/callboard/callboard/media/g711"
)

const rate = 8000

// ramp is the length in samples of a tone's fade-in and fade-out, which prevent clicks: 4 ms.
const ramp = 32

// maxLen is the maximum duration of a signal.
const maxLen = 10 * time.Minute

// Make generates a tone with several frequencies. amplitude is the amplitude of each frequency as a fraction of full
// scale.
func Make(d time.Duration, amplitude float64, hertz ...float64) []byte {
	n := length(d)
	out := make([]byte, n)
	for i := range out {
		gain := amplitude * min(1, float64(min(i, n-1-i))/ramp)
		v := 0.0
		for _, f := range hertz {
			v += math.Sin(2 * math.Pi * f * float64(i) / rate)
		}
		out[i] = g711.LinearToMu(int16(32000 * min(max(gain*v, -1), 1)))
	}
	return out
}

// Beep generates a 1000 Hz tone, as a voicemail plays it before it records.
func Beep(d time.Duration) []byte { return Make(d, 0.3, 1000) }

// Silence generates silence of duration d.
func Silence(d time.Duration) []byte {
	out := make([]byte, length(d))
	for i := range out {
		out[i] = g711.MuSilence
	}
	return out
}

// Ringback generates the North American ringback tone of duration d: 2 s of 440 and 480 Hz, 4 s of silence.
func Ringback(d time.Duration) []byte {
	ring := append(Make(2*time.Second, 0.1, 440, 480), Silence(4*time.Second)...)
	out := make([]byte, length(d))
	for i := 0; i < len(out); i += len(ring) {
		copy(out[i:], ring)
	}
	return out
}

// Waiting generates hold music to be played repeatedly: two soft notes every five seconds.
func Waiting() []byte {
	return slices.Concat(Make(250*time.Millisecond, 0.06, 523.25), Make(400*time.Millisecond, 0.06, 659.25), Silence(4350*time.Millisecond))
}

// Keys generates DTMF tones (ITU-T Q.23): 100 ms each with gaps of 100 ms. 'w' and ',' pause for half a second.
func Keys(digits string) []byte {
	var out []byte
	for i := range min(len(digits), 128) {
		if c := digits[i]; c == 'w' || c == ',' {
			out = append(out, Silence(500*time.Millisecond)...)
		} else if low, high, ok := pair(c); ok {
			out = append(out, Make(100*time.Millisecond, 0.25, low, high)...)
			out = append(out, Silence(100*time.Millisecond)...)
		}
	}
	return out
}

// pair returns the two DTMF frequencies of a key.
func pair(key byte) (low, high float64, ok bool) {
	rows := [4]float64{697, 770, 852, 941}
	columns := [4]float64{1209, 1336, 1477, 1633}
	if key >= 'a' && key <= 'd' {
		key -= 'a' - 'A'
	}
	for r, line := range [4]string{"123A", "456B", "789C", "*0#D"} {
		for c := range line {
			if line[c] == key {
				return rows[r], columns[c], true
			}
		}
	}
	return 0, 0, false
}

func length(d time.Duration) int {
	return int(min(max(d, 0), maxLen) * rate / time.Second)
}
