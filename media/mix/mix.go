// Package mix is a conference mixer: it adds up voices in frames of µ-law, and limits sums that exceed the sample
// range. It allocates no memory.
package mix

import "github.com/callboard/callboard/media/g711"

// FrameMost is the length of the longest frame, in samples: 40 ms of 8 kHz.
const FrameMost = 320

// Bus holds the sum of all voices in one frame. The zero value is an empty frame. Not safe for concurrent use.
type Bus struct {
	sum [FrameMost]int32
	n   int
}

// Begin starts a silent frame of n samples, at most FrameMost.
func (b *Bus) Begin(n int) {
	b.n = min(n, FrameMost)
	clear(b.sum[:b.n])
}

// Add adds a voice to the frame and ignores samples beyond the length of the frame.
func (b *Bus) Add(mu []byte) {
	mu = mu[:min(len(mu), b.n)]
	sum := b.sum[:len(mu)]
	for i, v := range mu {
		sum[i] += int32(g711.MuToLinear(v))
	}
}

// Sum writes the mixed frame to dst as µ-law. dst must be as long as the frame.
func (b *Bus) Sum(dst []byte) {
	for i, v := range b.sum[:min(b.n, len(dst))] {
		dst[i] = g711.LinearToMu(saturate(v))
	}
}

// SumWithout writes the mixed frame without the voice own to dst. It is for the speaker of that voice.
func (b *Bus) SumWithout(dst, own []byte) {
	n := min(b.n, len(dst), len(own))
	for i, v := range b.sum[:n] {
		dst[i] = g711.LinearToMu(saturate(v - int32(g711.MuToLinear(own[i]))))
	}
	for i, v := range b.sum[n:min(b.n, len(dst))] {
		dst[n+i] = g711.LinearToMu(saturate(v))
	}
}

// saturate limits a sum to the range of a sample.
func saturate(v int32) int16 {
	return int16(min(max(v, -32768), 32767))
}
