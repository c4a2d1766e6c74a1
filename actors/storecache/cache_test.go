package storecache_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
)

// counter is a changeCounter that returns its own value for every workspace.
type counter uint64

func (c *counter) Changes(string) uint64 { return uint64(*c) }

func TestCacheReloadsAfterAChangeOrTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cache storecache.Cache[int]
		var changes counter
		loads := 0
		failed := errors.New("the store cannot be reached")
		var err error
		load := func() (int, error) { loads++; return loads, err }
		current := func() int {
			v, err := cache.Current(&changes, "ws_1", "a", load)
			require.NoError(t, err)
			return v
		}
		assert.Equal(t, []int{1, 1}, []int{current(), current()})
		changes++
		assert.Equal(t, 2, current())
		time.Sleep(2 * time.Second)
		assert.Equal(t, 3, current())
		err = failed
		_, got := cache.Current(&changes, "ws_2", "a", load)
		require.ErrorIs(t, got, failed)
		err = nil
		v, got := cache.Permanent("ws_1", "b", load)
		require.NoError(t, got)
		changes++
		again, _ := cache.Permanent("ws_1", "b", load)
		assert.Equal(t, v, again)
		cache.Remove("ws_1", "b")
		again, _ = cache.Permanent("ws_1", "b", load)
		assert.NotEqual(t, v, again)
	})
}
