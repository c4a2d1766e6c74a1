package knowledge

import "math"

// PackVector is a vector of a model of meanings as it is kept: a byte for each
// component. Only its direction is kept, which is what counts.
func PackVector(v []float32) []byte {
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

// vectorLength is the length of a packed meaning.
func vectorLength(v []byte) float64 {
	sum := 0
	for _, b := range v {
		c := int(int8(b)) //nolint:gosec // the bits were kept
		sum += c * c
	}
	return math.Sqrt(float64(sum))
}

// cosineSimilarity is how near two packed meanings of those lengths are: the cosine of
// their angle, 0 where they cannot be compared.
func cosineSimilarity(a []byte, left float64, b []byte, right float64) float64 {
	if len(a) != len(b) || left == 0 || right == 0 {
		return 0
	}
	dot := 0
	for i, x := range a {
		dot += int(int8(x)) * int(int8(b[i])) //nolint:gosec // the bits were kept
	}
	return float64(dot) / (left * right)
}
