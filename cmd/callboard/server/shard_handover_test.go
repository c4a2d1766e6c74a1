package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/call"
)

// A shard with live calls goes to a node that has joined once that has waited for a
// minute, if all of them can be handed over; one without goes at once.
func TestWhatGoesToANodeThatHasJoined(t *testing.T) {
	assert.Equal(t, time.Minute, moveAfter())
	two, none := call.LiveCalls{Open: 2, Movable: 2}, call.LiveCalls{}
	one := call.LiveCalls{Open: 2, Movable: 1} // the other one rings, say
	born := 3 * time.Hour                      // the process lives for so long
	to := "node_1"
	waits := func(c *ownedShard, from, until time.Duration) {
		for at := from; at <= until; at += 500 * time.Millisecond { // it is looked as often, as long as it stays
			c.recordWaitingNode(to, born+at)
		}
	}
	c := new(ownedShard)
	waits(c, 0, 0)
	assert.True(t, c.canMove(none, false, moveAfter()), "nothing lives")
	assert.False(t, c.canMove(two, true, moveAfter()))
	waits(c, 0, time.Minute)
	assert.False(t, c.canMove(two, true, moveAfter()), "a minute is not over yet")
	waits(c, time.Minute, time.Minute+time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
	assert.False(t, c.canMove(two, false, moveAfter()), "they would end")
	assert.False(t, c.canMove(one, true, moveAfter()), "one of them would end")
	waits(c, 65*time.Second, 65*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()), "others were looked at before it")
	waits(c, 80*time.Second, 82*time.Second)
	assert.False(t, c.canMove(two, true, moveAfter()), "nobody waited for a while: the minute begins anew")
	waits(c, 82*time.Second, 142*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
	to = "node_2"
	waits(c, 143*time.Second, 200*time.Second)
	assert.False(t, c.canMove(two, true, moveAfter()), "another one waits since a moment ago")
	waits(c, 200*time.Second, 204*time.Second)
	assert.True(t, c.canMove(two, true, moveAfter()))
}

// What a look has shown counts for a moment: calls begin at any time.
func TestAShardThatWasQuietOnceIsLookedAtAgain(t *testing.T) {
	born := 3 * time.Hour
	look := func(c *ownedShard, at time.Duration) { c.idleAt.Store(int64(at)) }
	goes := func(c *ownedShard, to string, at time.Duration) bool {
		c.recordWaitingNode(to, at)
		return c.takeIdle(at)
	}
	c := new(ownedShard)
	assert.False(t, goes(c, "node_1", born), "nobody has looked")
	look(c, born+250*time.Millisecond)
	assert.True(t, goes(c, "node_1", born+500*time.Millisecond))
	assert.False(t, goes(c, "node_1", born+750*time.Millisecond), "it is looked at anew each time")

	look(c, born+time.Second)
	assert.False(t, goes(c, "node_1", born+3*time.Second), "so many others went meanwhile that nobody asked")
	look(c, born+3250*time.Millisecond)
	assert.True(t, goes(c, "node_1", born+3500*time.Millisecond))

	look(c, born+4*time.Second)
	assert.False(t, goes(c, "node_2", born+4250*time.Millisecond), "it was looked at for another one that waited")
	look(c, born+4500*time.Millisecond)
	assert.True(t, goes(c, "node_2", born+4750*time.Millisecond))

	look(c, born+5*time.Second) // and then who waits is gone
	assert.False(t, goes(c, "node_2", born+2*time.Hour), "the calls that live by now")
}
