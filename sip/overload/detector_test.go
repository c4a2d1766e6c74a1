package overload_test

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip/overload"
)

func TestDetectorBoundsUnansweredCallsPerHost(t *testing.T) {
	d := overload.New(time.Second, 8)
	one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for range 6 {
		assert.False(t, d.IsFull(one))
		d.AddUnanswered(one, 1)
	}
	assert.True(t, d.IsFull(one))
	assert.False(t, d.IsFull(other))
	d.AddUnanswered(other, 2)
	assert.True(t, d.IsFull(other), "the total limit is reached")
	calls, hosts := d.Unanswered()
	assert.Equal(t, []int{8, 2}, []int{calls, hosts})
	d.AddUnanswered(one, -6)
	assert.False(t, d.IsFull(other))
	_, hosts = d.Unanswered()
	assert.Equal(t, 1, hosts, "a host without unanswered calls is removed")
}

func TestDetectorIsBehindForOneSecondAfterLateMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := overload.New(time.Second, 1)
		d.NoteDelay(250 * time.Millisecond)
		assert.False(t, d.IsBehind())
		d.NoteDelay(251 * time.Millisecond)
		assert.True(t, d.IsBehind())
		time.Sleep(time.Second)
		assert.False(t, d.IsBehind())
		assert.False(t, d.IsLate(time.Second))
		assert.True(t, d.IsLate(time.Second+1))
	})
}
