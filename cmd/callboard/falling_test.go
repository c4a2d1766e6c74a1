package main

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
	two, none := call.LiveNow{Known: 2, Moving: 2}, call.LiveNow{}
	one := call.LiveNow{Known: 2, Moving: 1} // the other one rings, say
	born := 3 * time.Hour                    // the process lives for so long
	to := "node_1"
	waits := func(c *chair, from, until time.Duration) {
		for at := from; at <= until; at += 500 * time.Millisecond { // it is looked as often, as long as it stays
			c.wanted(to, born+at)
		}
	}
	c := new(chair)
	waits(c, 0, 0)
	assert.True(t, c.mayGo(none, false, moveAfter()), "nothing lives")
	assert.False(t, c.mayGo(two, true, moveAfter()))
	waits(c, 0, time.Minute)
	assert.False(t, c.mayGo(two, true, moveAfter()), "a minute is not over yet")
	waits(c, time.Minute, time.Minute+time.Second)
	assert.True(t, c.mayGo(two, true, moveAfter()))
	assert.False(t, c.mayGo(two, false, moveAfter()), "they would end")
	assert.False(t, c.mayGo(one, true, moveAfter()), "one of them would end")
	waits(c, 65*time.Second, 65*time.Second)
	assert.True(t, c.mayGo(two, true, moveAfter()), "others were looked at before it")
	waits(c, 80*time.Second, 82*time.Second)
	assert.False(t, c.mayGo(two, true, moveAfter()), "nobody waited for a while: the minute begins anew")
	waits(c, 82*time.Second, 142*time.Second)
	assert.True(t, c.mayGo(two, true, moveAfter()))
	to = "node_2"
	waits(c, 143*time.Second, 200*time.Second)
	assert.False(t, c.mayGo(two, true, moveAfter()), "another one waits since a moment ago")
	waits(c, 200*time.Second, 204*time.Second)
	assert.True(t, c.mayGo(two, true, moveAfter()))
}
