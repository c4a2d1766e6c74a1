package webhook

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
)

// RetriesInMemory returns the number of retries that an endpoint actor holds in memory.
func RetriesInMemory(a actor.Actor) int {
	e, ok := a.(*endpoint)
	if !ok {
		return -1
	}
	return len(e.queue.retries)
}

// WithIdleTimeout returns cfg with another time after which idle connections are closed.
func WithIdleTimeout(cfg ClientConfig, idle time.Duration) ClientConfig {
	cfg.idle = idle
	return cfg
}

// Enqueue commits rows in the background and reports the outcome. If life ends first, the rows are dropped.
func (l *ResultCommitter) Enqueue(life context.Context, workspace string, report func(error), rows ...*domain.Delivery) {
	l.enqueue(workspace, resultBatch{lifetime: func() context.Context { return life }, rows: rows, report: report})
}

// ActiveWorkspaces returns the number of workspaces whose results are waiting or being stored.
func (l *ResultCommitter) ActiveWorkspaces() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queues)
}
