package dtmf

import (
	"math"

	"github.com/callboard/callboard/media/g711"
)

// Limits for the detection of a DTMF tone (ITU-T Q.24). Durations are in blocks of blockLen samples of 8 kHz.
const (
	blockLen  = 102 // 12.75 ms; DTMF frequencies are at least 3 bins apart
	beginWith = 2   // blocks of the same key that begin a press: a tone of 40 ms contains two
	endWith   = 2   // blocks without the key that end a press: a gap of 40 ms contains two
	leastMean = 200 * 200.0
	share     = 0.72 // minimum share of the block's energy in the two tones
	apart     = 5.0  // minimum ratio of a row's or column's tone to the other ones
	highMore  = 10.0 // maximum ratio of the higher tone to the lower: 10 dB
	lowMore   = 10.0 // maximum ratio of the lower tone to the higher: 10 dB
	steady    = 4.0  // maximum ratio of energies of the first two blocks: the energy of a spoken syllable rises
)

// Detector detects DTMF tones in audio. The zero value is ready.
type Detector struct {
	n      int
	energy float32
	tone   [8][2]float32 // the two Goertzel states of each frequency
	key    byte          // key being pressed; 0: none
	length int           // blocks of the key so far
	misses int
	fresh  byte // key that is detected, but not for long enough yet
	count  int
	level  float32
}

// coefficients holds the Goertzel coefficient 2·cos of each DTMF frequency: four row tones, then four column tones.
var coefficients = func() (c [8]float32) {
	for i, f := range [...]float64{697, 770, 852, 941, 1209, 1336, 1477, 1633} {
		c[i] = float32(2 * math.Cos(2*math.Pi*f/8000))
	}
	return c
}()

// pad lists the keys of the keypad by row and column.
const pad = "123A456B789C*0#D"

// Frame processes µ-law samples. ended is true if a key press has ended; press then describes it.
func (d *Detector) Frame(mu []byte) (press Press, ended bool) {
	for len(mu) > 0 {
		n := min(len(mu), blockLen-d.n)
		d.add(mu[:n])
		mu = mu[n:]
		if d.n < blockLen {
			return press, ended
		}
		if p, ok := d.block(); ok {
			press, ended = p, true // at most one press ends in a frame
		}
	}
	return press, ended
}

// add passes samples to the Goertzel filters. It runs four filters at a time, so that their states stay in registers.
func (d *Detector) add(mu []byte) {
	var pcm [blockLen]float32
	x := pcm[:len(mu)]
	for i, b := range mu {
		x[i] = float32(g711.MuToLinear(b))
		d.energy += x[i] * x[i]
	}
	for k := 0; k < len(d.tone); k += 4 {
		c, t := (*[4]float32)(coefficients[k:]), (*[4][2]float32)(d.tone[k:])
		c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
		p0, p1, p2, p3 := t[0][0], t[1][0], t[2][0], t[3][0]
		q0, q1, q2, q3 := t[0][1], t[1][1], t[2][1], t[3][1]
		for _, v := range x {
			p0, q0 = c0*p0+(v-q0), p0
			p1, q1 = c1*p1+(v-q1), p1
			p2, q2 = c2*p2+(v-q2), p2
			p3, q3 = c3*p3+(v-q3), p3
		}
		*t = [4][2]float32{{p0, q0}, {p1, q1}, {p2, q2}, {p3, q3}}
	}
	d.n += len(mu)
}

// block evaluates a complete block of samples and returns a key press that has ended with it.
func (d *Detector) block() (Press, bool) {
	key, energy := d.keyOfBlock(), d.energy
	d.n, d.energy, d.tone = 0, 0, [8][2]float32{}
	if d.key != 0 && key == d.key {
		d.length += 1 + d.misses
		d.misses = 0
		return Press{}, false
	}
	if key == 0 || key != d.fresh || energy > steady*d.level || d.level > steady*energy {
		d.fresh, d.count = key, 0
	}
	d.level = energy
	if key != 0 {
		d.count++
	}
	var out Press
	ended := false
	if d.key != 0 {
		d.misses++
		if ended = d.misses >= endWith || d.count >= beginWith; ended {
			out = Press{Key: d.key, Samples: uint32(d.length * blockLen)} //nolint:gosec // below a day
			d.key, d.misses = 0, 0
		}
	}
	if d.key == 0 && d.count >= beginWith {
		d.key, d.length, d.misses, d.count, d.fresh = key, d.count, 0, 0, 0
	}
	return out, ended
}

// keyOfBlock returns the key whose tones the block contains, or 0 if there is none.
func (d *Detector) keyOfBlock() byte {
	if d.energy < leastMean*blockLen {
		return 0
	}
	var power [8]float32
	for k, c := range coefficients {
		s1, s2 := d.tone[k][0], d.tone[k][1]
		power[k] = s1*s1 + s2*s2 - c*s1*s2
	}
	row, column := strongest(power[:4]), strongest(power[4:])
	if row < 0 || column < 0 {
		return 0
	}
	low, high := power[row], power[4+column]
	if high > low*highMore || low > high*lowMore || (low+high)*2 < share*blockLen*d.energy {
		return 0
	}
	return pad[4*row+column]
}

// strongest returns the index of the tone that is much stronger than all others, or -1 if there is none.
func strongest(power []float32) int {
	best := 0
	for k, p := range power {
		if p > power[best] {
			best = k
		}
	}
	for k, p := range power {
		if k != best && p*apart > power[best] {
			return -1
		}
	}
	return best
}
