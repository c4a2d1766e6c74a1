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

const ownerAddr = "127.0.0.3:5060" // of the node that has the call

// nodes are two of ours and a carrier, which sends its calls to the one that
// has them not and does not know it. The other one is at ownerAddr.
type nodes struct {
	*stage // near, and the carrier

	owner  *sip.UserAgent
	calls  chan *sip.Incoming
	asked  atomic.Int64 // of Elsewhere
	owners sync.Map     // what it was asked last, by method
	slow   time.Duration
	at     func(cluster.OwnerQuery) (netip.AddrPort, bool) // nil: the owner has all of it
}

func (n *nodes) elsewhere(w cluster.OwnerQuery) (netip.AddrPort, bool) {
	n.asked.Add(1)
	n.owners.Store(w.Method, w)
	if n.slow > 0 {
		time.Sleep(n.slow)
	}
	if n.at != nil {
		return n.at(w)
	}
	return netip.MustParseAddrPort(ownerAddr), true
}

// carrierOnly admits the carrier by address and port: the nodes send from the
// same host.
func carrierOnly(s transport.Source) sip.Admission {
	return sip.Admission{Allow: s.Addr == netip.MustParseAddrPort(peerAddr), TrunkID: "trunk"}
}

// amongNodes runs f in a bubble. set may change both configs; near is owners
// name is "near".
func amongNodes(t *testing.T, set func(n *nodes, name string, c *sip.Config, ua *sip.UserAgent), f func(n *nodes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &nodes{calls: make(chan *sip.Incoming, 256)}
		wire := newWire()
		ctx, cancel := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		n.stage = &stage{t: t, net: wire, peer: &peer{t, wire.open(peerAddr)}, events: newEventLog()}
		for name, addr := range map[string]string{"near": ourAddr, "owner": ownerAddr} {
			cfg := sip.Config{
				Listen: []transport.Listener{{Network: "udp", Addr: addr}}, Secret: []byte("secret"), UserAgent: "Callboard/test",
				RelayKey: []byte("key"), NodeMark: name, Owner: n.elsewhere,
			}
			if name == "owner" {
				cfg.Owner = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return netip.AddrPort{}, false }
			}
			if set != nil {
				set(n, name, &cfg, nil)
			}
			ua, err := sip.New(cfg)
			require.NoError(t, err)
			ua.BindTo(wire.open(addr))
			ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
			if name == "owner" {
				n.owner = ua
				ua.SetAdmission(carrierOnly)
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

func (n *nodes) there() netip.AddrPort { return netip.MustParseAddrPort(ownerAddr) }

func TestACallFindsItsNode(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		n.peer.send(callUs("Diversion: <sip:+15553000@x>", "Callboard-Relay: mine"), n.us())
		trying := n.peer.expect("SIP/2.0 100 Trying")
		assert.Equal(t, "SIP/2.0/UDP 127.0.0.1:5070;rport=5070;branch=z9hG4bKin1;received=127.0.0.1", trying.get("Via"))
		assert.Equal(t, 1, strings.Count(trying.text, "Via:"))
		assert.Equal(t, ourAddr, trying.from.String(), "the answer comes from where the call was sent")
		i := <-n.calls
		assert.Equal(t, []string{"+15552000", "Ann", "+15551000", "in-1", sdp, peerAddr, "udp", "trunk", ourAddr},
			[]string{i.From, i.FromName, i.To, i.CallID, string(i.Body), i.Source.String(), i.Network, i.TrunkID, i.Through.String()})
		assert.Equal(t, map[string]string{"Diversion": "<sip:+15553000@x>"}, i.Header, "what a stranger said of a node is gone")
		w, _ := n.owners.Load("INVITE")
		assert.Equal(t, cluster.OwnerQuery{
			Method: "INVITE", To: "+15551000", From: "+15552000", CallID: "in-1",
			Source: transport.Source{Addr: netip.MustParseAddrPort(peerAddr), Network: "udp"},
		}, w)
		i.Ring()
		n.peer.expect("SIP/2.0 180 Ringing")
		i.Answer([]byte(sdp), n.events.add)
		ok := n.peer.expect("SIP/2.0 200 OK")
		assert.Equal(t, "<sip:+15551000@127.0.0.3:5060;node=owner>", ok.get("Contact"), "where the rest of the call goes")
		assert.Empty(t, ok.get("Record-Route"))
		n.peer.send(follow("ACK", tagOf(ok), 10), n.there())
		n.peer.send(follow("BYE", tagOf(ok), 11), n.there())
		bye := n.peer.expect("SIP/2.0 200 OK")
		assert.Equal(t, ownerAddr, bye.from.String())
		assert.True(t, next[sip.Ended](t, n.events).ByRemote)
		assert.EqualValues(t, 1, n.ua.Counters().Relayed)
		assert.EqualValues(t, 3, n.ua.Counters().Returned)
		assert.Zero(t, n.ua.Counters().Dialogs)
	})
}

func TestTheOwnerHangsUpACallThatCameThroughANode(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		n.peer.send(callUs(), n.us())
		n.peer.expect("SIP/2.0 100")
		d := (<-n.calls).Answer([]byte(sdp), n.events.add)
		ok := n.peer.expect("SIP/2.0 200 OK")
		n.peer.send(follow("ACK", tagOf(ok), 10), n.there())
		d.Bye(16, "")
		bye := n.peer.expect("BYE sip:peer@127.0.0.1:5070 SIP/2.0")
		assert.Equal(t, ownerAddr, bye.from.String(), "directly")
		n.peer.send(bye.reply(200, ""), bye.from)
		next[sip.Ended](t, n.events)
	})
}

func TestACallThroughANodeIsCancelled(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		n.peer.send(callUs(), n.us())
		n.peer.expect("SIP/2.0 100")
		i := <-n.calls
		i.Notify(n.events.add)
		i.Ring()
		n.peer.expect("SIP/2.0 180")
		n.peer.send(follow("CANCEL", "", 10), n.us())
		assert.Equal(t, "10 CANCEL", n.peer.expect("SIP/2.0 200 OK").get("CSeq"))
		refused := n.peer.expect("SIP/2.0 487")
		assert.True(t, next[sip.Refused](t, n.events).Final.Cancelled)
		n.peer.send(ackTo(refused), n.us())
		n.peer.nothing(time.Minute)
	})
}

// ackTo is the ACK to a refusal of callUs, which shares its branch.
func ackTo(m msg) string {
	return strings.Replace(follow("ACK", tagOf(m), 10), "z9hG4bKack10", "z9hG4bKin1", 1)
}

func TestARefusalThroughANodeIsRepeatedUntilItsACK(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		n.peer.send(callUs(), n.us())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		n.peer.expect("SIP/2.0 486")
		again := n.peer.expect("SIP/2.0 486")
		n.peer.send(ackTo(again), n.us())
		n.peer.nothing(time.Minute)
		assert.Zero(t, n.owner.Counters().DroppedStray)
	})
}

func TestARepeatedInviteThroughANodeIsOneCall(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		for range 3 {
			n.peer.send(callUs(), n.us())
			n.peer.expect("SIP/2.0 100")
		}
		n.peer.send(callUs(), n.there()) // a dispatcher may send it elsewhere the next time
		synctest.Wait()
		assert.Len(t, n.calls, 1)
		assert.EqualValues(t, 1, n.owner.Counters().Incoming)
		n.peer.send(follow("CANCEL", "", 10), n.there()) // and its CANCEL
		n.peer.expect("SIP/2.0 100")
		n.peer.expect("SIP/2.0 200")
		n.peer.expect("SIP/2.0 487")
	})
}

func TestRepetitionsWaitForNoSecondLookup(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		n.slow = 40 * time.Millisecond
		for range 3 {
			n.peer.send(callUs(), n.us())
		}
		n.peer.send(follow("CANCEL", "", 10), n.us()) // it waits behind its INVITE
		n.peer.expect("SIP/2.0 100")
		n.peer.expect("SIP/2.0 200 OK")
		n.peer.expect("SIP/2.0 487")
		assert.EqualValues(t, 1, n.asked.Load())
		assert.EqualValues(t, 2, n.ua.Counters().Relayed)
	})
}

func TestALookupDoesNotHoldTheSocket(t *testing.T) {
	amongNodes(t, func(n *nodes, name string, c *sip.Config, ua *sip.UserAgent) {
		if name == "near" && ua != nil {
			ua.SetAdmission(carrierOnly)
		}
	}, func(n *nodes) {
		n.slow = time.Hour
		n.peer.send(callUs(), n.us())
		n.peer.send(strings.ReplaceAll(callUs("no body"), "INVITE", "OPTIONS"), n.us())
		n.peer.expect("SIP/2.0 200")
		synctest.Wait()
		assert.EqualValues(t, 1, n.asked.Load(), "each node answers OPTIONS itself")
		time.Sleep(2 * time.Hour)
	})
}

func TestWhatIsOursIsServedHere(t *testing.T) {
	for _, sure := range []bool{true, false} {
		amongNodes(t, func(n *nodes, name string, c *sip.Config, ua *sip.UserAgent) {
			if name != "near" {
				return
			}
			if c != nil && sure {
				c.CachedOwner = func(cluster.OwnerQuery) (netip.AddrPort, bool, bool) { return netip.AddrPort{}, false, true }
			}
			if ua != nil {
				ua.SetAdmission(carrierOnly)
				ua.OnInvite(func(i *sip.Incoming) { n.calls <- i })
			}
		}, func(n *nodes) {
			n.at = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return netip.AddrPort{}, false }
			n.peer.send(callUs(), n.us())
			n.peer.expect("SIP/2.0 100")
			i := <-n.calls
			assert.False(t, i.Through.IsValid())
			i.Answer([]byte(sdp), n.events.add)
			ok := n.peer.expect("SIP/2.0 200")
			assert.True(t, strings.HasSuffix(tagOf(ok), "-near"), tagOf(ok))
			n.peer.send(follow("ACK", tagOf(ok), 10), n.us())
			n.peer.send(follow("BYE", tagOf(ok), 11), n.us())
			n.peer.expect("SIP/2.0 200")
			next[sip.Ended](t, n.events)
			assert.Zero(t, n.ua.Counters().Relayed)
			assert.EqualValues(t, map[bool]int{true: 0, false: 1}[sure], n.asked.Load())
		})
	}
}

// A node that is asked by another never asks a third one.
func TestNodesThatPointAtEachOtherEndIt(t *testing.T) {
	amongNodes(t, func(n *nodes, name string, c *sip.Config, ua *sip.UserAgent) {
		if name == "owner" && c != nil {
			c.Owner = func(cluster.OwnerQuery) (netip.AddrPort, bool) {
				n.asked.Add(1)
				return netip.MustParseAddrPort(ourAddr), true
			}
		}
	}, func(n *nodes) {
		n.peer.send(callUs(), n.us())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(404, 0)
		n.peer.expect("SIP/2.0 404")
		assert.EqualValues(t, 1, n.asked.Load())
		assert.EqualValues(t, 1, n.ua.Counters().Relayed)
		assert.Zero(t, n.owner.Counters().Relayed)
	})
}

func TestRequestWithoutHopsLeftReachesItsNode(t *testing.T) {
	amongNodes(t, func(_ *nodes, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "near" && ua != nil {
			ua.SetAdmission(carrierOnly)
		}
	}, func(n *nodes) {
		n.peer.send(callUs("Max-Forwards: 0"), n.us())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(404, 0)
		n.peer.expect("SIP/2.0 404")
		assert.EqualValues(t, 1, n.ua.Counters().Relayed)
	})
}

func TestRequestWithoutAnOwnerNodeGets503(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		n.peer.send(callUs(), n.us())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		n.peer.send(ackTo(n.peer.expect("SIP/2.0 486")), n.us())
		synctest.Wait()
		n.at = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return netip.AddrPort{}, true }
		again := strings.NewReplacer("z9hG4bKin1", "z9hG4bKin2", "Call-ID: in-1", "Call-ID: in-2").Replace(callUs())
		n.peer.send(again, n.us())
		assert.Equal(t, "5", n.peer.expect("SIP/2.0 503").get("Retry-After"), "the node knows it by the answer it has passed back")
		stranger := &peer{t, n.net.open("127.0.0.9:5070")}
		stranger.send(callUs(), n.us())
		stranger.nothing(time.Minute)
	})
}

func TestTheOwnersRefusalsComeThrough(t *testing.T) {
	for why, want := range map[string]string{"drains": "SIP/2.0 503", "asks for less": "SIP/2.0 420"} {
		amongNodes(t, nil, func(n *nodes) {
			lines := []string{"Require: 100rel"}
			if why == "drains" {
				n.owner.Drain(true)
			} else {
				lines = []string{"Require: precondition"}
			}
			n.peer.send(callUs(lines...), n.us())
			n.peer.expect(want)
		})
	}
}

func TestDigestThroughANode(t *testing.T) {
	amongNodes(t, func(_ *nodes, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "owner" && ua != nil {
			ua.SetAdmission(func(s transport.Source) sip.Admission {
				a := carrierOnly(s)
				a.RequireAuthentication = true
				a.Account = func(string) (auth.Account, bool) {
					return auth.Account{ID: "trunk-2", User: "1001", Password: "secret of 1001"}, true
				}
				return a
			})
		}
	}, func(n *nodes) {
		a := asking{method: "INVITE", user: "1001", uri: "sip:1001@127.0.0.1", contact: "<sip:peer@127.0.0.1:5070>", cseq: 1}
		a.nonce = n.challenge(a)
		first, _ := n.owners.Load("INVITE")
		assert.Empty(t, first.(cluster.OwnerQuery).User)
		a.cseq, a.nc, a.algorithm, a.password = 2, 1, "SHA-256", "secret of 1001"
		n.peer.send(a.text(), n.us())
		n.peer.expect("SIP/2.0 100")
		i := <-n.calls
		assert.True(t, i.IsAuthenticated)
		assert.Equal(t, "trunk-2", i.TrunkID)
		second, _ := n.owners.Load("INVITE")
		assert.Equal(t, "1001", second.(cluster.OwnerQuery).User, "whom it says to be tells the node")
		i.Reject(486, 0)
		n.peer.expect("SIP/2.0 486")
		// What was proved once is not proved by saying it again.
		a.callID, a.cseq = "reg-2", 3
		n.peer.send(a.text(), n.us())
		n.peer.expect("SIP/2.0 401")
	})
}

func TestAMessageFindsItsNode(t *testing.T) {
	amongNodes(t, func(n *nodes, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "owner" && ua != nil {
			ua.OnMessage(func(i *sip.IncomingMessage) {
				assert.Equal(t, []string{"hello", peerAddr, "trunk"}, []string{string(i.Body), i.Source.String(), i.TrunkID})
				n.slow++
				i.Reply(202, 0)
			})
		}
	}, func(n *nodes) {
		text := strings.NewReplacer("INVITE", "MESSAGE", "application/sdp", "text/plain", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(sdp), sdp), "Content-Length: 5\r\n\r\nhello").Replace(callUs())
		n.peer.send(text, n.us())
		n.peer.expect("SIP/2.0 202")
		n.peer.send(text, n.us())
		n.peer.expect("SIP/2.0 202")
		assert.EqualValues(t, 1, n.slow, "once")
	})
}

// What a carrier sends within a call finds the node that has it, although it
// does not heed our Contact.
func TestRequestsWithinACallFindTheirNode(t *testing.T) {
	for _, by := range []string{"the tag", "the Contact"} {
		amongNodes(t, nil, func(n *nodes) {
			n.at = func(w cluster.OwnerQuery) (netip.AddrPort, bool) {
				if w.InDialog && w.Mark != "owner" {
					return netip.AddrPort{}, false
				}
				return n.there(), true
			}
			if by == "the tag" {
				n.peer.send(callUs(), n.us())
				n.peer.expect("SIP/2.0 100")
				(<-n.calls).Answer([]byte(sdp), n.events.add)
				ok := n.peer.expect("SIP/2.0 200 OK")
				n.peer.send(follow("ACK", tagOf(ok), 10), n.us())
				n.peer.nothing(time.Minute)
				n.peer.send(follow("BYE", tagOf(ok), 11), n.us())
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
				bye := inv.within("BYE", 1)
				_, rest, _ := strings.Cut(bye, "\r\n")
				n.peer.send("BYE sip:+15559999@dispatcher;node=owner SIP/2.0\r\n"+rest, n.us())
			}
			assert.Equal(t, ourAddr, n.peer.expect("SIP/2.0 200").from.String())
			assert.True(t, next[sip.Ended](t, n.events).ByRemote)
		})
	}
}

// A call that was taken up has the tag of its first node, and the Contact of the
// one that has it now.
func TestContactNamesTheNodeBeforeTheTag(t *testing.T) {
	amongNodes(t, nil, func(n *nodes) {
		marks := make(chan string, 4)
		n.at = func(w cluster.OwnerQuery) (netip.AddrPort, bool) {
			marks <- w.Mark
			return n.there(), true
		}
		_, rest, _ := strings.Cut(follow("BYE", "0123456789abcdef-gone", 11), "\r\n")
		n.peer.send("BYE sip:+15559999@dispatcher;node=owner SIP/2.0\r\n"+rest, n.us())
		n.peer.expect("SIP/2.0 481")
		assert.Equal(t, "owner", <-marks)
	})
}

func TestACallThatIsNowhereIsNotLookedFor(t *testing.T) {
	amongNodes(t, func(_ *nodes, name string, _ *sip.Config, ua *sip.UserAgent) {
		if name == "near" && ua != nil {
			ua.SetAdmission(carrierOnly)
		}
	}, func(n *nodes) {
		n.peer.send(follow("BYE", "0123456789abcdef-near", 11), n.us())
		n.peer.expect("SIP/2.0 481")
		assert.Zero(t, n.asked.Load(), "it would be here")
	})
}
