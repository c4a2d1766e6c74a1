package record

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
)

// ReadAhead runs a sequence in a goroutine of its own: the next value is computed
// while the one before is used. The goroutine has ended when it returns.
func ReadAhead[T any](ctx context.Context, walk func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	type step struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		bound, stop := context.WithCancel(ctx)
		steps := make(chan step, 1)
		give := func(s step) bool {
			select {
			case steps <- s:
				return true
			case <-bound.Done():
				return false
			}
		}
		go func() {
			defer close(steps)
			defer func() {
				if r := recover(); r != nil {
					give(step{err: fmt.Errorf("actors: reading ahead panicked: %v\n%s", r, debug.Stack())})
				}
			}()
			for value, err := range walk(bound) {
				if !give(step{value, err}) {
					return
				}
			}
		}()
		defer func() {
			stop()
			for range steps { // until the walk has ended
			}
		}()
		for s := range steps {
			if !yield(s.value, s.err) {
				return
			}
		}
		if err := ctx.Err(); err != nil { // it did not come to its end
			var none T
			yield(none, err)
		}
	}
}

// Flatten yields the elements of slices one by one.
func Flatten[T any](all iter.Seq2[[]T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for some, err := range all {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, one := range some {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}
