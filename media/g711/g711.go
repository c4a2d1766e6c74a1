// Package g711 encodes and decodes ITU-T G.711 audio, µ-law and A-law, by lookup tables. All functions are safe for
// concurrent use.
package g711

// MuSilence is the µ-law byte of silence.
const MuSilence = 0xFF

// The tables are filled at start and are read-only.
var (
	muLinear = decodeTable(muDecode)
	aLinear  = decodeTable(aDecode)
	linearMu = encodeTable(muEncode)
	linearA  = encodeTable(aEncode)
	muA      = crossTable(&muLinear, &linearA)
	aMu      = crossTable(&aLinear, &linearMu)
)

// indexBits is the number of bits that index the encoder tables: µ-law distinguishes 14 bits, A-law 13.
const indexBits = 14

// MuToLinear decodes a µ-law byte.
func MuToLinear(b byte) int16 { return muLinear[b] }

// AToLinear decodes an A-law byte.
func AToLinear(b byte) int16 { return aLinear[b] }

// LinearToMu encodes a sample as µ-law.
func LinearToMu(v int16) byte { return linearMu[uint16(v)>>(16-indexBits)] } //nolint:gosec // the bits are the index

// LinearToA encodes a sample as A-law.
func LinearToA(v int16) byte { return linearA[uint16(v)>>(16-indexBits)] } //nolint:gosec // the bits are the index

// MuToA converts µ-law to A-law. dst may be src and must be as long.
func MuToA(dst, src []byte) {
	dst = dst[:len(src)]
	for i, b := range src {
		dst[i] = muA[b]
	}
}

// AToMu converts A-law to µ-law. dst may be src and must be as long.
func AToMu(dst, src []byte) {
	dst = dst[:len(src)]
	for i, b := range src {
		dst[i] = aMu[b]
	}
}

// EncodeMu encodes samples as µ-law into a new slice.
func EncodeMu(pcm []int16) []byte {
	out := make([]byte, len(pcm))
	for i, v := range pcm {
		out[i] = LinearToMu(v)
	}
	return out
}

// DecodeMu decodes µ-law into a new slice.
func DecodeMu(mu []byte) []int16 {
	out := make([]int16, len(mu))
	for i, b := range mu {
		out[i] = muLinear[b]
	}
	return out
}

func decodeTable(decode func(byte) int16) (t [256]int16) {
	for i := range t {
		t[i] = decode(byte(i))
	}
	return t
}

func encodeTable(encode func(int) byte) (t [1 << indexBits]byte) {
	for i := range t {
		t[i] = encode(int(int16(uint16(i) << (16 - indexBits)))) //nolint:gosec // sign by the top bit
	}
	return t
}

func crossTable(from *[256]int16, to *[1 << indexBits]byte) (t [256]byte) {
	for i := range t {
		t[i] = to[uint16(from[i])>>(16-indexBits)] //nolint:gosec // the bits are the index
	}
	return t
}

// muBias shifts the first chord so that every chord has 16 equal steps, at 14 bits.
const muBias = 33

func muDecode(b byte) int16 {
	b = ^b
	chord, step := int(b>>4)&7, int(b&15)
	v := ((step<<1+muBias)<<chord - muBias) << 2
	if b&0x80 != 0 {
		v = -v
	}
	return int16(v) //nolint:gosec // at most 32124
}

func muEncode(v int) byte {
	sign := byte(0)
	v >>= 2
	if v < 0 {
		sign, v = 0x80, -v
	}
	v = min(v+muBias, 0x1FFF)
	chord := 0
	for v>>(chord+6) != 0 {
		chord++
	}
	return ^(sign | byte(chord<<4) | byte(v>>(chord+1))&15) //nolint:gosec // bytes by construction
}

func aDecode(b byte) int16 {
	b ^= 0x55
	chord, step := int(b>>4)&7, int(b&15)
	v := step<<4 + 8
	if chord > 0 {
		v = (v + 0x100) << (chord - 1)
	}
	if b&0x80 == 0 {
		v = -v
	}
	return int16(v)
}

func aEncode(v int) byte {
	sign := byte(0x80)
	v >>= 3
	if v < 0 {
		sign, v = 0, ^v
	}
	chord := 0
	for v>>(chord+5) != 0 {
		chord++
	}
	step := v >> max(chord, 1) & 15
	return (sign | byte(chord<<4) | byte(step)) ^ 0x55
}
