package silero

import "golang.org/x/sys/cpu"

// Accelerated reports whether this machine runs the network with AVX2 instructions. Otherwise portable Go code runs
// it, which takes about ten times as much CPU.
func Accelerated() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// multiplyAdd adds matrix · x to out.
func multiplyAdd(out, matrix, x []float32) {
	if !Accelerated() {
		multiplyAddGo(out, matrix, x)
		return
	}
	_ = matrix[len(out)*len(x)-1]
	multiplyAddAVX2(&out[0], &matrix[0], &x[0], len(out), len(x))
}

// multiplyAddAVX2 adds matrix · x to out. rows is a multiple of rowsAtOnce, columns of lanes; both are positive.
//
//go:noescape
func multiplyAddAVX2(out, matrix, x *float32, rows, columns int)
