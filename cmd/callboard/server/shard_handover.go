package server

import (
	"context"
	"log/slog"
	"time"
)

// keepsShard reports whether this node keeps a shard although another node wants it. A node keeps the only shard of a
// cluster, a drained shard, and a shard whose live calls cannot move yet.
func (m *node) keepsShard(shard int, to string) bool {
	if m.cfg.Node.Shards == 1 {
		return true
	}
	c := m.shards.shard(shard)
	if c == nil {
		return false
	}
	if c.router.IsDrained() { // an operator can end the drain only on this node
		return true
	}
	at := time.Since(m.startedAt)
	c.recordWaitingNode(to, at)
	return !c.takeIdle(at)
}

// stopShard releases a shard after its live calls have ended or are ready for the handover. lost means that another
// node may already own the shard, so that this node can commit nothing.
func (m *node) stopShard(shard int, lost bool) {
	if _, looks := fencingToken(""); lost && !looks {
		return
	}
	if !lost && isDrainSkipped() {
		m.log.Info("this node released the shard", slog.Int("shard", shard), slog.Bool("lost", lost))
		return
	}
	c := m.shards.shard(shard)
	c.holdRequests()
	c.handingOver.Store(true)
	if !lost {
		lost = m.drainShard(c)
	}
	c.leaseLost = lost
	c.drainDeadline = time.Time{} // downloads still get the minimum time
	c.stopping.Store(true)
	m.shards.remove(shard)
	c.stop()
	m.shards.closeUnused(false)
	m.log.Info("this node released the shard", slog.Int("shard", shard), slog.Bool("lost", lost))
}

// cutOffLimit is how long calls that cannot be handed over may continue on a node that reaches no other node.
// Meanwhile no other node can serve their workspaces.
const cutOffLimit = 5 * time.Second

// drainShard waits until the live calls of a shard end, at most for the drain limit. It stops after cutOffLimit if this
// node reaches no other node, and at once if another node already owns the shard. In the last case it returns true.
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
