package jitter

import "github.com/callboard/callboard/media/g711"

const (
	shortest = 20  // the least lag of a splice, 2.5 ms: a voice of 400 Hz
	spliceOf = 320 // the longest frame that is spliced
)

// splice hands out a frame that is made of more samples than it has, or of fewer: it leaves out, or repeats, one period of
// the voice, faded into what follows, so that nobody hears it. False: there is not enough sound.
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
		return false // with the next frame, perhaps
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
	// The frame goes on as it is for one period, and then begins again while it fades.
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

// discard passes samples without handing them out.
func (b *Buffer) discard(n int) {
	b.store.drop(b.play, n)
	b.play += uint32(n) //nolint:gosec // a frame
}

// overlap fades from one sound into another within the first w samples, and goes on with the other.
func overlap(dst []byte, from, to []int16, w int) {
	w = min(w, len(dst))
	for i := range w {
		dst[i] = g711.LinearToMu(int16((int(from[i])*(w-i) + int(to[i])*i) / w)) //nolint:gosec // between two of them
	}
	for i := w; i < len(dst); i++ {
		dst[i] = g711.LinearToMu(to[i])
	}
}

// period is the lag, of at most most samples, at which sound of w samples is most like itself.
func period(pcm []int16, w, most int) int {
	best, lag := -2.0, most
	for l := shortest; l <= most; l++ {
		var ab, aa, bb float64
		for i := range w {
			x, y := float64(pcm[i]), float64(pcm[i+l])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		// The square of the correlation, with its sign: monotonous, and without a root.
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

// peek decodes samples and leaves them where they are.
func (s *store) peek(timestamp uint32, pcm []int16) {
	for i := range pcm {
		pcm[i] = g711.MuToLinear(s.ring[(timestamp+uint32(i))%ringLen])
	}
}

// drop forgets samples.
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
