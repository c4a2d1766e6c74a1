package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// backgroundTasks runs goroutines that the stop of the node waits for.
type backgroundTasks struct {
	log   *slog.Logger
	run   atomic.Pointer[context.Context] // ends with the node; nil before its start
	end   context.CancelFunc              // ends run
	tasks sync.WaitGroup
}

// startTasks returns the context that ends with the node.
func (b *backgroundTasks) startTasks(ctx context.Context) context.Context {
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	b.end = end
	b.run.Store(&run)
	return run
}

// stopTasks ends the context and waits for the goroutines.
func (b *backgroundTasks) stopTasks() {
	if b.end != nil {
		b.end()
	}
	b.tasks.Wait()
}

// Context ends with the node.
func (b *backgroundTasks) Context() context.Context {
	if run := b.run.Load(); run != nil {
		return *run
	}
	return context.Background()
}

// RunInBackground runs f in a goroutine that Stop waits for.
func (b *backgroundTasks) RunInBackground(f func()) {
	b.tasks.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				b.log.Error("a background task failed", slog.Any("reason", v))
			}
		}()
		f()
	})
}
