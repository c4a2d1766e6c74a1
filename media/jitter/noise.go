package jitter

import (
	"math"

	"github.com/callboard/callboard/media/g711"
)

// noise is what the far end hears where nobody speaks, as it described it (RFC 3389): a level; its colour is left out.
type noise struct {
	on    bool
	from  uint32 // timestamp of its beginning
	peak  int32
	state uint32
}

// loudestNoise, in -dBov: what claims to be louder is no comfort.
const loudestNoise = 30

// Noise says that from timestamp on there is noise in place of sound, until sound comes again. The level is in -dBov,
// 0 to 127 (RFC 3389 section 3.1).
func (b *Buffer) Noise(timestamp uint32, level uint8) {
	level = max(level&0x7F, loudestNoise)
	was := b.noise
	b.noise = noise{on: true, from: timestamp, state: was.state | 1}
	// Evenly spread samples within a peak have the power of its square by three.
	b.noise.peak = int32(32768 * math.Sqrt(3) * math.Pow(10, -float64(level)/20))
	if was.on && b.started && int32(b.play-was.from) > 0 { //nolint:gosec // modular: it only goes on, perhaps at another level
		b.noise.from = was.from
	}
}

// end ends noise that began before a time at which sound has been heard.
func (n *noise) end(at uint32) {
	n.on = n.on && int32(at-n.from) <= 0 //nolint:gosec // modular
}

// fill makes noise, or silence where there is none.
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
