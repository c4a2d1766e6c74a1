// Package mix adds voices up, so that several are heard at once. It works on frames of µ-law and saturates where the sum is
// too loud for a telephone. It knows no packets and no clock, and makes no garbage.
package mix

import "github.com/callboard/callboard/media/g711"

// FrameMost is the longest frame, in samples: 40 ms of 8 kHz.
const FrameMost = 320

// Bus is the sum of one frame. The zero value is a frame of no samples; it is not for concurrent use.
type Bus struct {
	sum [FrameMost]int32
	n   int
}

// Begin starts a silent frame of n samples, FrameMost at most.
func (b *Bus) Begin(n int) {
	b.n = min(n, FrameMost)
	clear(b.sum[:b.n])
}

// Add puts a voice into the frame; what goes beyond the frame is left out.
func (b *Bus) Add(mu []byte) {
	mu = mu[:min(len(mu), b.n)]
	sum := b.sum[:len(mu)]
	for i, v := range mu {
		sum[i] += int32(g711.MuToLinear(v))
	}
}

// Sum writes the frame; dst must be as long as the frame.
func (b *Bus) Sum(dst []byte) {
	for i, v := range b.sum[:min(b.n, len(dst))] {
		dst[i] = g711.LinearToMu(saturate(v))
	}
}

// Without writes the frame but for one voice in it: what its speaker hears of the others.
func (b *Bus) Without(dst, own []byte) {
	n := min(b.n, len(dst), len(own))
	for i, v := range b.sum[:n] {
		dst[i] = g711.LinearToMu(saturate(v - int32(g711.MuToLinear(own[i]))))
	}
	for i, v := range b.sum[n:min(b.n, len(dst))] {
		dst[n+i] = g711.LinearToMu(saturate(v))
	}
}

// saturate is the nearest sample.
func saturate(v int32) int16 {
	return int16(min(max(v, -32768), 32767))
}
