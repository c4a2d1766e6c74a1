package silero

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The portable multiplication and that of this machine give the same sums, apart from rounding.
func TestPortableMultiplicationEqualsThatOfThisMachine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		all := make([]float32, n)
		for i := range all {
			all[i] = float32(r.NormFloat64())
		}
		return all
	}
	for _, rows := range []int{4, 8, 64, 132, 512} {
		for _, columns := range []int{8, 16, 128, 216, 256} {
			matrix, x, before := random(rows*columns), random(columns), random(rows)
			want, got := append([]float32(nil), before...), append([]float32(nil), before...)
			multiplyAddGo(want, matrix, x)
			multiplyAdd(got, matrix, x)
			assert.InDeltaSlicef(t, want, got, 1e-3, "%d rows, %d columns", rows, columns)
		}
	}
}

// The state of a call is small, and all calls share the weights.
func TestDetectorStateIsSmall(t *testing.T) {
	t.Parallel()
	a, err := New()
	require.NoError(t, err)
	b, err := New()
	require.NoError(t, err)
	assert.Same(t, a.network, b.network)
	assert.Less(t, unsafe.Sizeof(*a), uintptr(64<<10))
}

func TestDamagedModelFileIsError(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{
		"empty":     {},
		"truncated": modelFile[:len(modelFile)/2],
		"other":     []byte("not a model"),
		"no tensor": modelFile[:40],
	} {
		_, err := parseNetwork(file)
		assert.Error(t, err, name)
	}
}

func FuzzParseNetwork(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x08\x08\x12\x04spox:\x10\n\x0e"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := parseNetwork(file); err == nil {
			t.Error("accepted without weights")
		}
	})
}

// BenchmarkMultiply compares both multiplications at the size of the largest layer.
func BenchmarkMultiply(b *testing.B) {
	l := newLayer(512, 256)
	x, out := make([]float32, l.columns), make([]float32, l.rows)
	b.Run("portable", func(b *testing.B) {
		for b.Loop() {
			multiplyAddGo(out, l.matrix, x)
		}
	})
	b.Run("machine", func(b *testing.B) {
		for b.Loop() {
			multiplyAdd(out, l.matrix, x)
		}
	})
}
