package server

import (
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/call"
)

// idleValidity is how long it counts that a shard was quiet when it was looked at:
// calls may begin at any time, and by then it has been asked of again.
const idleMaxAge = time.Second

// takeIdle says whether the shard was seen to be quiet a moment ago, and since the
// node waits that does now; once for each look. at is since the process was born.
func (c *ownedShard) takeIdle(at time.Duration) bool {
	seen := time.Duration(c.idleAt.Swap(0))
	return seen > time.Duration(c.waitingSince.Load()) && at-seen <= idleMaxAge
}

// defaultMoveAfter is how long a shard with live calls stays where it is though another
// node waits for it, where these can be handed over: each of them hears some
// silence by that, and some are over by then.
const defaultMoveAfter = time.Minute

// recordWaitingNode notes that a node waits for the shard; at is since the process was born.
// What one has waited that is gone counts for no other one, nor for itself when it
// has started anew: it may be one that does not live for long.
func (c *ownedShard) recordWaitingNode(to string, at time.Duration) {
	if at-time.Duration(c.lastWaitingAt.Swap(int64(at))) > 10*time.Second || to != c.waitingNode {
		c.waitingSince.Store(int64(at))
		c.waitingNode = to
	}
	c.checkIdle.Store(true)
}

// waitingTime is how long it has waited.
func (c *ownedShard) waitingTime() time.Duration {
	return time.Duration(c.lastWaitingAt.Load() - c.waitingSince.Load())
}

// canMove says whether the shard may go by what is known of its calls: where none
// lives, or all can be handed over and another node has waited for so long.
func (c *ownedShard) canMove(now call.LiveCalls, survive bool, after time.Duration) bool {
	return now.Open == 0 || survive && now.Open == now.Movable && c.waitingTime() > after
}

// ownedShard is a seat as its node watches it.
type ownedShard struct {
	*shard
	lastHeartbeat atomic.Int64 // when its actors answered last, in nanoseconds since born
	checkIdle     atomic.Bool  // whether it is busy: another node waits for it
	idleAt        atomic.Int64 // when it was looked at and had no live call, or none that could not be handed over, in nanoseconds since born; 0: it had, or nobody has looked
	waitingSince  atomic.Int64 // when another node began to wait, in nanoseconds since born
	lastWaitingAt atomic.Int64 // and was seen to wait last
	waitingNode   string       // its ID; for the holder's questions alone
}
