// Package jobs runs long background work outside the actor system: bulk jobs, exports, data requests and deletions.
// A failed job runs again after a delay. The package stores nothing. The job must store its own progress, so that a
// later run can continue.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/service/record"
)

// Limits of the delay before a failed job runs again. The delay doubles after each failure.
const (
	minRetryDelay = 500 * time.Millisecond
	maxRetryDelay = 30 * time.Second
)

// Work continues a job from its stored progress. It returns nil when the job is complete. After an error the Runner
// calls Work again, unless the context of the job has ended.
type Work = func(ctx context.Context) error

// Runner runs jobs in the background. At most one job with the same name runs at a time.
type Runner struct {
	log      *slog.Logger
	mu       sync.Mutex
	jobs     map[string]*job
	isClosed bool
	running  sync.WaitGroup
}

type job struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// New returns a Runner.
func New(log *slog.Logger) *Runner {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Runner{log: log, jobs: make(map[string]*job)}
}

// Start runs a job in the background until work returns nil, ctx ends, or Stop, StopAndWait or Close ends the job. It
// returns false if a job with this name is running, or after Close.
func (r *Runner) Start(ctx context.Context, name string, work Work) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosed || r.jobs[name] != nil {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	j := &job{cancel: cancel, ended: make(chan struct{})}
	r.jobs[name] = j
	r.running.Go(func() {
		defer func() {
			cancel()
			r.mu.Lock()
			delete(r.jobs, name)
			r.mu.Unlock()
			close(j.ended)
		}()
		r.run(ctx, name, work)
	})
	return true
}

func (r *Runner) run(ctx context.Context, name string, work Work) {
	for delay := minRetryDelay; ; delay = min(2*delay, maxRetryDelay) {
		err := recoverPanic(ctx, work)
		if err == nil || ctx.Err() != nil {
			return
		}
		r.log.Warn("a background job failed; it runs again after a delay", slog.String("job", name), slog.Duration("delay", delay), slog.Any("error", err))
		if record.Sleep(ctx, delay) != nil {
			return
		}
	}
}

var errPanic = errors.New("a job panicked")

func recoverPanic(ctx context.Context, work Work) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errPanic, v)
		}
	}()
	return work(ctx)
}

// StopAndWait stops a job and waits until it has ended. If no job with this name runs, it does nothing.
func (r *Runner) StopAndWait(name string) {
	r.mu.Lock()
	j := r.jobs[name]
	r.mu.Unlock()
	if j == nil {
		return
	}
	j.cancel()
	<-j.ended
}

// StopAllAndWait stops the jobs whose names begin with prefix, and waits until they have ended.
func (r *Runner) StopAllAndWait(prefix string) {
	r.mu.Lock()
	var stopped []*job
	for name, j := range r.jobs {
		if strings.HasPrefix(name, prefix) {
			j.cancel()
			stopped = append(stopped, j)
		}
	}
	r.mu.Unlock()
	for _, j := range stopped {
		<-j.ended
	}
}

// Stop stops a job without waiting for its end.
func (r *Runner) Stop(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.jobs[name]; j != nil {
		j.cancel()
	}
}

// Close stops all jobs and waits until they have ended. No job can start afterwards.
func (r *Runner) Close() {
	r.mu.Lock()
	r.isClosed = true
	for _, j := range r.jobs {
		j.cancel()
	}
	r.mu.Unlock()
	r.running.Wait()
}
