package lease_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/leasetest"
)

const length = 2 * time.Second

// testCluster runs several nodes on one in-memory store.
type testCluster struct {
	t          *testing.T
	store      *leasetest.MemoryStore
	lease      time.Duration
	shards     int
	startError error // returned by Start of nodes that join
}

type testNode struct {
	*lease.Holder
	id     string
	client *leasetest.MemoryClient
	engine *lease.Heartbeat

	mu            sync.Mutex
	tokens        map[int]lease.Token
	starts        int
	lost          int
	healthError   error
	startError    error         // returned by Start
	stopDuration  time.Duration // duration of Stop
	reachesNone   bool          // reaches no other node
	keepsShards   bool          // KeepShard returns true
	concurrent    int
	maxConcurrent int
}

func newTestCluster(t *testing.T, shards int) *testCluster {
	t.Helper()
	return &testCluster{t: t, store: leasetest.NewMemoryStore(length), lease: length, shards: shards}
}

func (h *testCluster) join(id string) *testNode {
	h.t.Helper()
	w := &testNode{id: id, client: h.store.Client(), tokens: make(map[int]lease.Token), startError: h.startError}
	w.engine = lease.NewHeartbeat(w.client, lease.Options{Lease: h.lease, Healthy: func() error { return get(w, &w.healthError) }})
	w.Holder = lease.NewHolder(w.engine, lease.Config{
		Self: lease.Node{ID: id, Addr: id + ":1"}, Shards: h.shards, Concurrency: 4, MaxHandovers: 2, LeaseDuration: h.lease,
		Start:     func(_ context.Context, shard int, token lease.Token) error { return h.start(w, shard, token) },
		Stop:      func(shard int, lost bool) { h.stop(w, shard, lost) },
		KeepShard: func(int, string) bool { return get(w, &w.keepsShards) },
		PingNode: func(context.Context, lease.Node) error {
			if get(w, &w.reachesNone) {
				return errors.New("nobody answers")
			}
			return nil
		},
	})
	require.NoError(h.t, w.Join(h.t.Context()))
	h.t.Cleanup(func() { _ = w.Leave(context.Background()) })
	return w
}

func get[T any](w *testNode, v *T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *v
}

func set[T any](w *testNode, v *T, to T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*v = to
}

func (h *testCluster) start(w *testNode, shard int, token lease.Token) error {
	if err := get(w, &w.startError); err != nil {
		return err
	}
	used, ok := w.UsableToken(shard)
	assert.True(h.t, ok, "%s may not use shard %d that it starts", w.id, shard)
	assert.Equal(h.t, token, used)
	w.mu.Lock()
	assert.NotContains(h.t, w.tokens, shard, "%s starts shard %d twice", w.id, shard)
	w.starts++
	w.tokens[shard] = token
	w.concurrent++
	w.maxConcurrent = max(w.maxConcurrent, w.concurrent)
	w.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	w.mu.Lock()
	w.concurrent--
	w.mu.Unlock()
	return nil
}

func (h *testCluster) stop(w *testNode, shard int, lost bool) {
	if lost {
		_, ok := w.UsableToken(shard)
		assert.False(h.t, ok, "%s may use shard %d that it has lost", w.id, shard)
	}
	time.Sleep(get(w, &w.stopDuration))
	w.mu.Lock()
	defer w.mu.Unlock()
	assert.Contains(h.t, w.tokens, shard, "%s stops shard %d that it does not serve", w.id, shard)
	delete(w.tokens, shard)
	if lost {
		w.lost++
	}
}

// checkShares asserts that exactly one of the nodes may use each shard, and returns the number of shards of each node.
func (h *testCluster) checkShares(of ...*testNode) map[string]int {
	h.t.Helper()
	count := make(map[string]int)
	for shard := range h.shards {
		var by []string
		for _, w := range of {
			if token, ok := w.UsableToken(shard); ok {
				by = append(by, w.id)
				assert.Equal(h.t, get(w, &w.tokens)[shard], token)
				count[w.id]++
			}
		}
		assert.Len(h.t, by, 1, "shard %d is used by %v", shard, by)
	}
	return count
}

func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// sleepAndSettle sleeps for d and then waits until all other goroutines of the synctest bubble are blocked.
func sleepAndSettle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestHolderHandsOverFewShardsToJoinedNode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 60)
		a := h.join("a")
		sleepAndSettle(time.Second)
		assert.Equal(t, map[string]int{"a": 60}, h.checkShares(a))
		assert.Equal(t, 4, a.maxConcurrent, "concurrent starts")
		set(a, &a.stopDuration, 20*time.Millisecond)
		b := h.join("b")
		for range 400 {
			free := 0
			for shard := range h.shards {
				_, usedA := a.UsableToken(shard)
				_, usedB := b.UsableToken(shard)
				require.False(t, usedA && usedB)
				if !usedA && !usedB {
					free++
				}
			}
			require.LessOrEqual(t, free, 2, "more than two shards are being handed over")
			sleepAndSettle(5 * time.Millisecond)
		}
		c := h.join("c")
		sleepAndSettle(3 * time.Second)
		count := h.checkShares(a, b, c)
		assert.Len(t, count, 3)
		for id, n := range count {
			assert.InDelta(t, 20, n, 12, id)
		}
		assert.Zero(t, a.lost+b.lost+c.lost)
	})
}

func TestHolderTakesOverShardsOfDeadNode(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 30)
		a, b := h.join("a"), h.join("b")
		sleepAndSettle(5 * time.Second)
		had := h.checkShares(a, b)["a"]
		b2 := get(b, &b.starts)
		a.client.Disconnect(true)
		renewed := time.Now()
		for n := h.store.RenewCount(); n == h.store.RenewCount(); { // the renewals of the other node come between
			sleepAndSettle(time.Millisecond)
		}
		for get(b, &b.starts) == b2 {
			_, used := a.UsableToken(a.anyShard())
			assert.Equal(t, time.Since(renewed) < length*4/5-length/3, used && time.Since(renewed) < length*4/5-length/3)
			sleepAndSettle(time.Millisecond)
		}
		assert.LessOrEqual(t, time.Since(renewed), length+300*time.Millisecond)
		assert.Greater(t, time.Since(renewed), length-length/3-10*time.Millisecond)
		sleepAndSettle(100 * time.Millisecond)
		assert.Equal(t, map[string]int{"b": 30}, h.checkShares(a, b))
		assert.Zero(t, a.lost, "the node has not noticed the loss yet")
		a.client.Disconnect(false)
		sleepAndSettle(time.Second)
		assert.Equal(t, had, a.lost)
		sleepAndSettle(3 * time.Second)
		assert.Equal(t, had, h.checkShares(a, b)["a"], "the node gets its assigned shards back")
	})
}

// anyShard returns one of the shards that the node serves, or -1.
func (w *testNode) anyShard() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, shard := range slices.Sorted(maps.Keys(w.tokens)) {
		return shard
	}
	return -1
}

func TestFrozenStoreMovesNoShards(t *testing.T) {
	for pause := 1300 * time.Millisecond; pause < 5*time.Second; pause += 150 * time.Millisecond {
		testShardsStay(t, func(h *testCluster, of ...*testNode) {
			h.store.Freeze()
			sleepAndSettle(pause)
			for _, w := range of {
				_, ok := w.UsableToken(w.anyShard())
				assert.False(t, ok && pause > length, "%s acts on a lease that has ended", w.id)
			}
			h.store.Thaw()
		})
	}
}

func TestStoreClockJumpMovesNoShards(t *testing.T) {
	for wait := range 7 {
		testShardsStay(t, func(h *testCluster, _ ...*testNode) {
			sleepAndSettle(time.Duration(wait) * 100 * time.Millisecond)
			h.store.AdvanceClock(time.Hour)
		})
	}
}

// testShardsStay lets happens disturb the store of three nodes that renew at different times. Each node must keep its
// shards with the same tokens.
func testShardsStay(t *testing.T, happens func(h *testCluster, of ...*testNode)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 30)
		a := h.join("a")
		sleepAndSettle(210 * time.Millisecond)
		b := h.join("b")
		sleepAndSettle(230 * time.Millisecond)
		c := h.join("c")
		sleepAndSettle(10 * time.Second)
		before := [3]map[int]lease.Token{maps.Clone(a.tokens), maps.Clone(b.tokens), maps.Clone(c.tokens)}
		happens(h, a, b, c)
		sleepAndSettle(5 * time.Second)
		h.checkShares(a, b, c)
		now := [3]map[int]lease.Token{a.tokens, b.tokens, c.tokens}
		assert.Equal(t, before, now)
		assert.Zero(t, a.lost+b.lost+c.lost)
	})
}

func TestEmptiedStoreIsFilledWithHigherEpochs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 30)
		a, b := h.join("a"), h.join("b")
		sleepAndSettle(5 * time.Second)
		before := maps.Clone(a.tokens)
		maps.Copy(before, b.tokens)
		h.store.SetUnavailable(true)
		sleepAndSettle(100 * time.Millisecond)
		h.store.Clear()
		h.store.SetUnavailable(false)
		sleepAndSettle(5 * time.Second)
		h.checkShares(a, b)
		assert.Equal(t, 30, a.lost+b.lost)
		for _, w := range []*testNode{a, b} {
			for shard, token := range w.tokens {
				assert.Greater(t, token.Epoch(), before[shard].Epoch(), "shard %d", shard)
			}
		}
	})
}

func TestDrainStopsAllShardsConcurrently(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 40)
		a, b := h.join("a"), h.join("b")
		sleepAndSettle(5 * time.Second)
		had := h.checkShares(a, b)["a"]
		set(a, &a.stopDuration, 100*time.Millisecond)
		begun := time.Now()
		require.NoError(t, a.Drain(t.Context()))
		assert.Equal(t, time.Duration((had+3)/4)*100*time.Millisecond, time.Since(begun), "four concurrent stops")
		sleepAndSettle(100 * time.Millisecond)
		assert.Equal(t, map[string]int{"b": 40}, h.checkShares(a, b))
		assert.Equal(t, []lease.Node{{ID: "a", Addr: "a:1", Draining: true}, {ID: "b", Addr: "b:1"}}, b.engine.Nodes())
		require.NoError(t, a.Resume(t.Context()))
		sleepAndSettle(3 * time.Second)
		assert.Len(t, h.checkShares(a, b), 2)
		require.NoError(t, a.Leave(t.Context()))
		sleepAndSettle(100 * time.Millisecond)
		assert.Equal(t, []lease.Node{{ID: "b", Addr: "b:1"}}, b.engine.Nodes())
		assert.Zero(t, a.lost+b.lost)
	})
}

func TestUnhealthyNodeLosesLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 20)
		a, b := h.join("a"), h.join("b")
		sleepAndSettle(5 * time.Second)
		set(a, &a.healthError, errors.New("stuck"))
		sleepAndSettle(3 * time.Second)
		assert.Equal(t, map[string]int{"b": 20}, h.checkShares(a, b))
		assert.Positive(t, a.lost, "the node notices that it has lost its shards")
		set(a, &a.healthError, nil)
		sleepAndSettle(3 * time.Second)
		assert.Len(t, h.checkShares(a, b), 2)
	})
}

func TestReportLostStopsAndClaimsShardAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 3)
		a := h.join("a")
		sleepAndSettle(3 * time.Second)
		token, ok := a.UsableToken(1)
		require.True(t, ok)
		a.ReportLost(1, "1|somebody")
		a.ReportLost(1, token)
		a.ReportLost(1, token)
		_, ok = a.UsableToken(1)
		assert.False(t, ok)
		synctest.Wait()
		assert.Equal(t, 1, a.lost)
		assert.Equal(t, []int{0, 2}, a.StartedShards())
		sleepAndSettle(3 * time.Second)
		again, ok := a.UsableToken(1)
		assert.True(t, ok)
		assert.Greater(t, again.Epoch(), token.Epoch())
		assert.Equal(t, 4, a.starts)
	})
}

func TestFailedStartIsRetriedAfterPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 2)
		h.startError = errors.New("no")
		a := h.join("a")
		sleepAndSettle(3 * time.Second)
		assert.Empty(t, a.StartedShards())
		set(a, &a.startError, nil)
		sleepAndSettle(time.Second)
		assert.Equal(t, map[string]int{"a": 2}, h.checkShares(a))
	})
}

func TestIsolatedNodeDrainsUntilItReachesAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 30)
		a, b, c := h.join("a"), h.join("b"), h.join("c")
		sleepAndSettle(5 * time.Second)
		set(a, &a.reachesNone, true)
		sleepAndSettle(10 * time.Second)
		count := h.checkShares(a, b, c)
		assert.Zero(t, count["a"])
		assert.Len(t, count, 2)
		set(a, &a.reachesNone, false)
		sleepAndSettle(5 * time.Second)
		assert.Len(t, h.checkShares(a, b, c), 3)
		for _, w := range []*testNode{a, b, c} {
			set(w, &w.reachesNone, true)
		}
		sleepAndSettle(20 * time.Second)
		assert.Equal(t, map[string]int{"a": 30}, h.checkShares(a, b, c), "no node reaches another: one node keeps serving")
		assert.Zero(t, a.lost+b.lost+c.lost)
	})
}

// flakyEngine is an engine that can report that it no longer owns a shard.
type flakyEngine struct {
	*lease.Heartbeat
	lost atomic.Bool
}

func (u *flakyEngine) OwnsShard(shard int, t lease.Token) bool {
	return !u.lost.Load() && u.Heartbeat.OwnsShard(shard, t)
}

func TestUsableTokenChecksEngine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := &flakyEngine{Heartbeat: lease.NewHeartbeat(leasetest.NewMemoryStore(time.Hour).Client(), lease.Options{Lease: time.Hour})}
		h := lease.NewHolder(e, lease.Config{
			Self: lease.Node{ID: "a"}, Shards: 1,
			Start: func(context.Context, int, lease.Token) error { return nil }, Stop: func(int, bool) {},
		})
		require.NoError(t, h.Join(t.Context()))
		synctest.Wait()
		_, ok := h.UsableToken(0)
		assert.True(t, ok)
		e.lost.Store(true)
		_, ok = h.UsableToken(0)
		assert.False(t, ok)
		require.NoError(t, h.Leave(t.Context()))
	})
}

func TestLeaveEndsWithContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newTestCluster(t, 3)
		a := h.join("a")
		sleepAndSettle(3 * time.Second)
		set(a, &a.stopDuration, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		require.NoError(t, a.Leave(ctx))
		assert.LessOrEqual(t, time.Since(begun), 2*time.Second)
		_, ok := a.UsableToken(0)
		assert.False(t, ok)
		time.Sleep(2 * time.Hour)
	})
}

func BenchmarkUsableToken(b *testing.B) {
	store := leasetest.NewMemoryStore(time.Hour)
	h := lease.NewHolder(lease.NewHeartbeat(store.Client(), lease.Options{Lease: time.Hour}), lease.Config{
		Self: lease.Node{ID: "a"}, Shards: 8,
		Start: func(context.Context, int, lease.Token) error { return nil }, Stop: func(int, bool) {},
	})
	require.NoError(b, h.Join(b.Context()))
	for len(h.StartedShards()) < 8 {
		time.Sleep(time.Millisecond)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := h.UsableToken(3); !ok {
			b.Fatal(fmt.Sprint(h.StartedShards()))
		}
	}
}
