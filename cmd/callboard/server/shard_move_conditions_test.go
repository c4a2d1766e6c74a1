package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/call"
)

// A shard with live calls moves to another node only after the node has waited a minute, and only if all calls can be
// handed over. A shard without live calls moves at once.
func TestShardWithLiveCallsMovesAfterAnotherNodeWaitedAMinute(t *testing.T) {
	assert.Equal(t, time.Minute, moveAfter())
	two, none := call.LiveCalls{Open: 2, Movable: 2}, call.LiveCalls{}
	one := call.LiveCalls{Open: 2, Movable: 1} // the other call rings
	startedAt := 3 * time.Hour                 // time since the start of the process
	to := "node_1"
	waitFor := func(c *ownedShard, from, until time.Duration) {
		for at := from; at <= until; at += 500 * time.Millisecond { // interval of the lease holder
			c.recordWaitingNode(to, startedAt+at)
		}
	}
	c := new(ownedShard)
	waitFor(c, 0, 0)
	assert.True(t, c.canMove(none, false, moveAfter()), "no call is live")
	assert.False(t, c.canMove(two, true, moveAfter()))
	waitFor(c, 0, time.Minute)
	assert.False(t, c.canMove(two, true, moveAfter()), "the minute has not passed")
	waitFor(c, time.Minute, time.Minute+time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
	assert.False(t, c.canMove(two, false, moveAfter()), "the calls cannot be handed over")
	assert.False(t, c.canMove(one, true, moveAfter()), "one call cannot be handed over")
	waitFor(c, 65*time.Second, 65*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()), "a short pause keeps the waiting time")
	waitFor(c, 80*time.Second, 82*time.Second)
	assert.False(t, c.canMove(two, true, moveAfter()), "after a pause the waiting time starts again")
	waitFor(c, 82*time.Second, 142*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
	to = "node_2"
	waitFor(c, 143*time.Second, 200*time.Second)
	assert.False(t, c.canMove(two, true, moveAfter()), "another node has just begun to wait")
	waitFor(c, 200*time.Second, 204*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
}

func TestIdleObservationOfAShardCountsOnceAndExpires(t *testing.T) {
	startedAt := 3 * time.Hour
	observeIdle := func(c *ownedShard, at time.Duration) { c.idleAt.Store(int64(at)) }
	takeIdle := func(c *ownedShard, to string, at time.Duration) bool {
		c.recordWaitingNode(to, at)
		return c.takeIdle(at)
	}
	c := new(ownedShard)
	assert.False(t, takeIdle(c, "node_1", startedAt), "the idle state was not observed")
	observeIdle(c, startedAt+250*time.Millisecond)
	assert.True(t, takeIdle(c, "node_1", startedAt+500*time.Millisecond))
	assert.False(t, takeIdle(c, "node_1", startedAt+750*time.Millisecond), "each observation counts once")

	observeIdle(c, startedAt+time.Second)
	assert.False(t, takeIdle(c, "node_1", startedAt+3*time.Second), "the observation is too old")
	observeIdle(c, startedAt+3250*time.Millisecond)
	assert.True(t, takeIdle(c, "node_1", startedAt+3500*time.Millisecond))

	observeIdle(c, startedAt+4*time.Second)
	assert.False(t, takeIdle(c, "node_2", startedAt+4250*time.Millisecond), "the observation was for another node")
	observeIdle(c, startedAt+4500*time.Millisecond)
	assert.True(t, takeIdle(c, "node_2", startedAt+4750*time.Millisecond))

	observeIdle(c, startedAt+5*time.Second) // the waiting node disappears afterwards
	assert.False(t, takeIdle(c, "node_2", startedAt+2*time.Hour), "the observation is hours old")
}
