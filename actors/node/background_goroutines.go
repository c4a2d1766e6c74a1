package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// backgroundTasks runs goroutines. Node.Stop cancels their context and waits until all of them have returned.
type backgroundTasks struct {
	log   *slog.Logger
	run   atomic.Pointer[context.Context] // context of the tasks, cancelled when the node stops; nil before the start
	end   context.CancelFunc              // cancels run
	tasks sync.WaitGroup
}

// startTasks creates the context of the background tasks and returns it. stopTasks cancels the context.
func (b *backgroundTasks) startTasks(ctx context.Context) context.Context {
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	b.end = end
	b.run.Store(&run)
	return run
}

// stopTasks cancels the context of the background tasks and waits for all goroutines.
func (b *backgroundTasks) stopTasks() {
	if b.end != nil {
		b.end()
	}
	b.tasks.Wait()
}

// Context returns a context that is cancelled when the node stops.
func (b *backgroundTasks) Context() context.Context {
	if run := b.run.Load(); run != nil {
		return *run
	}
	return context.Background()
}

// RunInBackground runs f in a goroutine. Node.Stop waits for it. A panic in f is logged.
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
