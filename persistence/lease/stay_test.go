package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatIsBusyGoesToWhoHasJoinedOnceItIsNot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 60)
		a := h.join("a")
		after(time.Second)
		set(a, &a.busy, true)
		b := h.join("b")
		after(time.Minute)
		assert.Equal(t, map[string]int{"a": 60}, h.shares(a, b))
		set(a, &a.busy, false)
		after(3 * time.Second)
		assert.Len(t, h.shares(a, b), 2)
		set(a, &a.busy, true)
		require.NoError(t, a.Drain(t.Context()), "who goes gives everything")
		after(time.Second)
		assert.Equal(t, map[string]int{"b": 60}, h.shares(a, b))
	})
}
