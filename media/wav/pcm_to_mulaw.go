package wav

import "github.com/callboard/callboard/media/g711"

// PCM converts a stream of 16-bit little-endian mono PCM to 8 kHz µ-law. The input chunks may have any length.
type PCM struct {
	rate *Resampler
	odd  []byte // the first byte of an incomplete sample
}

// NewPCM returns a converter for audio of rate Hz.
func NewPCM(rate int) (*PCM, error) {
	r, err := NewResampler(rate, 8000)
	if err != nil {
		return nil, err
	}
	return &PCM{rate: r}, nil
}

// Write converts a chunk and returns the µ-law audio that is ready.
func (p *PCM) Write(b []byte) []byte {
	b = append(p.odd, b...)
	n := len(b) / 2 * 2
	in := make([]int16, n/2)
	for i := range in {
		in[i] = int16(uint16(b[2*i]) | uint16(b[2*i+1])<<8) //nolint:gosec // the bits of it
	}
	p.odd = append([]byte(nil), b[n:]...)
	return mulaw(p.rate.Write(in))
}

// Flush returns the remaining µ-law audio at the end of the stream.
func (p *PCM) Flush() []byte { return mulaw(p.rate.Flush()) }

func mulaw(in []int16) []byte {
	out := make([]byte, len(in))
	for i, v := range in {
		out[i] = g711.LinearToMu(v)
	}
	return out
}
