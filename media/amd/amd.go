// Package amd is answering machine detection: it classifies the audio of an answered call as person, voicemail, fax or
// other. Time is measured by the audio that the detector receives from the answer on.
//
// A person says something short and waits, while a machine goes on speaking and beeps. Speech is detected with the neural
// network Silero VAD, for which music and noise are no speech. Speech far below the loudest speech is from the
// background, such as a television. The detector classifies tones by their pitch: voicemail beeps, fax tones, and the
// three-tone special information signal (ITU-T E.180).
package amd

import (
	"fmt"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/vad/silero"
)

// Class is the kind of person or machine that has answered a call.
type Class uint8

// The classes of an answer. The audio does not reveal IVR and CallScreening. Only ClassifyWords returns them.
const (
	Unknown Class = iota // no sign of a machine: treated as a person
	Human
	Voicemail
	IVR           // a menu of an interactive voice response system
	CallScreening // asks for the caller's name on behalf of a person who listens
	Fax
	Unavailable // an announcement that the number cannot be reached
)

// String returns the class as in a call record, for example "human".
func (c Class) String() string {
	return [...]string{"unknown", "human", "voicemail", "ivr", "call_screening", "fax", "unavailable", "unknown"}[c&7]
}

// Machine says whether the answer comes from a machine that never connects the caller to a person.
func (c Class) Machine() bool { return c == Voicemail || c == Fax || c == Unavailable }

// Lengths of the detection in blocks of 20 ms. blockLen is the number of samples of a block.
const (
	blockLen   = 160
	silentMost = 250  // 5 s: the latest time of the first verdict if nobody speaks
	decideMost = 600  // 12 s: the latest time of the first verdict
	personMost = 1500 // 30 s: a later beep does not change a verdict of a person
	listenMost = 3000
)

// Event is the detector's result for a frame of audio. Several fields may be set.
type Event struct {
	Verdict bool  // Class is a new verdict
	Class   Class // the current class
	Beep    bool  // a beep has ended, after which a voicemail records
	Over    bool  // a machine has ended its greeting without a beep so far
}

// Any says whether the event has a new verdict, a beep or the end of a greeting.
func (e Event) Any() bool { return e.Verdict || e.Beep || e.Over }

// Detector classifies the audio of an answered call. The caller passes every frame from the answer on to Frame. Frame
// allocates no memory. The network, which needs 1 ms of CPU per second of audio, runs until the verdict, and goes on while
// a machine speaks. Not safe for concurrent use.
type Detector struct {
	pcm     [blockLen]float32
	n       int
	at      int // blocks processed
	class   Class
	decided bool
	over    bool // the end of the greeting was reported
	tones   tones
	network *silero.Detector
	samples [silero.WindowLength]float32
	sampled int // samples in samples
	voice   voice
}

// NewDetector returns a Detector at the answer of a call. All detectors share the weights of the network. Errors: the
// embedded model file is broken.
func NewDetector() (*Detector, error) {
	network, err := silero.New()
	if err != nil {
		return nil, fmt.Errorf("amd: %w", err)
	}
	return &Detector{network: network}, nil
}

// Done says that no further event can follow, so the detector needs no more frames.
func (d *Detector) Done() bool {
	return d.at >= listenMost || d.at >= personMost && d.class != Voicemail
}

// Frame processes 8 kHz µ-law samples of any length.
func (d *Detector) Frame(mu []byte) (out Event) {
	for _, b := range mu {
		v := float32(g711.MuToLinear(b))
		d.pcm[d.n], d.samples[d.sampled] = v, v/32768
		if d.n++; d.n == blockLen {
			d.n = 0
			d.block(&out)
		}
		if d.sampled++; d.sampled == silero.WindowLength {
			d.sampled = 0
			d.window(&out)
		}
	}
	out.Class = d.class
	return out
}

// block looks for tones in 20 ms of audio.
func (d *Detector) block(out *Event) {
	if d.Done() {
		return
	}
	d.at++
	energy, pcm := float32(0), d.pcm
	for _, v := range pcm {
		energy += v * v
	}
	heard := d.tones.block(&d.pcm, energy, d.voice.hasWord)
	if d.class != Fax && d.class != Unavailable && d.voice.hasWord && d.tones.isLikelyBeep() {
		d.reportVerdict(out, Voicemail)
	}
	if d.tones.sure() {
		d.voice.markTone((d.tones.length()*blockLen + silero.WindowLength - 1) / silero.WindowLength)
	}
	switch heard {
	case noTone:
	case beepTone:
		out.Beep, d.over = true, true
		if d.class != Fax && d.class != Unavailable {
			d.reportVerdict(out, Voicemail)
		}
	case faxTone:
		d.reportVerdict(out, Fax)
	case noticeTone:
		d.reportVerdict(out, Unavailable)
	}
}

// window looks for speech in 32 ms of audio.
func (d *Detector) window(out *Event) {
	if d.Done() || d.decided && (d.over || d.class != Voicemail) {
		return
	}
	d.voice.add(&d.samples, d.network.Probability(&d.samples))
	switch {
	case d.tones.sounding():
	case !d.decided:
		d.decide(out)
	case d.isPerson():
		d.reportVerdict(out, Human)
	case d.voice.silent() >= overAfter:
		out.Over, d.over = true, true
	}
}

// decide reports the first verdict as soon as the speech allows it, or Unknown if nobody speaks.
func (d *Detector) decide(out *Event) {
	if c := d.voice.classify(); c != Unknown {
		d.reportVerdict(out, c)
	} else if d.at >= silentMost && !d.voice.hasWord || d.at >= decideMost {
		d.reportVerdict(out, Unknown)
	}
}

// isPerson reports whether a supposed machine is a person, who speaks again after a silence or is louder than what was
// heard before.
func (d *Detector) isPerson() bool {
	return d.voice.speaksAgain() || !d.voice.isFull() && d.voice.classify() == Human
}

func (d *Detector) reportVerdict(out *Event, c Class) {
	if d.decided && d.class == c {
		return
	}
	out.Verdict, d.decided, d.class = true, true, c
}
