package server

import (
	"context"
	"time"
)

// drain refuses new calls and waits until live calls have ended or can be handed over, at most for the drain limit.
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

// handOverCalls hands the live calls over to another node. It runs after the HTTP shutdown, because the remote parties
// hear silence from now on until the other node resumes the calls.
func (t *shard) handOverCalls() {
	if !t.hasCallsToHandOver || t.leaseLost {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handoverTimeout)
	defer cancel()
	t.actors.HandOverCalls(ctx)
}

// handoverTimeout limits the handover of the live calls. A call that changes meanwhile may be unable to move.
const handoverTimeout = 3 * time.Second

// stop stops the shard. Only the first call has an effect.
func (t *shard) stop() { t.stopOnce.Do(t.stopShard) }

// stopShard stops the HTTP API, hands over the live calls, stops the actors and closes the store, in this order.
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
