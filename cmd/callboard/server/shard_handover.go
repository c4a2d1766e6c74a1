package server

import (
	"context"
	"log/slog"
	"time"
)

// How a node gives its shards to others.

// keepsShard says whether a shard stays on this node though another one has joined:
// the only one does, and of several those with live calls, which would be cut
// off from their workspaces.
func (m *node) keepsShard(shard int, to string) bool {
	if m.cfg.Node.Shards == 1 {
		return true
	}
	c := m.shards.shard(shard)
	if c == nil {
		return false
	}
	if c.router.IsDrained() { // or the one who has said so could not take it back
		return true
	}
	at := time.Since(m.startedAt)
	c.recordWaitingNode(to, at)
	return !c.takeIdle(at)
}

// stopShard gives a shard back: live calls may end before that. lost: another node
// may have it, and nothing can be kept any more.
func (m *node) stopShard(shard int, lost bool) {
	if _, looks := fencingToken(""); lost && !looks {
		return
	}
	if !lost && isDrainSkipped() {
		m.log.Info("this node no longer has the work", slog.Int("shard", shard), slog.Bool("lost", lost))
		return
	}
	c := m.shards.shard(shard)
	c.holdRequests()
	c.handingOver.Store(true)
	if !lost {
		lost = m.drainShard(c)
	}
	c.leaseLost = lost
	c.drainDeadline = time.Time{} // whoever downloads still has the least time
	c.stopping.Store(true)
	m.shards.remove(shard)
	c.stop()
	m.shards.closeUnused(false)
	m.log.Info("this node no longer has the work", slog.Int("shard", shard), slog.Bool("lost", lost))
}

// cutOffLimit is how long live calls may go on that cannot be handed over, at a
// node that sees none of the others: for as long nobody reaches their workspaces
// from elsewhere, and about as many callers are turned away as calls could end.
const cutOffLimit = 5 * time.Second

// drainShard lets live calls end, at a node that is cut off from the others not for
// long; true: another node has the shard meanwhile.
func (m *node) drainShard(c *ownedShard) (lost bool) {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.drain(ctx)
	}()
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return lost
		case <-tick.C:
		}
		if n, ok := m.leases.Owner(c.number); ok && n.ID != m.self.ID {
			lost = true
			cancel(nil)
		} else if m.holder.IsIsolated() && time.Since(began) > cutOffLimit {
			cancel(context.DeadlineExceeded)
		}
	}
}
