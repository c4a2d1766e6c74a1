package actors

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// After a failure a chore of a workspace is tried again so soon, and later and
// later.
const (
	choreSoon = 250 * time.Millisecond
	choreLate = 30 * time.Second
)

// choresAtOnce bounds the workspaces that one chore works for at a time. A
// workspace whose far ends hang takes one of them.
const choresAtOnce = 32

// chore is work that rows of the store ask for, beside the actors. Of one
// workspace one piece is done at a time, and none waits for those of another.
// It costs nothing while nobody wakes it.
type chore struct{ state *choreState }

type choreState struct {
	mu    sync.Mutex
	of    map[string]*choreOf // by workspace
	awake chan struct{}
}

type choreOf struct {
	due, busy bool
	wait      time.Duration // after the next failure
}

func newChore() chore {
	return chore{&choreState{of: make(map[string]*choreOf), awake: make(chan struct{}, 1)}}
}

// wake says that there is something to do for a workspace. It never blocks.
func (c chore) wake(workspaceID string) {
	c.state.mu.Lock()
	x := c.state.of[workspaceID]
	if x == nil {
		x = &choreOf{wait: choreSoon}
		c.state.of[workspaceID] = x
	}
	x.due = true
	c.state.mu.Unlock()
	c.ring()
}

func (c chore) ring() {
	select {
	case c.state.awake <- struct{}{}:
	default:
	}
}

// take are the workspaces whose chore begins now.
func (c chore) take() []string {
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

// rest ends a piece of work. What failed is due again later.
func (c chore) rest(workspaceID string, failed bool) {
	c.state.mu.Lock()
	x := c.state.of[workspaceID]
	x.busy = false
	wait, due := x.wait, x.due
	switch {
	case failed:
		x.due, x.wait = false, min(2*x.wait, choreLate)
	case due:
		x.wait = choreSoon
	default:
		delete(c.state.of, workspaceID)
	}
	c.state.mu.Unlock()
	switch {
	case failed:
		time.AfterFunc(wait, func() { c.wake(workspaceID) })
	case due:
		c.ring()
	}
}

// run does what is due until ctx ends. do works until nothing of its workspace
// is left to do, or fails.
func (c chore) run(ctx context.Context, log *slog.Logger, what string, do func(ctx context.Context, workspaceID string) error) {
	var at sync.WaitGroup
	defer at.Wait()
	room := make(chan struct{}, choresAtOnce)
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.state.awake:
		}
		for _, id := range c.take() {
			at.Go(func() {
				select {
				case <-ctx.Done():
					return
				case room <- struct{}{}:
				}
				defer func() { <-room }()
				err := guarded(ctx, id, do)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					log.Warn("a chore failed; it is tried again", slog.String("what", what), slog.String("workspace_id", id), slog.Any("error", err))
				}
				c.rest(id, err != nil)
			})
		}
	}
}

// guarded makes a panic an error: it is one workspace's.
func guarded(ctx context.Context, workspaceID string, do func(ctx context.Context, workspaceID string) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it panicked: %v", v)
		}
	}()
	return do(ctx, workspaceID)
}
