// Package jobs runs durable work beside the supervision tree: bulk jobs,
// exports, what a deletion leaves. It knows no store and no work: whoever
// hands work in keeps where it stands, so that it can be begun again, in this
// process or in the next.
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

// How long a job rests after a failure: doubling from the first to the most.
const (
	restFirst = 500 * time.Millisecond
	restMost  = 30 * time.Second
)

// Work does what is left of a job. nil: nothing is left. It is begun again
// after an error, until its context ends.
type Work = func(ctx context.Context) error

// Runner runs jobs, each under a name that only one of them has.
type Runner struct {
	log  *slog.Logger
	mu   sync.Mutex
	by   map[string]*job
	over bool
	done sync.WaitGroup
}

type job struct {
	end   context.CancelFunc
	ended chan struct{}
}

// New makes a runner.
func New(log *slog.Logger) *Runner {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Runner{log: log, by: make(map[string]*job)}
}

// Begin runs work under a name until it is done, or until ctx, Stop or Close
// ends it. It says false where a job of that name runs already, or after Close.
func (r *Runner) Begin(ctx context.Context, name string, work Work) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.by[name] != nil {
		return false
	}
	ctx, end := context.WithCancel(ctx)
	j := &job{end: end, ended: make(chan struct{})}
	r.by[name] = j
	r.done.Go(func() {
		defer func() {
			end()
			r.mu.Lock()
			delete(r.by, name)
			r.mu.Unlock()
			close(j.ended)
		}()
		r.run(ctx, name, work)
	})
	return true
}

func (r *Runner) run(ctx context.Context, name string, work Work) {
	for rest := restFirst; ; rest = min(2*rest, restMost) {
		err := safely(ctx, work)
		if err == nil || ctx.Err() != nil {
			return
		}
		r.log.Warn("a job failed and is begun again", slog.String("job", name), slog.Duration("after", rest), slog.Any("error", err))
		if record.Sleep(ctx, rest) != nil {
			return
		}
	}
}

var errPanic = errors.New("a job panicked")

func safely(ctx context.Context, work Work) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", errPanic, v)
		}
	}()
	return work(ctx)
}

// Stop ends a job and waits until it has ended; one that does not run is none.
func (r *Runner) Stop(name string) {
	r.mu.Lock()
	j := r.by[name]
	r.mu.Unlock()
	if j == nil {
		return
	}
	j.end()
	<-j.ended
}

// StopAll ends the jobs whose names begin with a text, and waits for them.
func (r *Runner) StopAll(prefix string) {
	r.mu.Lock()
	var some []*job
	for name, j := range r.by {
		if strings.HasPrefix(name, prefix) {
			j.end()
			some = append(some, j)
		}
	}
	r.mu.Unlock()
	for _, j := range some {
		<-j.ended
	}
}

// End ends a job and does not wait for it.
func (r *Runner) End(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j := r.by[name]; j != nil {
		j.end()
	}
}

// Close ends all jobs and waits for them; none begins afterwards.
func (r *Runner) Close() {
	r.mu.Lock()
	r.over = true
	for _, j := range r.by {
		j.end()
	}
	r.mu.Unlock()
	r.done.Wait()
}
