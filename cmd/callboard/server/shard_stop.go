package server

import (
	"context"
	"time"
)

// drain takes no new calls and lets the live ones end within the limit.
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

// handOverCalls lets go of the calls that another node goes on with: last of all, for
// their far ends hear nothing until it does.
func (t *shard) handOverCalls() {
	if !t.hasCallsToHandOver || t.leaseLost {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handoverTimeout)
	defer cancel()
	t.actors.HandOverCalls(ctx)
}

// handOverLimit is how long calls that have just become such that nobody else can go
// on with them hold up those of others.
const handoverTimeout = 3 * time.Second

// stop ends the seat, in the reverse order of its start; once.
func (t *shard) stop() { t.stopOnce.Do(t.stopShard) }

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
