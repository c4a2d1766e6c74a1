package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/leasetest"
)

func TestHeartbeatRenewsThreeTimesPerLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := leasetest.NewMemoryStore(length)
		var engines []*lease.Heartbeat
		for _, id := range []string{"a", "b"} {
			e := lease.NewHeartbeat(store.Client(), lease.Options{Lease: length})
			require.NoError(t, e.Join(t.Context(), lease.Node{ID: id}, func() {}))
			engines = append(engines, e)
		}
		before := store.RenewCount()
		sleepAndSettle(20 * time.Second)
		assert.InDelta(t, 60, store.RenewCount()-before, 2, "at rest")
		before = store.RenewCount()
		for range 400 {
			tokens, err := engines[0].Claim(t.Context(), []int{7})
			require.NoError(t, err)
			require.NoError(t, engines[0].Release(t.Context(), 7, tokens[7]))
			sleepAndSettle(50 * time.Millisecond)
		}
		assert.InDelta(t, 60, store.RenewCount()-before, 2, "although other nodes read many changes")
		for _, e := range engines {
			require.NoError(t, e.Leave(t.Context()))
		}
	})
}

// A node must notice the end of another node's lease when it ends, not only at the next renewal.
func TestHeartbeatNoticesEndOfLeaseAtOnce(t *testing.T) {
	for phase := range 6 {
		bubble(t, func(t *testing.T) {
			store := leasetest.NewMemoryStore(length)
			wire := store.Client()
			dead, other := lease.NewHeartbeat(wire, lease.Options{Lease: length}), lease.NewHeartbeat(store.Client(), lease.Options{Lease: length})
			require.NoError(t, dead.Join(t.Context(), lease.Node{ID: "dead"}, func() {}))
			time.Sleep(time.Duration(phase) * 100 * time.Millisecond)
			require.NoError(t, other.Join(t.Context(), lease.Node{ID: "other"}, func() {}))
			sleepAndSettle(5 * time.Second)
			wire.Disconnect(true)
			ends := dead.Deadline().Add(length / 5) // without the safety margin of the deadline
			sleepAndSettle(time.Until(ends) - time.Millisecond)
			assert.Len(t, other.Nodes(), 2)
			sleepAndSettle(20 * time.Millisecond)
			assert.Len(t, other.Nodes(), 1)
			wire.Disconnect(false)
			require.NoError(t, dead.Leave(t.Context()))
			require.NoError(t, other.Leave(t.Context()))
		})
	}
}
