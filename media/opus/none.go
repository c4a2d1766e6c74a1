//go:build !opus || !cgo

package opus

// Available says whether this build supports Opus.
const Available = false

// Encoder is the encoder in builds without Opus. Its Encode method writes nothing.
type Encoder struct{}

// NewEncoder returns an encoder that writes nothing.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode writes nothing and returns 0.
func (*Encoder) Encode([]byte, []int16) int { return 0 }

// Close does nothing.
func (*Encoder) Close() {}

// Decoder is the decoder in builds without Opus. Its Decode method returns no samples.
type Decoder struct{}

// NewDecoder returns a decoder that never returns samples.
func NewDecoder() *Decoder { return &Decoder{} }

// Decode decodes nothing and returns 0.
func (*Decoder) Decode([]int16, []byte) int { return 0 }

// Close does nothing.
func (*Decoder) Close() {}
