package record_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/service/record"
)

func TestKeyedMutexBlocksOnlySameKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m record.KeyedMutex
		unlock, err := m.Lock(t.Context(), "a")
		require.NoError(t, err)
		other, err := m.Lock(t.Context(), "b")
		require.NoError(t, err)
		other()
		bound, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = m.Lock(bound, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		locked := false
		go func() {
			next, err := m.Lock(t.Context(), "a")
			if err == nil {
				locked = true
				next()
			}
		}()
		synctest.Wait()
		assert.False(t, locked)
		unlock()
		synctest.Wait()
		assert.True(t, locked)
	})
}

func TestKeyedMutexServesWaitersInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m record.KeyedMutex
		unlock, err := m.Lock(t.Context(), "a")
		require.NoError(t, err)
		var turns []int
		for i := range 5 {
			go func() {
				next, err := m.Lock(t.Context(), "a")
				assert.NoError(t, err)
				turns = append(turns, i)
				next()
			}()
			synctest.Wait() // this goroutine waits for the mutex before the next one starts
		}
		unlock()
		synctest.Wait()
		assert.Equal(t, []int{0, 1, 2, 3, 4}, turns)
	})
}
