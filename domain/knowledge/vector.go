package knowledge

import "math"

// Pack is a vector of a model of meanings as it is kept: a byte for each
// component. Only its direction is kept, which is what counts.
func Pack(v []float32) []byte {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	out := make([]byte, len(v))
	if most > 0 {
		for i, x := range v {
			out[i] = byte(int8(math.Round(float64(x / most * math.MaxInt8)))) //nolint:gosec // the bits are kept
		}
	}
	return out
}

// Alike is how near two packed meanings are: the cosine of their angle, 0 where
// they cannot be compared.
func Alike(a, b []byte) float64 {
	if len(a) != len(b) {
		return 0
	}
	dot, left, right := 0, 0, 0
	for i := range a {
		x, y := int(int8(a[i])), int(int8(b[i])) //nolint:gosec // the bits were kept
		dot, left, right = dot+x*y, left+x*x, right+y*y
	}
	if left == 0 || right == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(left)*float64(right))
}
