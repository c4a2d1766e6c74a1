package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/call"
)

// A shard with live calls moves only if all of them can be handed over. A shard without live calls moves at once.
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
	assert.True(t, c.canMove(none, false, moveAfter()), "nothing lives")
	assert.False(t, c.canMove(two, true, moveAfter()))
	waitFor(c, 0, time.Minute)
	assert.False(t, c.canMove(two, true, moveAfter()), "a minute is not over yet")
	waitFor(c, time.Minute, time.Minute+time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
	assert.False(t, c.canMove(two, false, moveAfter()), "they would end")
	assert.False(t, c.canMove(one, true, moveAfter()), "one of them would end")
	waitFor(c, 65*time.Second, 65*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()), "others were looked at before it")
	waitFor(c, 80*time.Second, 82*time.Second)
	assert.False(t, c.canMove(two, true, moveAfter()), "nobody waited for a while: the minute begins anew")
	waitFor(c, 82*time.Second, 142*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
	to = "node_2"
	waitFor(c, 143*time.Second, 200*time.Second)
	assert.False(t, c.canMove(two, true, moveAfter()), "another one waits since a moment ago")
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
	assert.False(t, takeIdle(c, "node_1", startedAt), "nobody has looked")
	observeIdle(c, startedAt+250*time.Millisecond)
	assert.True(t, takeIdle(c, "node_1", startedAt+500*time.Millisecond))
	assert.False(t, takeIdle(c, "node_1", startedAt+750*time.Millisecond), "it is looked at anew each time")

	observeIdle(c, startedAt+time.Second)
	assert.False(t, takeIdle(c, "node_1", startedAt+3*time.Second), "so many others went meanwhile that nobody asked")
	observeIdle(c, startedAt+3250*time.Millisecond)
	assert.True(t, takeIdle(c, "node_1", startedAt+3500*time.Millisecond))

	observeIdle(c, startedAt+4*time.Second)
	assert.False(t, takeIdle(c, "node_2", startedAt+4250*time.Millisecond), "it was looked at for another one that waited")
	observeIdle(c, startedAt+4500*time.Millisecond)
	assert.True(t, takeIdle(c, "node_2", startedAt+4750*time.Millisecond))

	observeIdle(c, startedAt+5*time.Second) // the waiting node disappears afterwards
	assert.False(t, takeIdle(c, "node_2", startedAt+2*time.Hour), "the calls that live by now")
}
