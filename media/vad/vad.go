// Package vad is voice activity detection: it separates speech from silence by the level above an adaptive noise
// floor. Time is measured by the samples that the detector receives.
package vad

import (
	"math"
	"time"

	"github.com/callboard/callboard/media/g711"
)

// Limits of the detection. Lengths are in samples of 8 kHz, levels in dB of full scale.
const (
	beginAfter = 1600  // 200 ms of speech
	endAfter   = 4000  // EndSilence
	quietest   = -60.0 // minimum of the noise floor
	loudest    = -30.0 // maximum of the noise floor: continuous speech must not raise it further
	above      = 9.0   // minimum distance of speech from the noise floor
	least      = -48.0 // minimum level of speech
	first      = -42.0 // initial maximum of the threshold, so that speech from the first frame on is detected
	nothing    = -90.0 // digital silence
	silence    = -100.0
	rise       = 2.0 // dB per second by which the noise floor rises
)

// EndSilence is the silence after which a Detector says that speech has ended.
const EndSilence = 500 * time.Millisecond

// Edge is a change between speech and silence.
type Edge uint8

// The results of Frame: no change, speech has begun, speech has ended.
const (
	None Edge = iota
	Began
	Ended
)

// Detector detects speech. The caller passes every received frame to Frame. The zero value is ready.
type Detector struct {
	speaking bool
	heard    bool
	active   int
	quiet    int
	floor    float64 // relative to quietest, so that zero is the start
}

// Frame processes µ-law samples and says whether speech has begun or ended.
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

// follow adapts the noise floor to the level of n samples. The floor falls at once and rises slowly. Digital silence
// does not change the floor.
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

// Speaking says whether speech is in progress.
func (d *Detector) Speaking() bool { return d.speaking }

// Level returns the mean power of µ-law samples in dB of full scale, or -100 without samples.
func Level(mu []byte) float64 {
	sum := 0
	for _, b := range mu {
		v := int(g711.MuToLinear(b))
		sum += v * v
	}
	if sum == 0 {
		return silence
	}
	return 10 * math.Log10(float64(sum)/float64(len(mu))/(32768*32768))
}
