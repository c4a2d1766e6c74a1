// Package vad tells speech from silence by energy above a floor that follows the noise. It knows no words and no clock:
// the samples it is given are its time.
package vad

import (
	"math"

	"github.com/callboard/callboard/media/g711"
)

// All lengths are in samples of 8 kHz, all levels in dB of full scale.
const (
	beginAfter = 1600  // 200 ms of speech
	endAfter   = 4000  // 500 ms of silence
	quietest   = -60.0 // the floor never lies lower
	loudest    = -30.0 // nor higher: whoever speaks without a pause is no noise
	above      = 9.0   // speech is so much above the floor
	least      = -48.0 // and never softer than this
	first      = -42.0 // nor above this at first, so that one who speaks at once is heard
	nothing    = -90.0 // digital silence
	rise       = 2.0   // dB a second by which the floor follows a louder noise
)

// Edge is what a frame changed.
type Edge uint8

// The edges.
const (
	None Edge = iota
	Began
	Ended
)

// Detector is fed every frame received. The zero value is ready.
type Detector struct {
	speaking bool
	heard    bool
	active   int
	quiet    int
	floor    float64 // relative to quietest, so that zero is the start
}

// Frame takes µ-law samples.
func (d *Detector) Frame(mu []byte) Edge {
	if len(mu) == 0 {
		return None
	}
	level := Level(mu)
	d.follow(level, len(mu))
	if level > max(quietest+d.floor+above, least) {
		d.active = min(d.active+len(mu), beginAfter)
		d.quiet = 0
	} else {
		d.active = max(d.active-len(mu), 0)
		d.quiet = min(d.quiet+len(mu), endAfter)
	}
	switch {
	case !d.speaking && d.active >= beginAfter:
		d.speaking = true
		return Began
	case d.speaking && d.quiet >= endAfter:
		d.speaking, d.active = false, 0
		return Ended
	}
	return None
}

// follow moves the floor: down at once, up slowly. Digital silence says nothing about the noise.
func (d *Detector) follow(level float64, n int) {
	floor := quietest + d.floor
	switch {
	case level <= nothing:
		return
	case !d.heard:
		d.heard = true
		floor = min(level, first)
	case level < floor:
		floor = level
	default:
		floor += rise * float64(n) / 8000
	}
	d.floor = min(max(floor, quietest), loudest) - quietest
}

// Speaking says whether somebody speaks.
func (d *Detector) Speaking() bool { return d.speaking }

// Level is the mean power of µ-law samples in dB of full scale; -100 where there is none.
func Level(mu []byte) float64 {
	sum := 0
	for _, b := range mu {
		v := int(g711.MuToLinear(b))
		sum += v * v
	}
	if sum == 0 {
		return -100
	}
	return 10 * math.Log10(float64(sum)/float64(len(mu))/(32768*32768))
}
