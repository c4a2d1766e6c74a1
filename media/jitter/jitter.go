// Package jitter is an adaptive jitter buffer: it reorders received audio and outputs it at an even pace. It stores
// 8 kHz µ-law samples by timestamp, so packets may have any length. Time advances only with the frames that the caller
// requests.
package jitter

import "github.com/callboard/callboard/media/g711"

// Limits of the buffer. Times and lengths are in samples of 8 kHz: 8 samples are a millisecond.
const (
	minDelay = 320               // 40 ms
	maxDelay = 1600              // 200 ms
	ringLen  = 2048              // 256 ms; a power of two
	longest  = 1024              // the longest packet
	idle     = 1600              // after this time without audio, the next packet sets the playout clock anew
	window   = 5 * 8000          // the delay shrinks at most by one step per window
	step     = 160               // size of a delay change that needs no gap
	fadeLen  = 3 * 160           // a concealed gap fades to silence within this time
	lastLen  = 320               // the longest frame that concealment repeats
	tooLate  = 10                // consecutive late packets that show a jump of the sender's clock
	beyond   = ringLen - lastLen // a packet further ahead shows a jump of the sender's clock
	unknown  = ringLen           // margin before the first packet of a window
	memory   = 64                // packets whose timestamps are kept to detect copies: more than a second
)

// Verdict says what the buffer did with a packet.
type Verdict uint8

// The results of Put for a packet.
const (
	Kept      Verdict = iota
	Late              // arrived after its playout time; dropped
	Duplicate         // a copy of an earlier packet, dropped; not counted as late
	Anchored          // kept, and the playout clock was set by it
	Unusable          // empty, or longer than any valid packet
)

// Buffer is an adaptive jitter buffer. The delay starts at 40 ms, grows to 200 ms as packets come late, and shrinks
// when all packets come early. To change the delay, the buffer repeats or omits one pitch period of the voice at a
// time, which also corrects the clock drift of the sender. The zero value is ready. Not safe for concurrent use.
type Buffer struct {
	store   *store
	last    uint32 // timestamp of the last played audio, which stays in the ring for concealment
	lastN   int
	started bool
	play    uint32 // timestamp of the next sample to play
	stretch int    // samples by which to delay the playout clock, with a gap
	spare   int    // samples by which to delay the playout clock, or to advance it if negative, without a gap
	delay   int    // how long the fastest recent packets wait
	margin  int    // the smallest time a packet was early in this window
	seen    int    // samples played in this window
	missing int    // missing samples since the last present one
	late    int    // consecutive late packets
	frame   int    // length of the last requested frame
	noise   noise
}

// store is the ring buffer of received samples, with the timestamps of the last packets.
type store struct {
	ring   [ringLen]byte
	have   [ringLen / 64]uint64 // bit set: which samples of the ring are present
	came   [memory]uint32       // timestamps of the last packets
	next   int
	filled int
	newest uint32
}

// Put stores the samples of a packet and says whether the packet was kept.
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
			b.late++ // if only such packets arrive, the sender's clock has jumped
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
	case ahead < 0: // the rest of the packet is still useful
		b.increaseDelay(-ahead)
		b.store.fill(b.play, mu[-ahead:])
		return Kept
	}
	b.late = 0
	b.margin = min(b.margin, ahead)
	if ahead < b.frame/2 && b.spare <= 0 && b.delay+step <= maxDelay { // not late yet, but the next packet may be
		b.spare = step
	}
	b.store.fill(timestamp, mu)
	return Kept
}

// Get writes the next samples to dst and returns how many of them were received. The remaining samples are concealed,
// or are comfort noise if the peer sent its level.
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

// gap fills a frame for which no sample is present.
func (b *Buffer) gap(dst []byte) {
	if b.noise.on && int32(b.play-b.noise.from) > 0 { //nolint:gosec // modular
		b.noise.fill(dst)
		return
	}
	b.conceal(dst)
}

// Delay returns how long a packet waits in the buffer if the network delivers it without jitter, in samples.
func (b *Buffer) Delay() int {
	if !b.started {
		return minDelay
	}
	return max(b.delay, 0)
}

// Reset clears the buffer, because the audio now comes from another source.
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

// increaseDelay delays playback by the lateness of a packet. The delay grows to at most maxDelay.
func (b *Buffer) increaseDelay(late int) {
	b.stretch = max(b.stretch, min(late, maxDelay-b.delay))
	b.spare = max(b.spare, 0)
	b.seen, b.margin = 0, unknown
}

// adapt advances the measurement by n samples. It shortens the delay if every packet of the last 5 seconds came early
// enough.
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

// conceal fills a frame by repeating the last played audio with decreasing level. After 60 ms the output is silent.
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
