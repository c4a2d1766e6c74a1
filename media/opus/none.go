//go:build !opus || !cgo

package opus

// Available says whether this build speaks Opus.
const Available = false

// Encoder writes nothing.
type Encoder struct{}

// NewEncoder makes an encoder that writes nothing.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode writes nothing.
func (*Encoder) Encode([]byte, []int16) int { return 0 }

// Close does nothing.
func (*Encoder) Close() {}

// Decoder reads nothing.
type Decoder struct{}

// NewDecoder makes a decoder that reads nothing.
func NewDecoder() *Decoder { return &Decoder{} }

// Decode reads nothing.
func (*Decoder) Decode([]int16, []byte) int { return 0 }

// Close does nothing.
func (*Decoder) Close() {}
