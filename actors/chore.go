package actors

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// After a failure a chore is tried again so soon, and later and later.
const (
	choreSoon = 250 * time.Millisecond
	choreLate = 30 * time.Second
)

// chore is work that rows of the store ask for, of one workspace after the
// other, beside the actors. It costs nothing while nobody wakes it.
type chore struct{ state *choreState }

type choreState struct {
	mu    sync.Mutex
	due   map[string]bool // workspaces
	awake chan struct{}
}

func newChore() chore {
	return chore{&choreState{due: make(map[string]bool), awake: make(chan struct{}, 1)}}
}

// wake says that there is something to do for a workspace. It never blocks.
func (c chore) wake(workspaceID string) {
	c.state.mu.Lock()
	c.state.due[workspaceID] = true
	c.state.mu.Unlock()
	select {
	case c.state.awake <- struct{}{}:
	default:
	}
}

func (c chore) take() []string {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	out := make([]string, 0, len(c.state.due))
	for id := range c.state.due {
		out = append(out, id)
	}
	clear(c.state.due)
	return out
}

// run does what is due until ctx ends. do works until nothing of its workspace
// is left to do, or fails.
func (c chore) run(ctx context.Context, log *slog.Logger, what string, do func(ctx context.Context, workspaceID string) error) {
	wait, again := choreSoon, time.NewTimer(0)
	again.Stop()
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		case <-c.state.awake:
		}
		failed := false
		for _, id := range c.take() {
			err := do(ctx, id)
			if err == nil {
				continue
			}
			if ctx.Err() != nil {
				return
			}
			failed = true
			log.Warn("a chore failed; it is tried again", slog.String("what", what), slog.String("workspace_id", id), slog.Any("error", err))
			c.state.mu.Lock()
			c.state.due[id] = true
			c.state.mu.Unlock()
		}
		if !failed {
			wait = choreSoon
			continue
		}
		again.Reset(wait)
		wait = min(2*wait, choreLate)
	}
}
