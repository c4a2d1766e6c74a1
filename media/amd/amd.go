// Package amd tells who has answered a call by the sound of it: a person or a machine. It knows no clock, no words and no call;
// the frames that it is fed, from the answer on, are its time. It allocates nothing.
//
// A person says something short and waits; a machine goes on speaking, and beeps. The threshold between speech and noise follows
// from all that was heard so far, so that the first words count whatever the noise is. Tones are told apart by their pitch: a
// mailbox's beep, a fax, the three notes of an announcement (ITU-T E.180).
package amd

import (
	"github.com/callboard/callboard/media/g711"
)

// Class is who has answered.
type Class uint8

// The classes. IVR and CallScreening are told by words only: see Words.
const (
	Unknown Class = iota // nothing speaks for a machine: counts as a person
	Human
	Voicemail
	IVR           // a menu
	CallScreening // asks who is calling, for somebody who listens
	Fax
	Unavailable // an announcement that the number cannot be reached
)

// String is the class as the record of a call names it.
func (c Class) String() string {
	return [...]string{"unknown", "human", "voicemail", "ivr", "call_screening", "fax", "unavailable", "unknown"}[c&7]
}

// Machine says whether nobody is there to speak with.
func (c Class) Machine() bool { return c == Voicemail || c == Fax || c == Unavailable }

// All lengths are in blocks of 20 ms.
const (
	blockLen   = 160
	decideMost = 250  // 5 s: by then there is a verdict
	personMost = 1500 // 30 s: what beeps later overturns nothing
	listenMost = 3000
	overAfter  = 100 // 2 s of silence end a greeting that has no beep
)

// Event is what a frame has brought; several may come at once.
type Event struct {
	Verdict bool  // Class is what is believed from now on
	Class   Class // so far
	Beep    bool  // a tone has ended after which a mailbox listens
	Over    bool  // a machine has ended its greeting, and has not beeped so far
}

// Any says whether there is anything to tell.
func (e Event) Any() bool { return e.Verdict || e.Beep || e.Over }

// Detector is fed every frame from the answer on. The zero value is ready.
type Detector struct {
	pcm     [blockLen]float32
	n       int
	at      int // blocks heard
	class   Class
	decided bool
	over    bool // the end of the greeting was told
	levels  levels
	tones   tones
}

// Done says that nothing can follow any more: the detector need not be fed.
func (d *Detector) Done() bool {
	return d.at >= listenMost || d.at >= personMost && d.class != Voicemail
}

// Frame takes µ-law samples of 8 kHz, as many as there are.
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

// block judges 20 ms.
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
	heard := d.tones.block(&d.pcm, energy, d.levels.spoke)
	if d.tones.sure() {
		d.levels.unvoice(d.tones.length())
	}
	switch heard {
	case noTone:
	case beepTone:
		out.Beep, d.over = true, true
		if d.class != Fax && d.class != Unavailable {
			d.say(out, Voicemail)
		}
	case faxTone:
		d.say(out, Fax)
	case noticeTone:
		d.say(out, Unavailable)
	}
	if !d.decided {
		d.decide(out)
		return
	}
	if d.class == Voicemail && !d.over && d.levels.silent() >= overAfter {
		out.Over, d.over = true, true
	}
}

// decide looks for the first verdict.
func (d *Detector) decide(out *Event) {
	if !d.tones.sounding() {
		if c := d.levels.judge(); c != Unknown {
			d.say(out, c)
			return
		}
	}
	if d.at >= decideMost {
		d.say(out, Unknown)
	}
}

func (d *Detector) say(out *Event, c Class) {
	if d.decided && d.class == c {
		return
	}
	out.Verdict, d.decided, d.class = true, true, c
}
