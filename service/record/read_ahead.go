package record

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
)

// ReadAhead yields the values of walk. It runs walk in a goroutine, which computes the next value while the caller uses
// the current one. The goroutine has ended when the sequence ends.
func ReadAhead[T any](ctx context.Context, walk func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	type step struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		walkCtx, stop := context.WithCancel(ctx)
		steps := make(chan step, 1)
		send := func(s step) bool {
			select {
			case steps <- s:
				return true
			case <-walkCtx.Done():
				return false
			}
		}
		go func() {
			defer close(steps)
			defer func() {
				if r := recover(); r != nil {
					send(step{err: fmt.Errorf("record: reading ahead panicked: %v\n%s", r, debug.Stack())})
				}
			}()
			for value, err := range walk(walkCtx) {
				if !send(step{value, err}) {
					return
				}
			}
		}()
		defer func() {
			stop()
			for range steps { // wait until the goroutine has ended
			}
		}()
		for s := range steps {
			if !yield(s.value, s.err) {
				return
			}
		}
		if err := ctx.Err(); err != nil { // the deadline of ctx cut the sequence off
			var zero T
			yield(zero, err)
		}
	}
}

// Flatten yields the elements of slices one by one.
func Flatten[T any](all iter.Seq2[[]T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for values, err := range all {
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, value := range values {
				if !yield(value, nil) {
					return
				}
			}
		}
	}
}
