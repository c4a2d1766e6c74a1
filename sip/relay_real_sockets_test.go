package sip_test

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// startTwoNodes starts two nodes on real sockets. near owns no workspace and relays every request to owner.
func startTwoNodes(t testing.TB, take func(*sip.Incoming), admit func(transport.Source) sip.Admission) (near, owner *sip.UserAgent) {
	t.Helper()
	node := func(c *sip.Config, mark string) {
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(siptest.Port(t)))
		c.Listen = []transport.Listener{{Network: "udp", Addr: at}, {Network: "tcp", Addr: at}}
		c.Secret, c.RelayKey, c.NodeMark = []byte("secret"), []byte("key"), mark
	}
	owner = startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		if ua == nil {
			node(c, "owner")
			return
		}
		ua.OnInvite(take)
		if admit != nil {
			ua.SetAdmission(admit)
		}
	})
	near = startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
		if ua == nil {
			node(c, "near")
			c.Owner = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return owner.Addr("udp"), true }
			return
		}
		ua.OnInvite(func(i *sip.Incoming) { i.Reject(500, 0) })
	})
	return near, owner
}

// SIPp sends all requests of a call to the node that received its INVITE, like a carrier that ignores the Contact. That
// node must relay these requests to the owner.
func TestSIPpCallsThroughRelayingNode(t *testing.T) { //nolint:tparallel // beside its own cases only: SIPp counts in real time
	for scenario, take := range map[string]func(*sip.Incoming){
		"uac-call": func(i *sip.Incoming) {
			i.Ring()
			i.Answer([]byte(sdp), func(sip.Event) {})
		},
		"uac-cancel":      func(i *sip.Incoming) { i.Ring() },
		"uac-refused-486": func(i *sip.Incoming) { i.Reject(486, 0) },
		"uac-digest":      func(i *sip.Incoming) { i.Answer([]byte(sdp), func(sip.Event) {}) },
		"uac-prack": func(i *sip.Incoming) {
			i.Progress(183, []byte(sdp))
			time.AfterFunc(2*time.Second, func() { i.Answer([]byte(sdp), func(sip.Event) {}) })
		},
	} {
		for _, network := range []string{"udp", "tcp"} {
			if network == "tcp" && scenario == "uac-prack" {
				continue // the scenario waits for a retransmission
			}
			t.Run(scenario+" "+network, func(t *testing.T) {
				t.Parallel()
				admit := func(transport.Source) sip.Admission { return sip.Admission{Allow: true, TrunkID: "trunk"} }
				if scenario == "uac-digest" {
					admit = func(transport.Source) sip.Admission {
						return sip.Admission{Allow: true, RequireAuthentication: true, Account: func(user string) (auth.Account, bool) {
							return auth.Account{ID: "trunk", User: user, Password: "proof"}, true
						}}
					}
				}
				near, owner := startTwoNodes(t, take, admit)
				runSIPp(t, scenario, network, "-m", "1", "-s", "+15551000", "-d", "100",
					"-auth_uri", "+15551000@"+near.Addr(network).String(), near.Addr(network).String()).requireSuccess(t)
				assert.NotZero(t, near.Counters().Relayed)
				assert.Zero(t, near.Counters().Incoming)
				assert.EqualValues(t, 1, owner.Counters().Incoming)
			})
		}
	}
}

func TestSIPpCallsThroughRelayingNodeWithPacketLoss(t *testing.T) {
	t.Parallel()
	const calls = 40
	near, owner := startTwoNodes(t, func(i *sip.Incoming) {
		i.Ring()
		i.Answer([]byte(sdp), func(sip.Event) {})
	}, nil)
	there := runSIPp(t, "uac-hangup", "udp", "-m", strconv.Itoa(calls), "-r", "20", "-lost", "5", "-s", "+15551000", "-d", "100", "-timeout", "40", near.Addr("udp").String())
	select {
	case err := <-there.done: // SIPp gives some calls up, as 5 % of the messages are lost at both ends of three exchanges
		t.Logf("SIPp, whether satisfied or not, which is chance: %v", err)
	case <-time.After(2 * time.Minute):
		require.Fail(t, "SIPp does not end", there.out.String())
	}
	assert.LessOrEqual(t, owner.Counters().Incoming, uint64(calls), "no call is started twice")
	assert.Greater(t, owner.Counters().Incoming, uint64(calls*8/10))
	assert.Zero(t, near.Counters().Dialogs)
	assert.Zero(t, owner.Counters().Forged+near.Counters().Forged)
}

// A request that is too large for a datagram is relayed over TCP between the nodes. If the other node does not accept
// TCP, it is relayed over UDP.
func TestRelayOfLargeRequestsUsesTCPOrUDP(t *testing.T) {
	for _, connected := range []bool{true, false} {
		there, here := newEventLog(), newEventLog()
		sizes := make(chan int, 1)
		near, owner := startTwoNodes(t, func(i *sip.Incoming) {
			sizes <- len(i.Body)
			i.Answer(make([]byte, 4000), there.add)
		}, nil)
		if !connected {
			only := startUserAgent(t, func(c *sip.Config, ua *sip.UserAgent) {
				if ua == nil {
					c.Listen, c.RelayKey = c.Listen[:1], []byte("key")
					return
				}
				ua.OnInvite(func(i *sip.Incoming) {
					sizes <- len(i.Body)
					i.Answer(make([]byte, 4000), there.add)
				})
			})
			near = startUserAgent(t, func(c *sip.Config, _ *sip.UserAgent) {
				c.RelayKey = []byte("key")
				c.Owner = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return only.Addr("udp"), true }
			})
			owner = only
		}
		caller := startUserAgent(t, nil)
		d, err := caller.Invite(sip.Invite{
			Attempt: "a", Target: resolve.Target{Host: "127.0.0.1", Port: int(near.Addr("udp").Port()), Transport: "udp"}, To: "+1", From: "+2",
			Body: []byte(strings.Repeat("x", 5000)), Notify: here.add, SilentAfter: 30 * time.Second,
		})
		require.NoError(t, err)
		assert.Equal(t, 5000, <-sizes)
		next[sip.Trying](t, here)
		assert.Len(t, next[sip.Answered](t, here).Body, 4000)
		d.Bye(16, "")
		assert.False(t, next[sip.Ended](t, here).Fault)
		assert.True(t, next[sip.Ended](t, there).ByRemote)
		assert.Equal(t, connected, owner.Counters().TCP > 0)
	}
}

// BenchmarkRelayedCall measures the cost of a relaying node. It alternates calls through that node and direct calls.
func BenchmarkRelayedCall(b *testing.B) {
	near, owner := startTwoNodes(b, func(i *sip.Incoming) {
		i.Ring()
		i.Answer([]byte(sdp), func(sip.Event) {})
	}, nil)
	caller := startUserAgent(b, nil)
	used := make(map[string]time.Duration)
	objects := make(map[string]uint64)
	calls, serial := make(map[string]int), 0
	round := func(name string, to *sip.UserAgent, n int) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cpu := processTime()
		slots, done := make(chan struct{}, 50), make(chan bool, n)
		for range n {
			serial++
			slots <- struct{}{}
			known := make(chan struct{})
			var d *sip.Dialog
			d, err := caller.Invite(sip.Invite{
				Attempt: fmt.Sprint("a", serial), Target: resolve.Target{Host: "127.0.0.1", Port: int(to.Addr("udp").Port()), Transport: "udp"},
				To: "+15550001", From: "+15559999", Body: []byte(sdp),
				Notify: func(e sip.Event) {
					switch e.(type) {
					case sip.Answered:
						go func() { <-known; d.Bye(16, "") }()
					case sip.Ended, sip.Refused:
						<-slots
						_, ok := e.(sip.Ended)
						done <- ok
					}
				},
			})
			require.NoError(b, err)
			close(known)
		}
		for range n {
			require.True(b, <-done)
		}
		used[name] += processTime() - cpu
		runtime.ReadMemStats(&after)
		objects[name] += after.Mallocs - before.Mallocs
		calls[name] += n
	}
	each := max(b.N/10, 1)
	b.ResetTimer()
	for range 5 {
		round("direct", owner, each)
		round("through", near, each)
	}
	b.StopTimer()
	for name := range used {
		b.ReportMetric(float64(used[name].Microseconds())/float64(calls[name]), "µs-cpu/"+name)
		b.ReportMetric(float64(objects[name])/float64(calls[name]), "allocs/"+name)
	}
}
