package knowledge

import "math"

// PackVector packs an embedding into one byte for each component. The packed form keeps the direction and not the
// length of the vector, which is sufficient for the cosine similarity.
func PackVector(v []float32) []byte {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	out := make([]byte, len(v))
	if most > 0 {
		for i, x := range v {
			out[i] = byte(int8(math.Round(float64(x / most * math.MaxInt8)))) //nolint:gosec // two's complement
		}
	}
	return out
}

// vectorLength returns the length of a packed vector.
func vectorLength(v []byte) float64 {
	sum := 0
	for _, b := range v {
		c := int(int8(b)) //nolint:gosec // two's complement
		sum += c * c
	}
	return math.Sqrt(float64(sum))
}

// cosineSimilarity returns the cosine of the angle between two packed vectors. left and right are their lengths. It
// returns 0 if a length is 0 or the dimensions differ.
func cosineSimilarity(a []byte, left float64, b []byte, right float64) float64 {
	if len(a) != len(b) || left == 0 || right == 0 {
		return 0
	}
	dot := 0
	for i, x := range a {
		dot += int(int8(x)) * int(int8(b[i])) //nolint:gosec // two's complement
	}
	return float64(dot) / (left * right)
}
