//go:build !opus || !cgo

package opus

// Available says whether this build supports Opus.
const Available = false

// Encoder is the encoder of builds without Opus; it writes nothing.
type Encoder struct{}

// NewEncoder returns an encoder that writes nothing.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode writes nothing and returns 0.
func (*Encoder) Encode([]byte, []int16) int { return 0 }

// Close does nothing.
func (*Encoder) Close() {}

// Decoder is the decoder of builds without Opus; it returns nothing.
type Decoder struct{}

// NewDecoder returns a decoder that returns nothing.
func NewDecoder() *Decoder { return &Decoder{} }

// Decode decodes nothing and returns 0.
func (*Decoder) Decode([]int16, []byte) int { return 0 }

// Close does nothing.
func (*Decoder) Close() {}
