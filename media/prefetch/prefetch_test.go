package prefetch_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media/prefetch"
)

func TestAnyPlaceMayBeAskedForAndNothingChanges(t *testing.T) {
	v := [3]uint64{1, 2, 3}
	prefetch.Of(&v)
	for _, at := range []uintptr{0, 1, 63, 64, prefetch.Place(&v), 1 << 46, math.MaxInt64 - 4096, math.MaxUint64 - 4096} {
		for _, n := range []int{-1, 0, 1, 64, 65, 4000} {
			prefetch.Bytes(at, n)
		}
	}
	assert.Equal(t, [3]uint64{1, 2, 3}, v)
	assert.Equal(t, prefetch.Place(&v)+8, prefetch.Place(&v[1]))
}
