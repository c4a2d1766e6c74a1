package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeptShardIsHandedOverOnceReleased(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 60)
		a := h.join("a")
		sleepAndSettle(time.Second)
		set(a, &a.keepsShards, true)
		b := h.join("b")
		sleepAndSettle(time.Minute)
		assert.Equal(t, map[string]int{"a": 60}, h.checkShares(a, b))
		set(a, &a.keepsShards, false)
		sleepAndSettle(3 * time.Second)
		assert.Len(t, h.checkShares(a, b), 2)
		set(a, &a.keepsShards, true)
		require.NoError(t, a.Drain(t.Context()), "a leaving node releases all shards")
		sleepAndSettle(time.Second)
		assert.Equal(t, map[string]int{"b": 60}, h.checkShares(a, b))
	})
}
