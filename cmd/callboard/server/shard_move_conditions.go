package server

import (
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/call"
)

// idleMaxAge is how long an observation that a shard can move is valid. A new call may begin at any time.
const idleMaxAge = time.Second

// takeIdle reports whether watchHeartbeat has just observed that the shard can move to the waiting node. Each
// observation is used once. at is the time since the start of the process.
func (c *ownedShard) takeIdle(at time.Duration) bool {
	seen := time.Duration(c.idleAt.Swap(0))
	return seen > time.Duration(c.waitingSince.Load()) && at-seen <= idleMaxAge
}

// defaultMoveAfter is how long another node must want a shard before a shard with live calls is handed over. The wait
// lets short calls end first, because a handover interrupts the audio of each call briefly.
const defaultMoveAfter = time.Minute

// recordWaitingNode records that the node with the ID to wants the shard. at is the time since the start of the process.
// The waiting time starts again if another node wants the shard, or after ten seconds without this call.
func (c *ownedShard) recordWaitingNode(to string, at time.Duration) {
	if at-time.Duration(c.lastWaitingAt.Swap(int64(at))) > 10*time.Second || to != c.waitingNode {
		c.waitingSince.Store(int64(at))
		c.waitingNode = to
	}
	c.checkIdle.Store(true)
}

// waitingTime returns how long the waiting node has wanted the shard.
func (c *ownedShard) waitingTime() time.Duration {
	return time.Duration(c.lastWaitingAt.Load() - c.waitingSince.Load())
}

// canMove reports whether the shard may move to another node. It may if it has no live calls. It also may if all calls
// can be handed over and another node has wanted the shard for longer than after.
func (c *ownedShard) canMove(now call.LiveCalls, survive bool, after time.Duration) bool {
	return now.Open == 0 || survive && now.Open == now.Movable && c.waitingTime() > after
}

// ownedShard is a shard that runs on this node, with the times that decide whether the node must or may release it.
type ownedShard struct {
	*shard
	lastHeartbeat atomic.Int64 // last answer of the actors, in nanoseconds since the start of the process
	checkIdle     atomic.Bool  // the idle state must be checked, because another node waits
	idleAt        atomic.Int64 // when the shard was idle or all its calls could move, in nanoseconds since the start of the process; 0: unknown or busy
	waitingSince  atomic.Int64 // when the current node began to wait, in nanoseconds since the start of the process
	lastWaitingAt atomic.Int64 // when the node was last seen waiting
	waitingNode   string       // ID of the waiting node; used by the lease holder's goroutine only
}
