package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/persistence/lease/leasetest"
)

// drainingNodes returns the IDs of the nodes that are draining according to this node.
func (w *testNode) drainingNodes() (ids []string) {
	for _, n := range w.engine.Nodes() {
		if n.Draining {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// A node that reaches neither the store nor other nodes cannot announce that it drains. The announcement must not
// take effect later, when the node reaches them again. The node would then have no shards, and other nodes would not
// count it as serving. The test begins the store outage at various times of a ping round.
func TestIsolationIsWithdrawnAfterStoreOutage(t *testing.T) {
	for offset := time.Duration(0); offset < 8*time.Second; offset += 100 * time.Millisecond {
		bubble(t, func(t *testing.T) {
			h := newTestCluster(t, 30)
			a, b, c := h.join("a"), h.join("b"), h.join("c")
			sleepAndSettle(5 * time.Second)
			set(c, &c.reachesNone, true)
			sleepAndSettle(offset)
			c.client.Disconnect(true)
			sleepAndSettle(1100 * time.Millisecond)
			set(c, &c.reachesNone, false)
			c.client.Disconnect(false)
			sleepAndSettle(10 * time.Second)
			assert.Empty(t, a.drainingNodes(), "%s", offset)
			assert.False(t, c.IsIsolated())
			assert.Len(t, h.checkShares(a, b, c), 3, "%s", offset)
		})
	}
}

// A node that was isolated long enough to release its shards recovers. When another node becomes isolated, the
// recovered node must take the shards of that node.
func TestRecoveredNodeTakesShardsOfNextIsolatedNode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 30)
		a, b, c := h.join("a"), h.join("b"), h.join("c")
		sleepAndSettle(5 * time.Second)
		for _, w := range []*testNode{c, b} {
			set(w, &w.reachesNone, true)
			w.client.Disconnect(true)
			sleepAndSettle(9 * time.Second)
			w.client.Disconnect(false)
			for range 15 { // the other nodes answer a moment after the store
				sleepAndSettle(100 * time.Millisecond)
				assert.False(t, w.IsIsolated(), w.id)
			}
			set(w, &w.reachesNone, false)
			sleepAndSettle(5 * time.Second)
		}
		set(a, &a.reachesNone, true)
		sleepAndSettle(8 * time.Second) // the lease and six rounds
		assert.True(t, a.IsIsolated())
		count := h.checkShares(a, b, c)
		assert.Zero(t, count["a"])
		assert.Len(t, count, 2)
	})
}

func TestAnotherIsolatedNodeGoesOnAfterLastOneDies(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 30)
		a, b, c := h.join("a"), h.join("b"), h.join("c")
		sleepAndSettle(5 * time.Second)
		for _, w := range []*testNode{a, b, c} {
			set(w, &w.reachesNone, true)
		}
		sleepAndSettle(20 * time.Second)
		assert.Equal(t, map[string]int{"a": 30}, h.checkShares(a, b, c))
		a.client.Disconnect(true)
		sleepAndSettle(20 * time.Second)
		assert.Equal(t, map[string]int{"b": 30}, h.checkShares(b, c))
		moved := get(b, &b.starts) + get(c, &c.starts)
		sleepAndSettle(time.Minute)
		assert.Equal(t, map[string]int{"b": 30}, h.checkShares(b, c))
		assert.Equal(t, moved, get(b, &b.starts)+get(c, &c.starts), "no shard is started twice")
	})
}

// If one of two nodes dies, the other must not count as isolated before the dead node's lease has ended, for any lease
// duration. Otherwise it would release its shards and end its calls.
func TestNodeKeepsShardsAfterOnlyPeerDies(t *testing.T) {
	for _, of := range []time.Duration{time.Second, 2 * time.Second, 2900 * time.Millisecond, 10 * time.Second, time.Minute} {
		for phase := range 10 {
			bubble(t, func(t *testing.T) {
				h := newTestCluster(t, 30)
				h.lease = of
				h.store = leasetest.NewMemoryStore(of)
				a, b := h.join("a"), h.join("b")
				sleepAndSettle(3*of + time.Duration(phase)*100*time.Millisecond)
				a.client.Disconnect(true)
				set(b, &b.reachesNone, true)
				for end := time.Now().Add(of + 10*time.Second); time.Now().Before(end); sleepAndSettle(100 * time.Millisecond) {
					assert.False(t, b.IsIsolated(), "a lease of %s", of)
				}
				assert.Len(t, b.StartedShards(), 30)
				assert.Equal(t, 30, get(b, &b.starts), "no shard was stopped and started again")
			})
		}
	}
}
