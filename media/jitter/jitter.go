// Package jitter puts received sound back in order and hands it out at an even pace. It works on µ-law samples by their
// timestamps, so it takes packets of any length. It knows no socket and no clock: being asked is its clock.
package jitter

import "github.com/callboard/callboard/media/g711"

// All figures are in samples of 8 kHz: 8 are a millisecond.
const (
	minDelay = 320         // 40 ms
	maxDelay = 1600        // 200 ms
	ringLen  = 4096        // 512 ms; a power of two
	idle     = 1600        // so long nothing: the next packet sets the clock anew
	window   = 5 * 8000    // the delay shrinks at most once in it
	fadeLen  = 3 * 160     // a concealed gap fades to silence within it
	lastLen  = 320         // the longest frame that is repeated
	tooLate  = 10          // so many late packets in a row: the sender's clock leapt
	beyond   = ringLen / 2 // a packet further ahead than this: the sender's clock leapt
	unknown  = ringLen     // no packet told its margin yet
)

// Verdict is what became of a packet.
type Verdict uint8

// The verdicts.
const (
	Kept      Verdict = iota
	Late              // its time had passed; it is dropped
	Duplicate         // it was there already
	Anchored          // kept, and the clock was set by it
)

// Buffer is adaptive: it starts with 40 ms and grows to 200 ms as packets come late, and shrinks again when they come early.
// The zero value is ready. It is not for concurrent use.
type Buffer struct {
	ring    [ringLen]byte
	have    [ringLen / 64]uint64 // which samples of the ring are there
	last    [lastLen]byte        // what was played last, for concealment
	lastN   int
	started bool
	play    uint32 // timestamp of the next sample to hand out
	stretch int    // samples by which the clock shall be held back
	delay   int    // how long the luckiest packets of late have to wait
	margin  int    // the least a packet was early in this window
	seen    int    // samples handed out in this window
	missing int    // samples missing since the last one that was there
	late    int    // late packets in a row
}

// Put takes the samples of a packet.
func (b *Buffer) Put(timestamp uint32, mu []byte) Verdict {
	if len(mu) == 0 || len(mu) > ringLen/2 {
		return Late
	}
	if !b.started {
		b.anchor(timestamp)
		b.fill(timestamp, mu)
		return Anchored
	}
	ahead := int(int32(timestamp - b.play)) //nolint:gosec // modular
	outside := ahead < 0 || ahead+len(mu) > maxDelay+minDelay
	if b.missing >= idle && outside || ahead+len(mu) > beyond || ahead+len(mu) <= 0 && b.late >= tooLate {
		b.clear()
		b.anchor(timestamp)
		b.fill(timestamp, mu)
		return Anchored
	}
	if b.delay > ahead {
		b.delay -= (b.delay - ahead + 63) / 64
	}
	b.delay = max(b.delay, ahead)
	switch {
	case ahead+len(mu) <= 0:
		b.late++
		b.grow(-ahead)
		return Late
	case ahead < 0: // the rest of it is still of use
		b.grow(-ahead)
		b.fill(b.play, mu[-ahead:])
		return Kept
	}
	b.late = 0
	b.margin = min(b.margin, ahead)
	if b.present(timestamp) {
		return Duplicate
	}
	b.fill(timestamp, mu)
	return Kept
}

// Get hands out the next samples into dst and says how many of them were really received; the rest is concealed.
func (b *Buffer) Get(dst []byte) (received int) {
	if !b.started {
		silence(dst)
		return 0
	}
	n := len(dst)
	if b.stretch > 0 {
		b.stretch = max(b.stretch-n, 0)
		b.delay += n
		b.missing += n
		b.conceal(dst)
		return 0
	}
	b.adapt(n)
	got := 0
	for i := range dst {
		at := (b.play + uint32(i)) % ringLen
		if bit := uint64(1) << (at % 64); b.have[at/64]&bit != 0 {
			b.have[at/64] &^= bit
			dst[i] = b.ring[at]
			got++
		} else {
			dst[i] = g711.MuSilence
		}
	}
	b.play += uint32(n) //nolint:gosec // small
	if got == 0 {
		b.missing += n
		b.conceal(dst)
		return 0
	}
	b.missing = 0
	b.lastN = copy(b.last[:], dst)
	return got
}

// Delay is how long sound waits here that the network did not delay, in samples.
func (b *Buffer) Delay() int {
	if !b.started {
		return minDelay
	}
	return max(b.delay, 0)
}

// Reset forgets everything: another source speaks.
func (b *Buffer) Reset() {
	b.clear()
	b.started = false
	b.lastN = 0
}

func (b *Buffer) clear() { clear(b.have[:]) }

func (b *Buffer) anchor(timestamp uint32) {
	b.started = true
	b.play = timestamp - minDelay
	b.delay, b.margin, b.seen, b.stretch, b.late, b.missing = minDelay, unknown, 0, 0, 0, 0
	b.lastN = 0
}

// fill stores samples and marks them, word by word.
func (b *Buffer) fill(timestamp uint32, mu []byte) {
	at := timestamp % ringLen
	n := copy(b.ring[at:], mu)
	copy(b.ring[:], mu[n:])
	for left := uint32(len(mu)); left > 0; { //nolint:gosec // small
		bit := at % 64
		run := min(64-bit, left)
		b.have[at/64] |= (^uint64(0) >> (64 - run)) << bit
		at = (at + run) % ringLen
		left -= run
	}
}

func (b *Buffer) present(timestamp uint32) bool {
	at := timestamp % ringLen
	return b.have[at/64]&(1<<(at%64)) != 0
}

// grow holds the clock back by what a packet was late, within the limit.
func (b *Buffer) grow(late int) {
	b.stretch = max(b.stretch, min(late, maxDelay-b.delay))
	b.seen, b.margin = 0, unknown
}

// adapt shortens the delay by one frame when every packet of a window came early enough.
func (b *Buffer) adapt(n int) {
	b.seen += n
	if b.seen < window {
		return
	}
	if spare := b.margin - n; spare >= minDelay && b.margin < unknown {
		skip := uint32(n) //nolint:gosec // small
		for i := range skip {
			at := (b.play + i) % ringLen
			b.have[at/64] &^= 1 << (at % 64)
		}
		b.play += skip
		b.delay = max(b.delay-n, 0)
	}
	b.seen, b.margin = 0, unknown
}

// conceal repeats what was played last, each time softer, and is silent from 60 ms on.
func (b *Buffer) conceal(dst []byte) {
	past := b.missing - len(dst)
	if b.lastN == 0 || past >= fadeLen {
		silence(dst)
		return
	}
	for i := range dst {
		gain := max(fadeLen-past-i, 0)
		v := int(g711.MuToLinear(b.last[i%b.lastN])) * gain / fadeLen
		dst[i] = g711.LinearToMu(int16(v)) //nolint:gosec // softer than an int16
	}
}

func silence(dst []byte) {
	for i := range dst {
		dst[i] = g711.MuSilence
	}
}
