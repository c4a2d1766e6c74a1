// Package jitter puts received sound back in order and hands it out at an even pace. It works on µ-law samples by their
// timestamps, so it takes packets of any length. It knows no socket and no clock: being asked is its clock.
package jitter

import "github.com/callboard/callboard/media/g711"

// All figures are in samples of 8 kHz: 8 are a millisecond.
const (
	minDelay = 320               // 40 ms
	maxDelay = 1600              // 200 ms
	ringLen  = 2048              // 256 ms; a power of two
	longest  = 1024              // the longest packet
	idle     = 1600              // so long nothing: the next packet sets the clock anew
	window   = 5 * 8000          // the delay shrinks at most by a step in it
	step     = 160               // by so much the delay is changed at a time, without a gap
	fadeLen  = 3 * 160           // a concealed gap fades to silence within it
	lastLen  = 320               // the longest frame that is repeated
	tooLate  = 10                // so many late packets in a row: the sender's clock leapt
	beyond   = ringLen - lastLen // a packet further ahead than this: the sender's clock leapt
	unknown  = ringLen           // no packet told its margin yet
	memory   = 64                // packets by whose timestamps a copy is known: more than a second of them
)

// Verdict is what became of a packet.
type Verdict uint8

// The verdicts.
const (
	Kept      Verdict = iota
	Late              // its time had passed; it is dropped
	Duplicate         // it came before; the copy is dropped, whether its time has passed or not, and tells nothing of the network
	Anchored          // kept, and the clock was set by it
	Unusable          // it holds no sound, or more than any packet does
)

// Buffer is adaptive: it starts with 40 ms and grows to 200 ms as packets come late, and shrinks again when they come early.
// A far clock that is faster or slower than ours is followed the same way, by a period of the voice at a time.
// The zero value is ready and small; memory for sound is taken with the first of it. It is not for concurrent use.
type Buffer struct {
	store   *store
	last    uint32 // timestamp of what was played last, which stays in the ring for concealment
	lastN   int
	started bool
	play    uint32 // timestamp of the next sample to hand out
	stretch int    // samples by which the clock shall be held back with a gap
	spare   int    // samples by which it shall be held back (below zero: put forward) without one
	delay   int    // how long the luckiest packets of late have to wait
	margin  int    // the least a packet was early in this window
	seen    int    // samples handed out in this window
	missing int    // samples missing since the last one that was there
	late    int    // late packets in a row
	frame   int    // samples that were asked for last
	noise   noise
}

// store is the memory for sound.
type store struct {
	ring   [ringLen]byte
	have   [ringLen / 64]uint64 // which samples of the ring are there
	came   [memory]uint32       // timestamps of the packets that came last
	next   int
	filled int
	newest uint32
}

// Put takes the samples of a packet.
func (b *Buffer) Put(timestamp uint32, mu []byte) Verdict {
	if len(mu) == 0 || len(mu) > longest {
		return Unusable
	}
	if !b.started {
		b.anchor(timestamp)
		b.store.putSamples(timestamp, mu)
		return Anchored
	}
	ahead := int(int32(timestamp - b.play)) //nolint:gosec // modular
	outside := ahead < 0 || ahead+len(mu) > maxDelay+minDelay
	if b.missing >= idle && outside || ahead+len(mu) > beyond || ahead+len(mu) <= 0 && b.late >= tooLate {
		b.clear()
		b.anchor(timestamp)
		b.store.putSamples(timestamp, mu)
		return Anchored
	}
	if b.store.knows(timestamp) {
		if ahead+len(mu) <= 0 {
			b.late++ // nothing but copies: the sender's clock leapt
		}
		return Duplicate
	}
	b.store.note(timestamp)
	if b.delay > ahead {
		b.delay -= (b.delay - ahead + 63) / 64
	}
	b.delay = max(b.delay, ahead)
	switch {
	case ahead+len(mu) <= 0:
		b.late++
		b.increaseDelay(-ahead)
		return Late
	case ahead < 0: // the rest of it is still of use
		b.increaseDelay(-ahead)
		b.store.fill(b.play, mu[-ahead:])
		return Kept
	}
	b.late = 0
	b.margin = min(b.margin, ahead)
	if ahead < b.frame/2 && b.spare <= 0 && b.delay+step <= maxDelay { // not late yet, but the next one may be
		b.spare = step
	}
	b.store.fill(timestamp, mu)
	return Kept
}

// Get hands out the next samples into dst and says how many of them were really received; the rest is concealed, or the
// noise that the far end described.
func (b *Buffer) Get(dst []byte) (received int) {
	n := len(dst)
	b.frame = n
	if !b.started {
		b.noise.fill(dst)
		return 0
	}
	if b.stretch > 0 {
		b.stretch = max(b.stretch-n, 0)
		b.delay += n
		b.missing += n
		b.conceal(dst)
		return 0
	}
	b.adapt(n)
	got, at := n, b.play
	if b.spare == 0 || !b.splice(dst) {
		got = b.store.takeSamples(b.play, dst)
		b.play += uint32(n) //nolint:gosec // small
	}
	if got == 0 {
		b.missing += n
		b.gap(dst)
		return 0
	}
	if got < n {
		b.store.restore(at, dst)
	}
	b.missing = 0
	b.noise.end(b.play)
	b.last, b.lastN = at, min(n, lastLen)
	return got
}

// gap fills a frame of which nothing is there.
func (b *Buffer) gap(dst []byte) {
	if b.noise.on && int32(b.play-b.noise.from) > 0 { //nolint:gosec // modular
		b.noise.fill(dst)
		return
	}
	b.conceal(dst)
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
	b.lastN, b.noise = 0, noise{}
}

func (b *Buffer) clear() {
	if b.store != nil {
		clear(b.store.have[:])
		b.store.next, b.store.filled = 0, 0
	}
}

func (b *Buffer) anchor(timestamp uint32) {
	if b.store == nil {
		b.store = new(store)
	}
	b.started = true
	b.play = timestamp - minDelay
	b.delay, b.margin, b.seen, b.stretch, b.spare, b.late, b.missing = minDelay, unknown, 0, 0, 0, 0, 0
	b.lastN = 0
}

// increaseDelay holds the clock back by what a packet was late, within the limit.
func (b *Buffer) increaseDelay(late int) {
	b.stretch = max(b.stretch, min(late, maxDelay-b.delay))
	b.spare = max(b.spare, 0)
	b.seen, b.margin = 0, unknown
}

// adapt shortens the delay by a step when every packet of a window came early enough.
func (b *Buffer) adapt(n int) {
	b.seen += n
	if b.seen < window {
		return
	}
	if b.margin < unknown && b.margin-n >= minDelay {
		b.spare = -min(step, b.margin-n-minDelay+n/2)
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
		v := int(g711.MuToLinear(b.store.ring[(b.last+uint32(i%b.lastN))%ringLen])) * gain / fadeLen //nolint:gosec // small
		dst[i] = g711.LinearToMu(int16(v))                                                           //nolint:gosec // softer than an int16
	}
}
