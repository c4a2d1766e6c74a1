package record

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Waits after failures; each is twice as long as the one before.
const (
	firstRetry = 250 * time.Millisecond
	maxRetry   = 30 * time.Second
)

// maxWorkspacesAtOnce bounds the workspaces for which one task runs at a time.
const maxWorkspacesAtOnce = 32

// WorkspaceTask runs background work that stored rows ask for. It runs at most
// once at a time for each workspace, and workspaces do not wait for each other.
// It costs nothing until it is woken.
type WorkspaceTask struct{ state *workspaceTaskState }

type workspaceTaskState struct {
	mu    sync.Mutex
	of    map[string]*taskOfWorkspace // by workspace
	awake chan struct{}
}

type taskOfWorkspace struct {
	due, busy bool
	wait      time.Duration // after the next failure
}

// NewWorkspaceTask returns a task; Run runs it.
func NewWorkspaceTask() WorkspaceTask {
	return WorkspaceTask{&workspaceTaskState{of: make(map[string]*taskOfWorkspace), awake: make(chan struct{}, 1)}}
}

// Wake says that there is work for a workspace. It never blocks.
func (c WorkspaceTask) Wake(workspaceID string) {
	c.state.mu.Lock()
	x := c.state.of[workspaceID]
	if x == nil {
		x = &taskOfWorkspace{wait: firstRetry}
		c.state.of[workspaceID] = x
	}
	x.due = true
	c.state.mu.Unlock()
	c.signal()
}

func (c WorkspaceTask) signal() {
	select {
	case c.state.awake <- struct{}{}:
	default:
	}
}

// takeDue returns the workspaces whose work begins now.
func (c WorkspaceTask) takeDue() []string {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	var out []string
	for id, x := range c.state.of {
		if x.due && !x.busy {
			x.due, x.busy = false, true
			out = append(out, id)
		}
	}
	return out
}

// finish ends a run. A failed one is due again later.
func (c WorkspaceTask) finish(workspaceID string, failed bool) {
	c.state.mu.Lock()
	x := c.state.of[workspaceID]
	x.busy = false
	wait, due := x.wait, x.due
	switch {
	case failed:
		x.due, x.wait = false, min(2*x.wait, maxRetry)
	case due:
		x.wait = firstRetry
	default:
		delete(c.state.of, workspaceID)
	}
	c.state.mu.Unlock()
	switch {
	case failed:
		time.AfterFunc(wait, func() { c.Wake(workspaceID) })
	case due:
		c.signal()
	}
}

// Run runs what is due until ctx ends. do works until nothing is left to do for
// its workspace, or fails.
func (c WorkspaceTask) Run(ctx context.Context, log *slog.Logger, what string, do func(ctx context.Context, workspaceID string) error) {
	var at sync.WaitGroup
	defer at.Wait()
	room := make(chan struct{}, maxWorkspacesAtOnce)
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.state.awake:
		}
		for _, id := range c.takeDue() {
			at.Go(func() {
				select {
				case <-ctx.Done():
					return
				case room <- struct{}{}:
				}
				defer func() { <-room }()
				err := withoutPanic(ctx, id, do)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					log.Warn("a chore failed; it is tried again", slog.String("what", what), slog.String("workspace_id", id), slog.Any("error", err))
				}
				c.finish(id, err != nil)
			})
		}
	}
}

// withoutPanic turns a panic into an error of one workspace.
func withoutPanic(ctx context.Context, workspaceID string, do func(ctx context.Context, workspaceID string) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it panicked: %v", v)
		}
	}()
	return do(ctx, workspaceID)
}
