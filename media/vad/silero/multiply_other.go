//go:build !amd64

package silero

// Accelerated reports whether this machine runs the network with AVX2 instructions. Otherwise portable Go code runs
// it, which takes about ten times as much CPU.
func Accelerated() bool { return false }

// multiplyAdd adds matrix · x to out.
func multiplyAdd(out, matrix, x []float32) { multiplyAddGo(out, matrix, x) }
