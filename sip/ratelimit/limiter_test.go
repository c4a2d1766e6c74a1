package ratelimit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/ratelimit"
)

// sourceNumber returns the n-th address of 127.0.0.0/8 in ascending order.
func sourceNumber(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, byte(n >> 16), byte(n >> 8), byte(n)})
}

func TestLimiterKeepsTokensOfEachSource(t *testing.T) {
	t.Parallel()
	const sources, burst = 20_000, 10
	now := time.Unix(1000, 0)
	l := ratelimit.NewLimiter(1.0/6, burst)
	over := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}
	for _, a := range over {
		for range burst {
			require.True(t, l.Spend(a, 1, now))
		}
	}
	for n := range sources {
		l.Spend(sourceNumber(n), 1, now)
	}
	for _, a := range over {
		assert.False(t, l.Spend(a, 0, now), "%s has tokens again", a)
	}
	for n := range sources { // uses up the tokens of each source
		for range burst {
			l.Spend(sourceNumber(n), 1, now)
		}
		require.False(t, l.Spend(sourceNumber(n), 0, now), "%s has tokens again", sourceNumber(n))
	}
	assert.LessOrEqual(t, l.Len(), 2*4096)
	assert.True(t, l.Spend(netip.MustParseAddr("198.51.100.7"), 0, now), "a flood from some networks does not stop others")
	now = now.Add(61 * time.Second)
	for _, a := range append(over, sourceNumber(0), sourceNumber(sources-1)) {
		assert.True(t, l.Spend(a, 0, now), "%s has no tokens after its time", a)
	}
}

func TestLimiterTreatsIPv6SubnetAsOneSource(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := ratelimit.NewLimiter(1, 1)
	assert.True(t, l.Spend(netip.MustParseAddr("2001:db8::1"), 1, now))
	assert.False(t, l.Spend(netip.MustParseAddr("2001:db8::2"), 1, now), "same /64")
	assert.True(t, l.Spend(netip.MustParseAddr("2001:db8:0:1::1"), 1, now), "another /64")
	assert.True(t, l.Spend(netip.MustParseAddr("192.0.2.1"), 1, now))
	assert.False(t, l.Spend(netip.MustParseAddr("::ffff:192.0.2.1"), 1, now), "the same address, mapped")
}

func TestLimiterDoesNotStoreSourcesThatSpendNothing(t *testing.T) {
	t.Parallel()
	l := ratelimit.NewLimiter(1, 1)
	for n := range 100 {
		assert.True(t, l.Spend(sourceNumber(n), 0, time.Unix(1000, 0)))
	}
	assert.Zero(t, l.Len())
}
