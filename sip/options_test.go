package sip_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/transport"
)

// A dispatcher treats a node as down if the node does not answer OPTIONS. The node must answer it, although the
// dispatcher is no trunk.
func TestDispatcherGetsAnswerToOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNetwork()
		var alone atomic.Bool
		ua, err := sip.New(sip.Config{
			IsIsolated: alone.Load,
			Listen:     []transport.Listener{{Network: "udp", Addr: localAddr}}, Secret: []byte("secret"),
			Probes: []netip.Prefix{netip.MustParsePrefix("127.0.0.3/32"), netip.MustParsePrefix("10.0.0.0/8")},
		})
		require.NoError(t, err)
		ua.UseSocket(n.open(localAddr))
		ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
		ua.OnInvite(func(*sip.Incoming) { t.Error("a dispatcher may ask, and not call") })
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { _ = ua.Serve(ctx) })
		<-ua.Ready()
		us := netip.MustParseAddrPort(localAddr)
		ping := strings.ReplaceAll(inboundInvite("no body"), "INVITE", "OPTIONS")
		front, stranger := &peer{t, n.open("127.0.0.3:5070")}, &peer{t, n.open("127.0.0.9:5070")}

		front.send(ping, us)
		assert.Contains(t, front.expect("SIP/2.0 200").get("Allow"), "INVITE")
		ua.Drain(true)
		front.send(ping, us)
		front.expect("SIP/2.0 503")
		ua.Drain(false)
		front.send(ping, us)
		front.expect("SIP/2.0 200")
		alone.Store(true)
		front.send(ping, us)
		front.expect("SIP/2.0 503")
		alone.Store(false)
		front.send(ping, us)
		front.expect("SIP/2.0 200")

		stranger.send(ping, us)
		stranger.expectNothing(time.Minute)
		for _, other := range []string{
			inboundInvite(), followUpRequest("BYE", "0123456789abcdef", 11), followUpRequest("OPTIONS", "0123456789abcdef", 11),
			strings.ReplaceAll(inboundInvite("no body"), "INVITE", "REGISTER"), "OPTIONSX sip:a@b SIP/2.0\r\n\r\n",
		} {
			front.send(other, us)
		}
		front.expectNothing(time.Minute)
		assert.Zero(t, ua.Counters().Dialogs)
		cancel()
		ended.Wait()
	})
}

func TestDispatcherMaySendOptionsOverTCP(t *testing.T) {
	t.Parallel()
	ua := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		c.Listen = []transport.Listener{{Network: "tcp", Addr: "127.0.0.1:0"}}
		c.Probes = []netip.Prefix{netip.MustParsePrefix("127.0.0.3/32")}
		if ua != nil {
			ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
		}
	})
	read := func(c net.Conn) string {
		_, _ = c.Write([]byte(strings.Replace(optionsRequest("OPTIONS"), "UDP", "TCP", 1)))
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		b := make([]byte, 4096)
		k, _ := c.Read(b)
		return string(b[:k])
	}
	to := ua.Addr("tcp").String()
	assert.Contains(t, read(dialFrom(t, "127.0.0.3", "tcp", to)), "SIP/2.0 200")
	assert.Empty(t, read(dialFrom(t, "127.0.0.9", "tcp", to)), "other hosts are disconnected")
}

// A dispatcher is the trunk of some workspace. Each node answers it, even a node without this workspace.
func TestDispatcherKnownToAnotherNodeGetsAnswer(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.ownerOf = func(w cluster.OwnerQuery) (netip.AddrPort, bool) {
			return n.ownerAddrPort(), w.Source.Addr.Addr() == netip.MustParseAddr("127.0.0.1")
		}
		ping := func(i int) string {
			return strings.NewReplacer("INVITE", "OPTIONS", "z9hG4bKin1", fmt.Sprint("z9hG4bKping", i)).Replace(inboundInvite("no body"))
		}
		for i := range 3 {
			n.peer.send(ping(i), n.localAddr())
			assert.Equal(t, localAddr, n.peer.expect("SIP/2.0 200").from.String(), "answered by the node that received the OPTIONS")
		}
		assert.EqualValues(t, 1, n.lookups.Load(), "a known source is not looked up again")
		n.ua.Drain(true)
		n.peer.send(ping(3), n.localAddr())
		n.peer.expect("SIP/2.0 503")
		assert.Zero(t, n.ua.Counters().Relayed)

		stranger := &peer{t, n.net.open("127.0.0.9:5070")}
		for i := range 200 {
			stranger.send(ping(i), n.localAddr())
		}
		stranger.expectNothing(time.Minute)
		assert.LessOrEqual(t, n.lookups.Load(), int64(1+20), "unknown sources cause few lookups")
	})
}

// An isolated node relays and accepts calls as usual. Only OPTIONS tells a dispatcher to prefer other nodes.
func TestIsolatedNodeRefusesOptionsOnly(t *testing.T) {
	bubbleWithTwoNodes(t, func(_ *nodePair, _ string, c *sip.Config, _ *sip.UserAgent) {
		if c != nil {
			c.IsIsolated = func() bool { return true }
		}
	}, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		n.peer.send(ackTo(n.peer.expect("SIP/2.0 486")), n.localAddr())
	})
}
