package server

import (
	"context"
	"time"
)

// drain accepts no new calls and waits for live calls within the drain limit.
func (t *shard) drain(ctx context.Context) {
	t.drainDeadline = time.Now().Add(t.cfg.DrainTimeout)
	ctx, cancel := context.WithDeadline(ctx, t.drainDeadline)
	defer cancel()
	if t.token == "" {
		t.actors.Drain(ctx)
		return
	}
	t.hasCallsToHandOver = t.actors.DrainForHandover(ctx, t.node.cluster.hasSuccessor)
	t.holdRequests()
	t.actors.RefuseWrites()
}

// handOverCalls hands the live calls over to another node. It runs last, because the remote parties hear silence
// until the other node resumes the calls.
func (t *shard) handOverCalls() {
	if !t.hasCallsToHandOver || t.leaseLost {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handoverTimeout)
	defer cancel()
	t.actors.HandOverCalls(ctx)
}

// handoverTimeout limits the wait for calls that became unable to move during the handover.
const handoverTimeout = 3 * time.Second

// stop stops the shard in the reverse order of its start. Further calls do nothing.
func (t *shard) stop() { t.stopOnce.Do(t.stopShard) }

// stopShard stops the shard: HTTP, handover, actors, store.
func (t *shard) stopShard() {
	t.stopHTTP()
	t.handOverCalls()
	if t.actors != nil {
		t.router.Remove(t.actors)
		t.actors.Stop()
	}
	t.cancel()
	t.shards.remove(t)
	if t.store != nil {
		t.store.Close()
	}
}
