package server

import (
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/call"
)

// idleMaxAge is how long an observed idle state of a shard counts. Calls may begin at any time.
const idleMaxAge = time.Second

// takeIdle reports whether the shard was idle a moment ago, observed since the current node waits for it. Each
// observation counts once. at is the time since the start of the process.
func (c *ownedShard) takeIdle(at time.Duration) bool {
	seen := time.Duration(c.idleAt.Swap(0))
	return seen > time.Duration(c.waitingSince.Load()) && at-seen <= idleMaxAge
}

// defaultMoveAfter is how long another node waits until a shard with live calls is handed over. A handover means a
// short silence in each call, and some calls end before.
const defaultMoveAfter = time.Minute

// recordWaitingNode records that a node waits for the shard. at is the time since the start of the process. The
// waiting time starts again for another node, and after ten seconds without a request.
func (c *ownedShard) recordWaitingNode(to string, at time.Duration) {
	if at-time.Duration(c.lastWaitingAt.Swap(int64(at))) > 10*time.Second || to != c.waitingNode {
		c.waitingSince.Store(int64(at))
		c.waitingNode = to
	}
	c.checkIdle.Store(true)
}

// waitingTime returns how long the current node has waited.
func (c *ownedShard) waitingTime() time.Duration {
	return time.Duration(c.lastWaitingAt.Load() - c.waitingSince.Load())
}

// canMove reports whether the shard may be released. It may if it has no live calls, or if all of them can be
// handed over and another node has waited longer than after.
func (c *ownedShard) canMove(now call.LiveCalls, survive bool, after time.Duration) bool {
	return now.Open == 0 || survive && now.Open == now.Movable && c.waitingTime() > after
}

// ownedShard is a shard with the state by which its node watches it.
type ownedShard struct {
	*shard
	lastHeartbeat atomic.Int64 // last answer of the actors, in nanoseconds since the start of the process
	checkIdle     atomic.Bool  // the idle state must be checked, because another node waits
	idleAt        atomic.Int64 // when the shard was idle or all its calls could move, in nanoseconds since the start of the process; 0: unknown or busy
	waitingSince  atomic.Int64 // when the current node began to wait, in nanoseconds since the start of the process
	lastWaitingAt atomic.Int64 // when the node was last seen waiting
	waitingNode   string       // ID of the waiting node; used by the lease holder's goroutine only
}
