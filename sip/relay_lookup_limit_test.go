package sip_test

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/transport"
)

// Each known source may use only a part of the concurrent lookups, so that slow lookups of one source do not block the
// calls of other sources. Queries of other nodes are also limited per second. A dispatcher has no such limits, because
// it sends the calls of all callers.
func TestRelayBoundsLookupsPerKnownSource(t *testing.T) {
	for _, dispatcher := range []bool{false, true} {
		bubbleWithTwoNodes(t, func(n *nodePair, name string, c *sip.Config, ua *sip.UserAgent) {
			switch {
			case name == "near" && ua != nil:
				ua.SetAdmission(func(s transport.Source) sip.Admission {
					return sip.Admission{Allow: s.Addr.Addr().IsLoopback(), TrunkID: "trunk"}
				})
			case name == "near" && dispatcher:
				c.Probes = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
			}
		}, func(n *nodePair) {
			var alone atomic.Int64
			hold := make(chan struct{})
			n.ownerOf = func(w cluster.OwnerQuery) (netip.AddrPort, bool) {
				if w.AllowQuery != nil && !w.AllowQuery() {
					alone.Add(1)
				}
				<-hold
				return netip.AddrPort{}, true
			}
			calls := func(from *peer, addr string, offset, count int) {
				for i := offset; i < offset+count; i++ {
					from.send(inboundInvite(fmt.Sprintf("Call-ID: share-%d", i), fmt.Sprintf("Via: SIP/2.0/UDP %s;branch=z9hG4bKs%d", addr, i)), n.localAddr())
				}
				synctest.Wait()
			}
			calls(n.peer, peerAddr, 0, 150)
			assert.EqualValues(t, map[bool]int{false: 128, true: 150}[dispatcher], n.lookups.Load())
			const otherAddr = "127.0.0.9:5060"
			other := &peer{t, n.net.open(otherAddr)}
			calls(other, otherAddr, 1000, 100)
			assert.EqualValues(t, map[bool]int{false: 228, true: 250}[dispatcher], n.lookups.Load(), "another source has its own share")
			close(hold)
			synctest.Wait()
			assert.Zero(t, alone.Load())
			calls(n.peer, peerAddr, 2000, 100)
			assert.EqualValues(t, map[bool]int{false: 28, true: 0}[dispatcher], alone.Load(), "200 queries per second, without the refused ones")
			time.Sleep(time.Second)
			before := alone.Load()
			calls(n.peer, peerAddr, 3000, 100)
			assert.Equal(t, before, alone.Load())
		})
	}
}
