package dtmf_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/dtmf"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/tone"
)

// detect feeds audio in frames of 20 ms and returns the detected keys.
func detect(mu []byte) (keys string, presses []dtmf.Press) {
	var d dtmf.Detector
	for len(mu) > 0 {
		n := min(len(mu), 160)
		if p, ok := d.Frame(mu[:n]); ok {
			keys, presses = keys+string(p.Key), append(presses, p)
		}
		mu = mu[n:]
	}
	return keys, presses
}

// pair describes a key press on a bad line: levels of both tones in dB of full scale, frequency deviation and noise.
type pair struct {
	low, high float64
	off       float64
	length    time.Duration
	noise     float64
}

func (p pair) sound(r *rand.Rand, low, high float64) []byte {
	n := int(p.length * 8000 / time.Second)
	out := make([]byte, n+1200)
	phase := r.Float64()
	for i := range out {
		v := p.noise * r.NormFloat64()
		if i < n {
			at := float64(i)/8000 + phase
			v += math.Pow(10, p.low/20)*math.Sin(2*math.Pi*low*(1+p.off)*at) + math.Pow(10, p.high/20)*math.Sin(2*math.Pi*high*(1+p.off)*at)
		}
		out[i] = g711.LinearToMu(int16(min(max(v*32767, -32767), 32767)))
	}
	return out
}

func TestDetectorFindsEveryKey(t *testing.T) {
	const all = "0123456789*#ABCD1100"
	keys, presses := detect(tone.Keys(all))
	assert.Equal(t, all, keys)
	for _, p := range presses {
		assert.InDelta(t, 800, p.Samples, 110, "100 ms")
	}
}

func TestDetectorFindsKeysWithinQ24Tolerances(t *testing.T) {
	rows, columns := []float64{697, 770, 852, 941}, []float64{1209, 1336, 1477, 1633}
	for name, p := range map[string]pair{
		"loud":              {-6.1, -6.1, 0, 50 * time.Millisecond, 0},
		"soft":              {-38, -38, 0, 50 * time.Millisecond, 0},
		"short":             {-12, -12, 0, 40 * time.Millisecond, 0},
		"long":              {-12, -12, 0, 3 * time.Second, 0},
		"high by 6 dB":      {-18, -12, 0, 50 * time.Millisecond, 0},
		"low by 6 dB":       {-12, -18, 0, 50 * time.Millisecond, 0},
		"1.5 % too high":    {-12, -12, 0.015, 50 * time.Millisecond, 0},
		"1.5 % too low":     {-12, -12, -0.015, 50 * time.Millisecond, 0},
		"noise, 20 dB less": {-12, -12, 0, 60 * time.Millisecond, 0.025},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		for i, low := range rows {
			for k, high := range columns {
				for range 8 {
					keys, _ := detect(append(tone.Silence(time.Duration(r.IntN(20))*time.Millisecond), p.sound(r, low, high)...))
					assert.Equal(t, string("123A456B789C*0#D"[4*i+k]), keys, name)
				}
			}
		}
	}
}

func TestDetectorIgnoresOtherSignals(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 8000*20)
	for i := range noise {
		noise[i] = g711.LinearToMu(int16(6000 * r.NormFloat64()))
	}
	for name, mu := range map[string][]byte{
		"silence": tone.Silence(time.Second), "noise": noise, "ringback": tone.Ringback(6 * time.Second), "beep": tone.Beep(time.Second),
		"one tone": tone.Make(time.Second, 0.3, 770), "three": tone.Make(time.Second, 0.2, 770, 941, 1336), "too short": tone.Make(20*time.Millisecond, 0.25, 770, 1336),
		"dial tone": tone.Make(time.Second, 0.2, 350, 440), "3 % off": tone.Make(100*time.Millisecond, 0.25, 770*1.035, 1336*1.035),
		"too soft": tone.Make(100*time.Millisecond, 0.0015, 770, 1336), "chord": tone.Make(time.Second, 0.1, 697, 1209, 1568, 2093),
	} {
		keys, _ := detect(mu)
		assert.Empty(t, keys, name)
	}
}

// prose is text for speech synthesis; it contains spoken numbers but no key presses.
const prose = `Good morning, this is the office of Doctor Miller. I am calling about your appointment on Tuesday, the twenty third.
If that still suits you, please stay on the line; if not, we can look for another day together. The weather will be fine,
they say, with a little wind in the evening and no rain until Thursday. She sells sea shells by the sea shore, and the shells
she sells are sea shells, I am sure. Zero, one, two, three, four, five, six, seven, eight, nine, ten. Our number is
five five five, zero one four two. Every morning he whistled an old tune, loud and clear, while the kettle sang on the stove.
You are being recorded, so that we can train our people. Thank you very much, good bye, and do call again whenever you like!`

// spoken returns prose spoken by a voice, as 8 kHz µ-law.
func spoken(t *testing.T, voice string, pitch, speed int) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "espeak-ng", "-v", voice, "-p", strconv.Itoa(pitch), "-s", strconv.Itoa(speed), "--stdout", prose).Output()
	require.NoError(t, err, "make tools installs espeak-ng")
	at := bytes.Index(out, []byte("data"))
	require.Positive(t, at)
	raw := out[at+8:]
	rate := float64(binary.LittleEndian.Uint32(out[24:]))
	mu := make([]byte, int(float64(len(raw)/2)*8000/rate)-1)
	for i := range mu { // linear interpolation aliases, which makes false detections more likely
		x := float64(i) * rate / 8000
		k := int(x)
		a, b := int16(binary.LittleEndian.Uint16(raw[2*k:])), int16(binary.LittleEndian.Uint16(raw[2*k+2:]))
		mu[i] = g711.LinearToMu(int16(float64(a) + (float64(b)-float64(a))*(x-float64(k))))
	}
	return mu
}

func TestDetectorFindsNoKeyInSpeech(t *testing.T) {
	total := 0
	for i, voice := range strings.Fields("en en+f2 en+f4 en+m3 en+m7 en+whisper en-us en-us+f5 de de+f1 es+f3 fr+m2") {
		mu := spoken(t, voice, 20+6*i, 130+10*(i%5))
		total += len(mu)
		keys, _ := detect(mu)
		assert.Empty(t, keys, voice)
		loud := make([]byte, len(mu))
		for k, b := range mu {
			loud[k] = g711.LinearToMu(int16(min(max(4*int(g711.MuToLinear(b)), -32767), 32767))) // clipped
		}
		keys, _ = detect(loud)
		assert.Empty(t, keys, voice+", too loud")
	}
	assert.Greater(t, total, 8000*300, "five minutes, and as much clipped")
}

func TestDetectorFindsKeyDuringSpeech(t *testing.T) {
	words := spoken(t, "en", 50, 150)[:8000*3]
	for i := range words { // the echo of our own prompt
		words[i] = g711.LinearToMu(g711.MuToLinear(words[i]) / 16)
	}
	keys := tone.Keys("12345")
	for i, b := range keys {
		words[4000+i] = g711.LinearToMu(int16(min(max(int(g711.MuToLinear(words[4000+i]))+int(g711.MuToLinear(b)), -32767), 32767)))
	}
	found, _ := detect(words)
	assert.Equal(t, "12345", found)
}

func TestShortInterruptionOfToneIsOnePress(t *testing.T) {
	mu := tone.Make(300*time.Millisecond, 0.25, 770, 1336)
	copy(mu[800:], tone.Silence(10*time.Millisecond))
	keys, _ := detect(append(mu, tone.Silence(100*time.Millisecond)...))
	assert.Equal(t, "5", keys)
}

func TestSameKeyTwiceIsTwoPresses(t *testing.T) {
	for offset := range 102 {
		mu := tone.Silence(time.Duration(offset) * time.Second / 8000)
		for range 2 {
			mu = append(append(mu, tone.Make(50*time.Millisecond, 0.25, 852, 1477)...), tone.Silence(45*time.Millisecond)...)
		}
		keys, _ := detect(mu)
		assert.Equal(t, "99", keys, offset)
	}
}

func FuzzDetector(f *testing.F) {
	f.Add(tone.Keys("5"), 7)
	f.Fuzz(func(t *testing.T, mu []byte, n int) {
		var d dtmf.Detector
		for n = min(max(n, 1), 400); len(mu) > 0; {
			k := min(n, len(mu))
			if p, ok := d.Frame(mu[:k]); ok {
				_, known := dtmf.Code(p.Key)
				assert.True(t, known)
			}
			mu = mu[k:]
		}
	})
}

func BenchmarkDetector20ms(b *testing.B) {
	var d dtmf.Detector
	frame := tone.Make(20*time.Millisecond, 0.25, 770, 1336)
	b.ReportAllocs()
	for b.Loop() {
		d.Frame(frame)
	}
}
