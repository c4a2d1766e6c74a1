package vad

import (
	"fmt"
	"math"
	"time"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/vad/silero"
)

// Limits of the neural detection. Lengths are in windows of 32 ms, levels in dB of full scale.
const (
	speechProbability   = 0.5                              // from which a window is speech
	continueProbability = 0.35                             // the same after the first window
	beginWindows        = 3                                // one short word, such as "no", has no more
	endWindows          = 8                                // NeuralEndSilence
	separateWindows     = 12                               // from the end of speech, after which speech that begins is another utterance
	levelWindows        = 8                                // windows over whose maximum the level of speech is measured
	beginBelowVoice     = 7.0                              // speech begins only if it is at most this far below the caller's voice
	belowVoice          = 11.0                             // speech in progress that is further below the caller's voice is from the background
	softestVoice        = -46.0                            // level from which speech counts before the caller's voice is known
	interruptingVoice   = -28.0                            // the same while speech interrupts somebody
	gateRise            = 3.0                              // distance from rejected speech that the caller's voice must have
	voiceRise           = 0.25                             // part of the difference by which the level of the voice follows louder speech, per window
	voiceFall           = 0.02                             // the same for softer speech
	voiceDrift          = 0.1 * silero.WindowLength / 8000 // dB per window by which the level falls while softer speech is rejected
	idleWindows         = 31                               // a second without speech, after which the network is reset
	driftMost           = 1.5                              // dB by which it falls at most
)

// NeuralEndSilence is the silence after which a Neural says that speech has ended. Speakers pause longer within sentences,
// so that speech may go on.
const NeuralEndSilence = endWindows * silero.WindowLength * time.Second / 8000

// Neural detects speech with the neural network Silero VAD. It ignores voices in the background, which are softer than
// the caller's voice. Not safe for concurrent use.
type Neural struct {
	network      *silero.Detector
	window       [silero.WindowLength]float32
	samples      int // in window
	levels       [levelWindows]float64
	next         int // place in levels
	speaking     bool
	interrupting bool // speech that begins now interrupts somebody
	active       int  // windows of speech, less those without
	quiet        int  // windows without speech since the last one with
	idle         int  // windows without speech since the network was reset
	sinceEnd     int  // windows since speech has ended, at most separateWindows
	voice        float64
	hasVoice     bool    // voice is known
	tested       bool    // another utterance has begun without Reject: voice is the caller's
	drift        float64 // dB by which voice has fallen since the caller last spoke
	gate         float64 // softest level of speech that counts, from rejected speech
}

// NewNeural returns a detector at the beginning of an audio stream. All detectors share the weights of the network.
func NewNeural() (*Neural, error) {
	network, err := silero.New()
	if err != nil {
		return nil, fmt.Errorf("vad: %w", err)
	}
	d := &Neural{network: network, gate: softestVoice}
	for i := range d.levels {
		d.levels[i] = silence
	}
	return d, nil
}

// Frame processes µ-law samples and says whether speech has begun, after 100 ms of it, or ended, after NeuralEndSilence.
func (d *Neural) Frame(mu []byte) Edge {
	edge := None
	for _, b := range mu {
		d.window[d.samples] = float32(g711.MuToLinear(b)) / 32768
		if d.samples++; d.samples == len(d.window) {
			d.samples = 0
			if e := d.addWindow(); e != None {
				edge = e
			}
		}
	}
	return edge
}

// Speaking says whether speech is in progress.
func (d *Neural) Speaking() bool { return d.speaking }

// Reject says that the latest speech was not the caller's: it had no words, for example. If it was the first speech of
// the stream, speech must be louder from now on, and the caller's voice is unknown again.
func (d *Neural) Reject() {
	if d.hasVoice && !d.tested {
		d.gate = max(d.gate, min(d.voice+gateRise, loudest))
		d.hasVoice, d.tested = false, false
	}
}

// SetInterrupting says whether speech that begins now interrupts somebody. A voice in the background must not interrupt:
// then an unknown voice must be loud, and rejected speech does not lower the level of a known one.
func (d *Neural) SetInterrupting(interrupting bool) { d.interrupting = interrupting }

func (d *Neural) addWindow() Edge {
	d.levels[d.next] = levelOf(&d.window)
	d.next = (d.next + 1) % levelWindows
	d.resetIdleNetwork()
	probability := float64(d.network.Probability(&d.window))
	threshold := speechProbability
	if d.speaking || d.active > 0 {
		threshold = continueProbability
	}
	if probability >= threshold && d.isForeground() {
		d.active, d.quiet = min(d.active+1, beginWindows), 0
	} else {
		d.active, d.quiet = max(d.active-1, 0), min(d.quiet+1, endWindows)
	}
	d.sinceEnd = min(d.sinceEnd+1, separateWindows)
	switch {
	case !d.speaking && d.active == beginWindows:
		d.speaking, d.tested = true, d.tested || d.hasVoice && d.sinceEnd == separateWindows
		return Began
	case d.speaking && d.quiet == endWindows:
		d.speaking, d.active, d.sinceEnd = false, 0, 0
		return Ended
	case d.speaking && d.quiet == 0:
		d.followVoice()
	}
	return None
}

// resetIdleNetwork resets the network after each second in which the caller could interrupt somebody and is silent. In a long
// silence the network takes short words such as "stop" for noise. At other times it is not reset, because afterwards it takes
// some coughs and music for speech.
func (d *Neural) resetIdleNetwork() {
	if d.speaking || d.active > 0 || !d.interrupting || !d.hasVoice {
		d.idle = 0
		return
	}
	if d.idle++; d.idle == idleWindows {
		d.idle = 0
		d.network.Reset()
	}
}

// isForeground reports whether the latest speech is as loud as that of the caller.
func (d *Neural) isForeground() bool {
	level := d.level()
	interrupts := d.interrupting && !d.speaking
	if !d.hasVoice {
		return level >= d.gate && (!interrupts || level >= interruptingVoice)
	}
	below := beginBelowVoice
	if d.speaking {
		below = belowVoice
	}
	if level >= d.voice-below {
		return true
	}
	if d.interrupting {
		return false
	}
	if step := min(voiceDrift, driftMost-d.drift); step > 0 {
		d.drift += step
		d.voice -= step
	}
	return false
}

// followVoice moves the level of the caller's voice towards that of the latest speech.
func (d *Neural) followVoice() {
	level := d.level()
	switch {
	case !d.hasVoice:
		d.voice, d.hasVoice = level, true
	case level > d.voice:
		d.voice += voiceRise * (level - d.voice)
	default:
		d.voice += voiceFall * (level - d.voice)
	}
	d.drift = 0
}

// level returns the highest level of the latest windows: words have soft sounds between loud ones.
func (d *Neural) level() float64 {
	highest := d.levels[0]
	for _, l := range d.levels[1:] {
		highest = max(highest, l)
	}
	return highest
}

// levelOf returns the mean power of samples from -1 to 1 in dB of full scale.
func levelOf(samples *[silero.WindowLength]float32) float64 {
	sum := 0.0
	for _, v := range samples {
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return silence
	}
	return 10 * math.Log10(sum/float64(len(samples)))
}
