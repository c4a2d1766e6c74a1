package webhook

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
)

// Held is how many retries an endpoint's actor has in memory.
func Held(a actor.Actor) int {
	e, ok := a.(*endpoint)
	if !ok {
		return -1
	}
	return len(e.queue.retries)
}

// Resting is a configuration whose connections are kept for a time of one's own
// choice.
func Resting(cfg ClientConfig, idle time.Duration) ClientConfig {
	cfg.idle = idle
	return cfg
}

// Keep has a ledger store rows for an incarnation that lasts as long as life.
func (l *ResultCommitter) Keep(life context.Context, workspace string, told func(error), rows ...*domain.Delivery) {
	l.enqueue(workspace, resultBatch{lifetime: func() context.Context { return life }, rows: rows, report: told})
}

// Busy is in how many workspaces something is being stored.
func (l *ResultCommitter) Busy() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queues)
}
