package record

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Bounds of the delay before a failed run is repeated. The delay doubles with each failure.
const (
	firstRetry = 250 * time.Millisecond
	maxRetry   = 30 * time.Second
)

// maxWorkspacesAtOnce is the maximum number of workspaces for which one task runs at the same time.
const maxWorkspacesAtOnce = 32

// WorkspaceTask runs background work for workspaces. It runs at most once at a time for each workspace, and
// workspaces do not wait for each other. The task uses no goroutine or timer for workspaces without work.
type WorkspaceTask struct{ state *workspaceTaskState }

type workspaceTaskState struct {
	mu          sync.Mutex
	byWorkspace map[string]*workspaceRun
	awake       chan struct{}
}

type workspaceRun struct {
	isDue, isRunning bool
	wait             time.Duration // waiting time after the next failure
}

// NewWorkspaceTask returns a task. The caller starts the task with Run.
func NewWorkspaceTask() WorkspaceTask {
	return WorkspaceTask{&workspaceTaskState{byWorkspace: make(map[string]*workspaceRun), awake: make(chan struct{}, 1)}}
}

// Wake reports that there is work for a workspace. Wake never blocks.
func (c WorkspaceTask) Wake(workspaceID string) {
	c.state.mu.Lock()
	x := c.state.byWorkspace[workspaceID]
	if x == nil {
		x = &workspaceRun{wait: firstRetry}
		c.state.byWorkspace[workspaceID] = x
	}
	x.isDue = true
	c.state.mu.Unlock()
	c.signal()
}

func (c WorkspaceTask) signal() {
	select {
	case c.state.awake <- struct{}{}:
	default:
	}
}

// takeDue returns the workspaces whose work can begin now, and marks them as running.
func (c WorkspaceTask) takeDue() []string {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	var out []string
	for id, x := range c.state.byWorkspace {
		if x.isDue && !x.isRunning {
			x.isDue, x.isRunning = false, true
			out = append(out, id)
		}
	}
	return out
}

// finish records that a run for a workspace has ended. A failed run is due again after its retry delay.
func (c WorkspaceTask) finish(workspaceID string, failed bool) {
	c.state.mu.Lock()
	x := c.state.byWorkspace[workspaceID]
	x.isRunning = false
	wait, isDue := x.wait, x.isDue
	switch {
	case failed:
		x.isDue, x.wait = false, min(2*x.wait, maxRetry)
	case isDue:
		x.wait = firstRetry
	default:
		delete(c.state.byWorkspace, workspaceID)
	}
	c.state.mu.Unlock()
	switch {
	case failed:
		time.AfterFunc(wait, func() { c.Wake(workspaceID) })
	case isDue:
		c.signal()
	}
}

// Run runs the task for the workspaces with due work until ctx ends. name is the task's name in the log. do carries
// out all pending work of one workspace and returns an error if it fails.
func (c WorkspaceTask) Run(ctx context.Context, log *slog.Logger, name string, do func(ctx context.Context, workspaceID string) error) {
	var runs sync.WaitGroup
	defer runs.Wait()
	slots := make(chan struct{}, maxWorkspacesAtOnce)
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.state.awake:
		}
		for _, id := range c.takeDue() {
			runs.Go(func() {
				select {
				case <-ctx.Done():
					return
				case slots <- struct{}{}:
				}
				defer func() { <-slots }()
				err := recoverPanic(ctx, id, do)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					log.Warn("a background task failed; it is tried again", slog.String("task", name), slog.String("workspace_id", id), slog.Any("error", err))
				}
				c.finish(id, err != nil)
			})
		}
	}
}

// recoverPanic calls do and returns a panic as an error, so that a panic affects one workspace only.
func recoverPanic(ctx context.Context, workspaceID string, do func(ctx context.Context, workspaceID string) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the task panicked: %v", v)
		}
	}()
	return do(ctx, workspaceID)
}
