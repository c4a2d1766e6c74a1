package middleware

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClientAddressIsTheLastUntrustedHop(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		trusted    []netip.Prefix
		want       string
	}{
		{"without proxies the peer", "192.0.2.1:5", []string{"198.51.100.7"}, nil, "192.0.2.1"},
		{"of an untrusted peer the peer", "192.0.2.1:5", []string{"198.51.100.7"}, trusted, "192.0.2.1"},
		{"of a trusted proxy the last hop", "10.0.0.1:5", []string{"203.0.113.9, 198.51.100.7"}, trusted, "198.51.100.7"},
		{"past several trusted proxies", "10.0.0.1:5", []string{"203.0.113.9", "198.51.100.7, 10.0.0.2"}, trusted, "198.51.100.7"},
		{"all hops trusted: the first", "10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
		{"an unreadable hop ends the search", "10.0.0.1:5", []string{"198.51.100.7, unknown, 10.0.0.2"}, trusted, "10.0.0.2"},
		{"no header", "10.0.0.1:5", nil, trusted, "10.0.0.1"},
		{"a hop with a port", "10.0.0.1:5", []string{"198.51.100.7:4000"}, trusted, "198.51.100.7"},
		{"IPv6 in brackets", "[fd00::1]:5", []string{"[2001:db8::1]:4000"}, trusted, "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:192.0.2.1]:5", nil, trusted, "192.0.2.1"},
	} {
		peer, err := net.ResolveTCPAddr("tcp", c.peer)
		require.NoError(t, err)
		assert.Equal(t, c.want, clientAddress(peer, c.forwarded, c.trusted).String(), c.name)
	}
}

func TestForwardedPeerIsLastAddress(t *testing.T) {
	peer, before := forwardedPeer([]string{"203.0.113.9", "198.51.100.7, 192.0.2.1"})
	assert.Equal(t, "192.0.2.1:0", peer.String())
	assert.Len(t, before, 2)
	peer, before = forwardedPeer([]string{"nothing"})
	assert.False(t, clientAddress(peer, before, nil).IsValid())
}

func TestAddressNameIsIPv6Prefix64(t *testing.T) {
	assert.Equal(t, "192.0.2.1", addressName(netip.MustParseAddr("192.0.2.1")))
	assert.Equal(t, addressName(netip.MustParseAddr("2001:db8::1")), addressName(netip.MustParseAddr("2001:db8::ffff")))
	assert.NotEqual(t, addressName(netip.MustParseAddr("2001:db8::1")), addressName(netip.MustParseAddr("2001:db8:0:1::1")))
}
