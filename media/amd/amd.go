// Package amd is answering machine detection: it classifies the audio of an answered call as person, voicemail, fax or
// other. Time is measured by the audio that the detector receives from the answer on. The detector allocates no memory.
//
// A person says something short and waits, while a machine goes on speaking and beeps. The detector computes the
// threshold between speech and noise from the latest audio, so that it adapts to any noise level. It classifies tones
// by their pitch: voicemail beeps, fax tones, and the three-tone special information signal (ITU-T E.180).
package amd

import (
	"github.com/callboard/callboard/media/g711"
)

// Class is the kind of person or machine that has answered a call.
type Class uint8

// The classes of an answer. The audio does not reveal IVR and CallScreening. Only the function Words returns them.
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
	decideMost = 250  // 5 s: the latest time of the first verdict
	personMost = 1500 // 30 s: a later beep does not change a verdict of a person
	listenMost = 3000
	overAfter  = 100 // 2 s of silence end a greeting without a beep
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

// Detector classifies the audio of an answered call. The caller passes every frame from the answer on to Frame. The
// zero value is ready.
type Detector struct {
	pcm     [blockLen]float32
	n       int
	at      int // blocks processed
	class   Class
	decided bool
	over    bool // the end of the greeting was reported
	levels  levels
	tones   tones
}

// Done says that no further event can follow, so the detector needs no more frames.
func (d *Detector) Done() bool {
	return d.at >= listenMost || d.at >= personMost && d.class != Voicemail
}

// Frame processes 8 kHz µ-law samples of any length.
func (d *Detector) Frame(mu []byte) (out Event) {
	for _, b := range mu {
		d.pcm[d.n] = float32(g711.MuToLinear(b))
		if d.n++; d.n == blockLen {
			d.n = 0
			d.block(&out)
		}
	}
	out.Class = d.class
	return out
}

// block processes 20 ms of audio.
func (d *Detector) block(out *Event) {
	if d.Done() {
		return
	}
	d.at++
	energy, pcm := float32(0), d.pcm
	for _, v := range pcm {
		energy += v * v
	}
	d.levels.add(energy)
	heard := d.tones.block(&d.pcm, energy, d.levels.hasWord)
	if d.tones.sure() {
		d.levels.unvoice(d.tones.length())
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
	if !d.decided {
		d.decide(out)
		return
	}
	if d.class == Voicemail && !d.over && d.levels.silent() >= overAfter {
		out.Over, d.over = true, true
	}
}

// decide reports the first verdict as soon as the speech allows it, or Unknown after decideMost.
func (d *Detector) decide(out *Event) {
	if !d.tones.sounding() {
		if c := d.levels.classify(); c != Unknown {
			d.reportVerdict(out, c)
			return
		}
	}
	if d.at >= decideMost {
		d.reportVerdict(out, Unknown)
	}
}

func (d *Detector) reportVerdict(out *Event, c Class) {
	if d.decided && d.class == c {
		return
	}
	out.Verdict, d.decided, d.class = true, true, c
}
