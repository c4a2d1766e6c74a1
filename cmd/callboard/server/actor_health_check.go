package server

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// watchHeartbeat periodically checks whether the actors of a shard answer, and whether the shard can move, until the
// shard stops.
func (m *node) watchHeartbeat(c *ownedShard) {
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	for {
		select {
		case <-c.life.Done():
			return
		case err := <-c.listenerEnded:
			if c.life.Err() == nil && !c.stopping.Load() {
				m.endProcess(errors.Join(errors.New("a listener ended"), err))
			}
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(c.life, heartbeatTimeout)
		if c.actors.Heartbeat(ctx) == nil {
			m.recordHeartbeat(c)
		}
		if c.checkIdle.Swap(false) {
			at := int64(time.Since(m.startedAt))
			if now, err := c.actors.CountMovableCalls(ctx); err != nil || !c.canMove(now, m.cfg.Node.SurviveCalls, moveAfter()) {
				at = 0
			}
			c.idleAt.Store(at)
		}
		cancel()
	}
}

// recordHeartbeat records that the actors of a shard answered now.
func (m *node) recordHeartbeat(c *ownedShard) { c.lastHeartbeat.Store(int64(time.Since(m.startedAt))) }

// healthError returns an error while the actors of a shard do not answer, or while the node pauses after a failed start
// of a shard. The node then gives up its leases.
func (m *node) healthError() error {
	now := time.Since(m.startedAt)
	if m.backoff.active(now) {
		return errors.New("this node failed to start a shard and waits before the next attempt")
	}
	return m.shards.checkHeartbeats(now)
}

// checkHeartbeats returns an error while the actors of a shard do not answer. now is the time since the start of
// the process.
func (s *runningShards) checkHeartbeats(now time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for shard, c := range s.byNumber {
		if silent := now - time.Duration(c.lastHeartbeat.Load()); silent > heartbeatTimeout {
			return fmt.Errorf("the actors of shard %d have not answered for %s", shard, silent.Round(time.Millisecond))
		}
	}
	return nil
}
