package sip_test

import (
	"context"
	"fmt"
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
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const ownerAddr = "127.0.0.3:5060" // of the node that owns the call

// nodePair is two nodes and a carrier. The carrier sends its calls to the node near, which does not own them and
// does not know the carrier. The other node is at ownerAddr.
type nodePair struct {
	*stage // the node near, and the carrier

	owner       *sip.UserAgent
	calls       chan *sip.Incoming
	lookups     atomic.Int64 // calls of Config.Owner
	queries     sync.Map     // the last query by method
	lookupDelay time.Duration
	ownerOf     func(cluster.OwnerQuery) (netip.AddrPort, bool) // nil: the other node owns every request
}

func (n *nodePair) lookUpOwner(w cluster.OwnerQuery) (netip.AddrPort, bool) {
	n.lookups.Add(1)
	n.queries.Store(w.Method, w)
	if n.lookupDelay > 0 {
		time.Sleep(n.lookupDelay)
	}
	if n.ownerOf != nil {
		return n.ownerOf(w)
	}
	return netip.MustParseAddrPort(ownerAddr), true
}

// admitCarrierOnly admits only the carrier's address and port, because the nodes send from the same host.
func admitCarrierOnly(s transport.Source) sip.Admission {
	return sip.Admission{Allow: s.Addr == netip.MustParseAddrPort(peerAddr), TrunkID: "trunk"}
}

// bubbleWithTwoNodes runs f in a synctest bubble with two nodes. set may change the configuration of each node. The name
// of the node that receives the carrier's calls is "near".
func bubbleWithTwoNodes(t *testing.T, set func(n *nodePair, name string, c *sip.Config, ua *sip.UserAgent), f func(n *nodePair)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &nodePair{calls: make(chan *sip.Incoming, 256)}
		wire := newFakeNetwork()
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		n.stage = &stage{t: t, net: wire, peer: &peer{t, wire.open(peerAddr)}, events: newEventLog()}
		for name, addr := range map[string]string{"near": localAddr, "owner": ownerAddr} {
			cfg := sip.Config{
				Listen: []transport.Listener{{Network: "udp", Addr: addr}}, Secret: []byte("secret"), UserAgent: "Callboard/test",
				RelayKey: []byte("key"), NodeMark: name, Owner: n.lookUpOwner,
			}
			if name == "owner" {
				cfg.Owner = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return netip.AddrPort{}, false }
			}
			if set != nil {
				set(n, name, &cfg, nil)
			}
			ua, err := sip.New(cfg)
			require.NoError(t, err)
			ua.UseSocket(wire.open(addr))
			ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
			if name == "owner" {
				n.owner = ua
				ua.SetAdmission(admitCarrierOnly)
			} else {
				n.ua = ua
			}
			ua.OnInvite(func(i *sip.Incoming) {
				assert.Equal(t, "owner", name)
				n.calls <- i
			})
			if set != nil {
				set(n, name, nil, ua)
			}
			ended.Go(func() { _ = ua.Serve(ctx) })
			<-ua.Ready()
		}
		f(n)
		cancel()
		ended.Wait()
	})
}

func (n *nodePair) ownerAddrPort() netip.AddrPort { return netip.MustParseAddrPort(ownerAddr) }

func TestRelayOfCallToOwner(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.peer.send(inboundInvite("Diversion: <sip:+15553000@x>", "Callboard-Relay: mine"), n.localAddr())
		trying := n.peer.expect("SIP/2.0 100 Trying")
		assert.Equal(t, "SIP/2.0/UDP 127.0.0.1:5070;rport=5070;branch=z9hG4bKin1;received=127.0.0.1", trying.get("Via"))
		assert.Equal(t, 1, strings.Count(trying.text, "Via:"))
		assert.Equal(t, localAddr, trying.from.String(), "the response comes from the called node")
		i := <-n.calls
		assert.Equal(t, []string{"+15552000", "Ann", "+15551000", "in-1", sdp, peerAddr, "udp", "trunk", localAddr},
			[]string{i.From, i.FromName, i.To, i.CallID, string(i.Body), i.Source.String(), i.Network, i.TrunkID, i.Through.String()})
		assert.Equal(t, map[string]string{"Diversion": "<sip:+15553000@x>"}, i.Header, "a forged relay header is removed")
		w, _ := n.queries.Load("INVITE")
		assert.Equal(t, cluster.OwnerQuery{
			Method: "INVITE", To: "+15551000", From: "+15552000", CallID: "in-1",
			Source: transport.Source{Addr: netip.MustParseAddrPort(peerAddr), Network: "udp"},
		}, w)
		i.Ring()
		n.peer.expect("SIP/2.0 180 Ringing")
		i.Answer([]byte(sdp), n.events.add)
		ok := n.peer.expect("SIP/2.0 200 OK")
		assert.Equal(t, "<sip:+15551000@127.0.0.3:5060;node=owner>", ok.get("Contact"), "the Contact of the owner")
		assert.Empty(t, ok.get("Record-Route"))
		n.peer.send(followUpRequest("ACK", toTagOf(ok), 10), n.ownerAddrPort())
		n.peer.send(followUpRequest("BYE", toTagOf(ok), 11), n.ownerAddrPort())
		bye := n.peer.expect("SIP/2.0 200 OK")
		assert.Equal(t, ownerAddr, bye.from.String())
		assert.True(t, next[sip.Ended](t, n.events).ByRemote)
		assert.EqualValues(t, 1, n.ua.Counters().Relayed)
		assert.EqualValues(t, 3, n.ua.Counters().Returned)
		assert.Zero(t, n.ua.Counters().Dialogs)
	})
}

func TestRelayOfByeFromOwner(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		d := (<-n.calls).Answer([]byte(sdp), n.events.add)
		ok := n.peer.expect("SIP/2.0 200 OK")
		n.peer.send(followUpRequest("ACK", toTagOf(ok), 10), n.ownerAddrPort())
		d.Bye(16, "")
		bye := n.peer.expect("BYE sip:peer@127.0.0.1:5070 SIP/2.0")
		assert.Equal(t, ownerAddr, bye.from.String(), "directly")
		n.peer.send(bye.reply(200, ""), bye.from)
		next[sip.Ended](t, n.events)
	})
}

func TestRelayOfCancel(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		i := <-n.calls
		i.Notify(n.events.add)
		i.Ring()
		n.peer.expect("SIP/2.0 180")
		n.peer.send(followUpRequest("CANCEL", "", 10), n.localAddr())
		assert.Equal(t, "10 CANCEL", n.peer.expect("SIP/2.0 200 OK").get("CSeq"))
		refused := n.peer.expect("SIP/2.0 487")
		assert.True(t, next[sip.Refused](t, n.events).Final.Cancelled)
		n.peer.send(ackTo(refused), n.localAddr())
		n.peer.expectNothing(time.Minute)
	})
}

// ackTo returns the ACK for a refusal of inboundInvite. The ACK has the branch of that INVITE.
func ackTo(m msg) string {
	return strings.Replace(followUpRequest("ACK", toTagOf(m), 10), "z9hG4bKack10", "z9hG4bKin1", 1)
}

func TestRelayOfRefusalIsRepeatedUntilAck(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		n.peer.expect("SIP/2.0 486")
		again := n.peer.expect("SIP/2.0 486")
		n.peer.send(ackTo(again), n.localAddr())
		n.peer.expectNothing(time.Minute)
		assert.Zero(t, n.owner.Counters().DroppedUnmatched)
	})
}

func TestRelayOfRetransmittedInviteIsOneCall(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		for range 3 {
			n.peer.send(inboundInvite(), n.localAddr())
			n.peer.expect("SIP/2.0 100")
		}
		n.peer.send(inboundInvite(), n.ownerAddrPort()) // a dispatcher may send a retransmission to another node
		synctest.Wait()
		assert.Len(t, n.calls, 1)
		assert.EqualValues(t, 1, n.owner.Counters().Incoming)
		n.peer.send(followUpRequest("CANCEL", "", 10), n.ownerAddrPort()) // to the other node, like the retransmission
		n.peer.expect("SIP/2.0 100")
		n.peer.expect("SIP/2.0 200")
		n.peer.expect("SIP/2.0 487")
	})
}

func TestRelayRetransmissionStartsNoSecondLookup(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.lookupDelay = 40 * time.Millisecond
		for range 3 {
			n.peer.send(inboundInvite(), n.localAddr())
		}
		n.peer.send(followUpRequest("CANCEL", "", 10), n.localAddr()) // waits for the lookup of its INVITE
		n.peer.expect("SIP/2.0 100")
		n.peer.expect("SIP/2.0 200 OK")
		n.peer.expect("SIP/2.0 487")
		assert.EqualValues(t, 1, n.lookups.Load())
		assert.EqualValues(t, 2, n.ua.Counters().Relayed)
	})
}

func TestRelayLookupDoesNotBlockSocket(t *testing.T) {
	bubbleWithTwoNodes(t, func(n *nodePair, name string, c *sip.Config, ua *sip.UserAgent) {
		if name == "near" && ua != nil {
			ua.SetAdmission(admitCarrierOnly)
		}
	}, func(n *nodePair) {
		n.lookupDelay = time.Hour
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.send(strings.ReplaceAll(inboundInvite("no body"), "INVITE", "OPTIONS"), n.localAddr())
		n.peer.expect("SIP/2.0 200")
		synctest.Wait()
		assert.EqualValues(t, 1, n.lookups.Load(), "each node answers OPTIONS itself")
		time.Sleep(2 * time.Hour)
	})
}

func TestRelayLeavesOwnRequestsToNode(t *testing.T) {
	for _, sure := range []bool{true, false} {
		bubbleWithTwoNodes(t, func(n *nodePair, name string, c *sip.Config, ua *sip.UserAgent) {
			if name != "near" {
				return
			}
			if c != nil && sure {
				c.CachedOwner = func(cluster.OwnerQuery) (netip.AddrPort, bool, bool) { return netip.AddrPort{}, false, true }
			}
			if ua != nil {
				ua.SetAdmission(admitCarrierOnly)
				ua.OnInvite(func(i *sip.Incoming) { n.calls <- i })
			}
		}, func(n *nodePair) {
			n.ownerOf = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return netip.AddrPort{}, false }
			n.peer.send(inboundInvite(), n.localAddr())
			n.peer.expect("SIP/2.0 100")
			i := <-n.calls
			assert.False(t, i.Through.IsValid())
			i.Answer([]byte(sdp), n.events.add)
			ok := n.peer.expect("SIP/2.0 200")
			assert.True(t, strings.HasSuffix(toTagOf(ok), "-near"), toTagOf(ok))
			n.peer.send(followUpRequest("ACK", toTagOf(ok), 10), n.localAddr())
			n.peer.send(followUpRequest("BYE", toTagOf(ok), 11), n.localAddr())
			n.peer.expect("SIP/2.0 200")
			next[sip.Ended](t, n.events)
			assert.Zero(t, n.ua.Counters().Relayed)
			assert.EqualValues(t, map[bool]int{true: 0, false: 1}[sure], n.lookups.Load())
		})
	}
}

// A node does not look up the owner of a request that another node has relayed.
func TestRelayDoesNotLoopBetweenNodes(t *testing.T) {
	bubbleWithTwoNodes(t, func(n *nodePair, name string, c *sip.Config, ua *sip.UserAgent) {
		if name == "owner" && c != nil {
			c.Owner = func(cluster.OwnerQuery) (netip.AddrPort, bool) {
				n.lookups.Add(1)
				return netip.MustParseAddrPort(localAddr), true
			}
		}
	}, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(404, 0)
		n.peer.expect("SIP/2.0 404")
		assert.EqualValues(t, 1, n.lookups.Load())
		assert.EqualValues(t, 1, n.ua.Counters().Relayed)
		assert.Zero(t, n.owner.Counters().Relayed)
	})
}

func TestRelayOfRequestWithMaxForwardsZero(t *testing.T) {
	bubbleWithTwoNodes(t, func(_ *nodePair, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "near" && ua != nil {
			ua.SetAdmission(admitCarrierOnly)
		}
	}, func(n *nodePair) {
		n.peer.send(inboundInvite("Max-Forwards: 0"), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(404, 0)
		n.peer.expect("SIP/2.0 404")
		assert.EqualValues(t, 1, n.ua.Counters().Relayed)
	})
}

func TestRelayAnswers503WithoutOwner(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		n.peer.send(ackTo(n.peer.expect("SIP/2.0 486")), n.localAddr())
		synctest.Wait()
		n.ownerOf = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return netip.AddrPort{}, true }
		again := strings.NewReplacer("z9hG4bKin1", "z9hG4bKin2", "Call-ID: in-1", "Call-ID: in-2").Replace(inboundInvite())
		n.peer.send(again, n.localAddr())
		assert.Equal(t, "5", n.peer.expect("SIP/2.0 503").get("Retry-After"), "the node knows the source after relaying a response")
		stranger := &peer{t, n.net.open("127.0.0.9:5070")}
		stranger.send(inboundInvite(), n.localAddr())
		stranger.expectNothing(time.Minute)
	})
}

func TestRelayOfRefusalsFromOwner(t *testing.T) {
	for why, want := range map[string]string{"drains": "SIP/2.0 503", "asks for less": "SIP/2.0 420"} {
		bubbleWithTwoNodes(t, nil, func(n *nodePair) {
			lines := []string{"Require: 100rel"}
			if why == "drains" {
				n.owner.Drain(true)
			} else {
				lines = []string{"Require: precondition"}
			}
			n.peer.send(inboundInvite(lines...), n.localAddr())
			n.peer.expect(want)
		})
	}
}

func TestRelayOfDigestAuthentication(t *testing.T) {
	bubbleWithTwoNodes(t, func(_ *nodePair, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "owner" && ua != nil {
			ua.SetAdmission(func(s transport.Source) sip.Admission {
				a := admitCarrierOnly(s)
				a.RequireAuthentication = true
				a.Account = func(string) (auth.Account, bool) {
					return auth.Account{ID: "trunk-2", User: "1001", Password: "secret of 1001"}, true
				}
				return a
			})
		}
	}, func(n *nodePair) {
		a := phoneRequest{method: "INVITE", user: "1001", uri: "sip:1001@127.0.0.1", contact: "<sip:peer@127.0.0.1:5070>", cseq: 1}
		a.nonce = n.fetchNonce(a)
		first, _ := n.queries.Load("INVITE")
		assert.Empty(t, first.(cluster.OwnerQuery).User)
		a.cseq, a.nc, a.algorithm, a.password = 2, 1, "SHA-256", "secret of 1001"
		n.peer.send(a.text(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		i := <-n.calls
		assert.True(t, i.IsAuthenticated)
		assert.Equal(t, "trunk-2", i.TrunkID)
		second, _ := n.queries.Load("INVITE")
		assert.Equal(t, "1001", second.(cluster.OwnerQuery).User, "the query has the claimed user")
		i.Reject(486, 0)
		n.peer.expect("SIP/2.0 486")
		// Credentials that were used once are not accepted again.
		a.callID, a.cseq = "reg-2", 3
		n.peer.send(a.text(), n.localAddr())
		n.peer.expect("SIP/2.0 401")
	})
}

func TestRelayOfMessageToOwner(t *testing.T) {
	bubbleWithTwoNodes(t, func(n *nodePair, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "owner" && ua != nil {
			ua.OnMessage(func(i *sip.IncomingMessage) {
				assert.Equal(t, []string{"hello", peerAddr, "trunk"}, []string{string(i.Body), i.Source.String(), i.TrunkID})
				n.lookupDelay++
				i.Reply(202, 0)
			})
		}
	}, func(n *nodePair) {
		text := strings.NewReplacer("INVITE", "MESSAGE", "application/sdp", "text/plain", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(sdp), sdp), "Content-Length: 5\r\n\r\nhello").Replace(inboundInvite())
		n.peer.send(text, n.localAddr())
		n.peer.expect("SIP/2.0 202")
		n.peer.send(text, n.localAddr())
		n.peer.expect("SIP/2.0 202")
		assert.EqualValues(t, 1, n.lookupDelay, "once")
	})
}

// A request within a call reaches the node that owns the call, even if the carrier ignores the Contact.
func TestRelayOfRequestsWithinDialog(t *testing.T) {
	for _, by := range []string{"the tag", "the Contact"} {
		bubbleWithTwoNodes(t, nil, func(n *nodePair) {
			n.ownerOf = func(w cluster.OwnerQuery) (netip.AddrPort, bool) {
				if w.InDialog && w.Mark != "owner" {
					return netip.AddrPort{}, false
				}
				return n.ownerAddrPort(), true
			}
			if by == "the tag" {
				n.peer.send(inboundInvite(), n.localAddr())
				n.peer.expect("SIP/2.0 100")
				(<-n.calls).Answer([]byte(sdp), n.events.add)
				ok := n.peer.expect("SIP/2.0 200 OK")
				n.peer.send(followUpRequest("ACK", toTagOf(ok), 10), n.localAddr())
				n.peer.expectNothing(time.Minute)
				n.peer.send(followUpRequest("BYE", toTagOf(ok), 11), n.localAddr())
			} else {
				_, err := n.owner.Invite(sip.Invite{
					Attempt: "a", Leg: 1, Target: resolve.Target{Host: "127.0.0.1", Port: 5070}, To: "+15550001", From: "+15559999", Body: []byte(sdp), Notify: n.events.add,
				})
				require.NoError(t, err)
				inv := n.peer.expect("INVITE")
				assert.Equal(t, "<sip:+15559999@127.0.0.3:5060;node=owner>", inv.get("Contact"))
				n.peer.send(inv.reply(200, "p1", contact, sdp), inv.from)
				n.peer.expect("ACK")
				next[sip.Answered](t, n.events)
				bye := inv.requestWithin("BYE", 1)
				_, rest, _ := strings.Cut(bye, "\r\n")
				n.peer.send("BYE sip:+15559999@dispatcher;node=owner SIP/2.0\r\n"+rest, n.localAddr())
			}
			assert.Equal(t, localAddr, n.peer.expect("SIP/2.0 200").from.String())
			assert.True(t, next[sip.Ended](t, n.events).ByRemote)
		})
	}
}

// A resumed call has the tag of its first node and the Contact of its current node. A request of such a call must be
// relayed to the node in the Contact.
func TestRelayPrefersNodeMarkOfContact(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		marks := make(chan string, 4)
		n.ownerOf = func(w cluster.OwnerQuery) (netip.AddrPort, bool) {
			marks <- w.Mark
			return n.ownerAddrPort(), true
		}
		_, rest, _ := strings.Cut(followUpRequest("BYE", "0123456789abcdef-gone", 11), "\r\n")
		n.peer.send("BYE sip:+15559999@dispatcher;node=owner SIP/2.0\r\n"+rest, n.localAddr())
		n.peer.expect("SIP/2.0 481")
		assert.Equal(t, "owner", <-marks)
	})
}

func TestRelaySkipsLookupForUnknownMark(t *testing.T) {
	bubbleWithTwoNodes(t, func(_ *nodePair, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "near" && ua != nil {
			ua.SetAdmission(admitCarrierOnly)
		}
	}, func(n *nodePair) {
		n.peer.send(followUpRequest("BYE", "0123456789abcdef-near", 11), n.localAddr())
		n.peer.expect("SIP/2.0 481")
		assert.Zero(t, n.lookups.Load(), "no lookup for a call of this node")
	})
}
