package sip_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/cluster"
)

const captureAddr = "127.0.0.4:5060" // receives the messages that one node relays to another

// captureRelayed makes the node near relay all requests to the returned peer instead of the owner node.
func (n *nodePair) captureRelayed() *peer {
	n.ownerOf = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return netip.MustParseAddrPort(captureAddr), true }
	return &peer{n.t, n.net.open(captureAddr)}
}

func TestRelayRejectsForgedSeal(t *testing.T) {
	for how, change := range map[string]func(string) string{
		"unchanged":      func(s string) string { return s },
		"another body":   func(s string) string { return strings.Replace(s, "m=audio 4000", "m=audio 4002", 1) },
		"other To":       func(s string) string { return strings.Replace(s, "sip:+15551000@", "sip:+15551001@", 1) },
		"another source": func(s string) string { return strings.Replace(s, "i udp 127.0.0.1:5070", "i udp 127.0.0.1:5071", 1) },
		"another call":   func(s string) string { return strings.Replace(s, "Call-ID: in-1", "Call-ID: in-2", 1) },
		"another branch": func(s string) string { return strings.Replace(s, "branch=z9hG4bK", "branch=z9hG4bKx", 1) },
		"without proof": func(s string) string {
			_, rest, _ := strings.Cut(s, "Callboard-Relay: ")
			line, _, _ := strings.Cut(rest, "\r\n")
			return strings.Replace(s, line, line[:len(line)-22], 1)
		},
		"made without the key": func(string) string {
			first, rest, _ := strings.Cut(inboundInvite(), "\r\n")
			return fmt.Sprintf("%s\r\nCallboard-Relay: i udp %s %s 5060 700 %d %s\r\n%s", first, peerAddr, localAddr, time.Now().Unix(), strings.Repeat("A", 22), rest)
		},
		"expired": func(s string) string {
			time.Sleep(11 * time.Minute)
			return s
		},
	} {
		t.Run(how, func(t *testing.T) {
			bubbleWithTwoNodes(t, nil, func(n *nodePair) {
				sniffer := n.captureRelayed()
				n.peer.send(inboundInvite(), n.localAddr())
				passed := sniffer.expect("INVITE")
				assert.Equal(t, "70", passed.get("Max-Forwards"))
				assert.Equal(t, localAddr, passed.from.String())
				sniffer.send(change(passed.text), n.ownerAddrPort())
				synctest.Wait()
				if how == "unchanged" {
					sniffer.expect("SIP/2.0 100")
					(<-n.calls).Reject(486, 0)
					assert.Zero(t, n.owner.Counters().Forged)
					return
				}
				sniffer.expectNothing(time.Minute)
				assert.Empty(t, n.calls)
				assert.EqualValues(t, 1, n.owner.Counters().Forged)
				assert.EqualValues(t, 1, n.owner.Counters().DroppedUnknown)
			})
		})
	}
}

// The Via of a relaying node carries the return path of the response. If the Via in a response is forged, the node must
// not send the response to another address.
func TestRelayRejectsForgedReturnPath(t *testing.T) {
	for how, change := range map[string]func(string) string{
		"unchanged":      func(s string) string { return s },
		"another branch": func(s string) string { return strings.Replace(s, "branch=z9hG4bK", "branch=z9hG4bKx", 1) },
		"other address":  func(s string) string { return strings.Replace(s, ";cb=A", ";cb=B", 1) },
		"truncated":      func(s string) string { return strings.Replace(s, ";cb=", ";cb=AAAA;x=", 1) },
		"without proof":  func(s string) string { return strings.Replace(s, ";cb=", ";x=", 1) },
	} {
		t.Run(how, func(t *testing.T) {
			bubbleWithTwoNodes(t, nil, func(n *nodePair) {
				sniffer := n.captureRelayed()
				n.peer.send(inboundInvite(), n.localAddr())
				passed := sniffer.expect("INVITE")
				var vias []string
				for line := range strings.SplitSeq(passed.text, "\r\n") {
					if via, found := strings.CutPrefix(line, "Via: "); found {
						vias = append(vias, via)
					}
				}
				assert.Len(t, vias, 2)
				answer := strings.Replace(passed.reply(180, "x"), "Via: "+vias[0], "Via: "+vias[0]+", "+vias[1], 1)
				sniffer.send(change(answer), passed.from)
				if how != "unchanged" {
					n.peer.expectNothing(time.Minute)
					return
				}
				ring := n.peer.expect("SIP/2.0 180")
				assert.Equal(t, vias[1], ring.get("Via"))
			})
		})
	}
}

func TestRelayedMessagesAreTracedWithoutSeal(t *testing.T) {
	var heard []sip.TracedMessage
	bubbleWithTwoNodes(t, func(_ *nodePair, name string, c *sip.Config, _ *sip.UserAgent) {
		if name == "owner" && c != nil {
			c.Trace = func(_ string, m sip.TracedMessage) { heard = append(heard, m) }
		}
	}, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		n.peer.expect("SIP/2.0 486")
		synctest.Wait()
		assert.GreaterOrEqual(t, len(heard), 3)
		for _, m := range heard {
			assert.Equal(t, peerAddr, m.Remote.String())
			_, rest, found := strings.Cut(string(m.Data), "Callboard-Relay: ")
			seal, _, _ := strings.Cut(rest, "\r\n")
			assert.Equal(t, !m.Out, found)
			assert.Empty(t, strings.Trim(seal, "* "))
		}
	})
}

// Messages of unknown sources cause a bounded number of lookups, and the unknown sources get no response.
func TestRelayBoundsLookupsOfUnknownSources(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		n.peer.send(inboundInvite(), n.localAddr()) // the carrier, which the owner knows
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		n.peer.send(ackTo(n.peer.expect("SIP/2.0 486")), n.localAddr())
		synctest.Wait()
		n.lookups.Store(0)
		n.ownerOf = func(cluster.OwnerQuery) (netip.AddrPort, bool) { return n.ownerAddrPort(), true }
		var strangers []*peer
		for k := range 40 {
			strangers = append(strangers, &peer{t, n.net.open(fmt.Sprintf("127.0.1.%d:5070", k+1))})
		}
		relayed := n.ua.Counters().Relayed
		flood := func(round string, each int) {
			for k := range each {
				for i, s := range strangers {
					s.send(strings.NewReplacer("in-1", fmt.Sprintf("%s-%d-%d", round, k, i)).Replace(inboundInvite()), n.localAddr())
				}
				synctest.Wait()
			}
		}
		flood("a", 50)
		assert.LessOrEqual(t, n.lookups.Load(), int64(200), "lookups for 2000 messages")
		assert.Greater(t, n.lookups.Load(), int64(190))
		assert.EqualValues(t, n.lookups.Load(), n.ua.Counters().Relayed-relayed, "at most one relayed message for each lookup")
		for _, s := range strangers {
			s.expectNothing(0)
		}
		again := strings.NewReplacer("z9hG4bKin1", "z9hG4bKin2", "Call-ID: in-1", "Call-ID: in-2").Replace(inboundInvite())
		n.peer.send(again, n.localAddr())
		n.peer.expect("SIP/2.0 100")
		(<-n.calls).Reject(486, 0)
		assert.Empty(t, n.calls)
		time.Sleep(time.Minute)
		n.lookupDelay = time.Hour
		synctest.Wait()
		before := n.lookups.Load()
		flood("b", 10)
		assert.EqualValues(t, 128, n.lookups.Load()-before, "concurrent lookups")
		time.Sleep(2 * time.Hour)
		n.lookupDelay = 0
	})
}

// An INVITE, its retransmissions, its CANCEL and the ACK of a refusal must have the same branch after relaying (RFC 3261
// §16.11).
func TestRelayKeepsBranchWithinTransaction(t *testing.T) {
	bubbleWithTwoNodes(t, nil, func(n *nodePair) {
		sniffer := n.captureRelayed()
		n.peer.send(inboundInvite(), n.localAddr())
		inv := sniffer.expect("INVITE")
		branch := strings.SplitAfter(inv.get("Via"), ";cb=")[0]
		for _, text := range []string{inboundInvite(), followUpRequest("CANCEL", "", 10), ackTo(msg{text: inv.reply(486, "x")})} {
			n.peer.send(text, n.localAddr())
			assert.Equal(t, branch, strings.SplitAfter(sniffer.expect("").get("Via"), ";cb=")[0])
		}
		n.peer.send(strings.Replace(inboundInvite(), "z9hG4bKin1", "z9hG4bKin2", 1), n.localAddr())
		assert.NotEqual(t, branch, strings.SplitAfter(sniffer.expect("INVITE").get("Via"), ";cb=")[0])
	})
}
