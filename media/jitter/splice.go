package jitter

import "github.com/callboard/callboard/media/g711"

const (
	shortest = 20  // minimum lag of a splice, 2.5 ms: a voice of 400 Hz
	spliceOf = 320 // the longest frame that is spliced
)

// splice fills a frame from more samples than its length, or from fewer. It omits or repeats one pitch period of the
// voice, with a crossfade that makes the change inaudible. It returns false if too few samples are present.
func (b *Buffer) splice(dst []byte) bool {
	n := len(dst)
	most := n / 2
	if n > spliceOf || most < shortest {
		b.spare = 0
		return false
	}
	need := n
	if b.spare < 0 {
		need += most
	}
	if !b.store.whole(b.play, need) {
		return false // the next frame may contain enough
	}
	var pcm [spliceOf + spliceOf/2]int16
	b.store.peek(b.play, pcm[:need])
	lag := period(pcm[:n], n-most, most)
	if b.spare < 0 {
		overlap(dst, pcm[:n], pcm[lag:n+lag], n-most)
		b.discard(n + lag)
		b.delay = max(b.delay-lag, 0)
		if b.spare += lag; b.spare > -shortest {
			b.spare = 0
		}
		return true
	}
	// The frame continues unchanged for one period, and then starts again in a crossfade.
	for i := range lag {
		dst[i] = g711.LinearToMu(pcm[i])
	}
	overlap(dst[lag:], pcm[lag:n], pcm[:n-lag], n-most)
	b.discard(n - lag)
	b.delay += lag
	if b.spare -= lag; b.spare < shortest {
		b.spare = 0
	}
	return true
}

// discard removes the next n samples from the store and advances the playback position past them.
func (b *Buffer) discard(n int) {
	b.store.drop(b.play, n)
	b.play += uint32(n) //nolint:gosec // a frame
}

// overlap crossfades from one signal to another within the first w samples. The remaining samples come from the second.
func overlap(dst []byte, from, to []int16, w int) {
	w = min(w, len(dst))
	for i := range w {
		dst[i] = g711.LinearToMu(int16((int(from[i])*(w-i) + int(to[i])*i) / w)) //nolint:gosec // between two of them
	}
	for i := w; i < len(dst); i++ {
		dst[i] = g711.LinearToMu(to[i])
	}
}

// period returns the pitch period of the audio: the lag, up to most samples, at which w samples are most similar.
func period(pcm []int16, w, most int) int {
	best, lag := -2.0, most
	for l := shortest; l <= most; l++ {
		var ab, aa, bb float64
		for i := range w {
			x, y := float64(pcm[i]), float64(pcm[i+l])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		// The signed square of the correlation has its maximum at the same lag and needs no square root.
		r := ab
		if r = r * max(r, -r); aa*bb > 0 {
			r /= aa * bb
		}
		if r > best {
			best, lag = r, l
		}
	}
	return lag
}

// peek copies samples to pcm, decoded, without removing them from the store.
func (s *store) peek(timestamp uint32, pcm []int16) {
	for i := range pcm {
		pcm[i] = g711.MuToLinear(s.ring[(timestamp+uint32(i))%ringLen])
	}
}

// drop marks samples as absent.
func (s *store) drop(timestamp uint32, n int) {
	at := timestamp % ringLen
	for left := uint32(n); left > 0; { //nolint:gosec // a frame
		bit := at % 64
		run := min(64-bit, left)
		s.have[at/64] &^= (^uint64(0) >> (64 - run)) << bit
		at = (at + run) % ringLen
		left -= run
	}
}
