package record_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/service/record"
)

// slow yields n numbers, each after one second. If fail is not nil, it then yields fail as an error.
func slow(n int, fail error) func(context.Context) iter.Seq2[int, error] {
	return func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := range n {
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return
				}
				if !yield(i, nil) {
					return
				}
			}
			if fail != nil {
				yield(0, fail)
			}
		}
	}
}

func TestReadAheadReadsNextValueWhileCurrentIsUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var got []int
		for v, err := range record.ReadAhead(t.Context(), slow(5, nil)) {
			require.NoError(t, err)
			got = append(got, v)
			time.Sleep(time.Second)
		}
		assert.Equal(t, []int{0, 1, 2, 3, 4}, got)
		assert.Equal(t, 6*time.Second, time.Since(began), "reading and using overlap: without read-ahead it takes 10 s")
	})
}

func TestReadAheadGoroutineEndsWhenConsumerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // synctest fails if a goroutine is left
		for v, err := range record.ReadAhead(t.Context(), slow(1000, nil)) {
			require.NoError(t, err)
			if v == 3 {
				break
			}
		}
	})
}

func TestReadAheadReturnsError(t *testing.T) {
	t.Parallel()
	broken := errors.New("the store does not answer")
	errs := func(ctx context.Context, walk func(context.Context) iter.Seq2[int, error]) (all []error) {
		for _, err := range record.ReadAhead(ctx, walk) {
			all = append(all, err)
		}
		return all
	}
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, []error{nil, broken}, errs(t.Context(), slow(1, broken)))
		cut, stop := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer stop()
		assert.Equal(t, []error{nil, nil, context.DeadlineExceeded}, errs(cut, slow(1000, nil)), "a sequence that is cut off ends with an error")
		all := errs(t.Context(), func(context.Context) iter.Seq2[int, error] {
			return func(func(int, error) bool) { panic("trap") }
		})
		require.Len(t, all, 1)
		require.ErrorContains(t, all[0], "trap")
	})
	assert.True(t, slices.Contains(errs(t.Context(), slow(0, broken)), broken))
}
