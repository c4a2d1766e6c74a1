package jitter

import (
	"math"

	"github.com/callboard/callboard/media/g711"
)

// noise generates comfort noise at the level that the peer sent (RFC 3389). It ignores the spectrum.
type noise struct {
	on    bool
	from  uint32 // RTP timestamp at which the noise starts
	peak  int32
	state uint32
}

// loudestNoise is the maximum level of comfort noise in -dBov. A louder level of the peer is reduced to it.
const loudestNoise = 30

// Noise starts comfort noise at timestamp, until audio arrives again. level is in -dBov, 0 to 127 (RFC 3389 §3.1).
func (b *Buffer) Noise(timestamp uint32, level uint8) {
	level = max(level&0x7F, loudestNoise)
	was := b.noise
	b.noise = noise{on: true, from: timestamp, state: was.state | 1}
	// Samples distributed uniformly up to a peak have a third of the power of constant samples at the peak.
	b.noise.peak = int32(32768 * math.Sqrt(3) * math.Pow(10, -float64(level)/20))
	if was.on && b.started && int32(b.play-was.from) > 0 { //nolint:gosec // modular; the noise goes on, possibly at another level
		b.noise.from = was.from
	}
}

// end stops the noise if it started before the timestamp at, which is the timestamp of an audio packet.
func (n *noise) end(at uint32) {
	n.on = n.on && int32(at-n.from) <= 0 //nolint:gosec // modular
}

// fill fills a frame with comfort noise, or silence if there is none.
func (n *noise) fill(dst []byte) {
	if !n.on || n.peak == 0 {
		silence(dst)
		return
	}
	for i := range dst {
		n.state ^= n.state << 13
		n.state ^= n.state >> 17
		n.state ^= n.state << 5
		v := int32(int16(n.state)) * n.peak >> 15 //nolint:gosec // its lower half
		dst[i] = g711.LinearToMu(int16(v))        //nolint:gosec // the peak is within 16 bits
	}
}
