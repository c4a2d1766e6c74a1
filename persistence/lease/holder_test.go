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

// house is several nodes over one store in memory.
type house struct {
	t      *testing.T
	store  *leasetest.MemoryStore
	lease  time.Duration
	shards int
	refuse error // of the Starts of those that join
}

type worker struct {
	*lease.Holder
	id     string
	wire   *leasetest.MemoryClient
	engine *lease.Heartbeat

	mu      sync.Mutex
	tokens  map[int]lease.Token
	starts  int
	lost    int
	sick    error
	refuse  error         // of Start
	linger  time.Duration // of Stop
	blind   bool          // reaches nobody
	busy    bool          // what it has stays for now
	atOnce  int
	atOnceM int
}

func newHouse(t *testing.T, shards int) *house {
	t.Helper()
	return &house{t: t, store: leasetest.NewMemoryStore(length), lease: length, shards: shards}
}

func (h *house) join(id string) *worker {
	h.t.Helper()
	w := &worker{id: id, wire: h.store.Client(), tokens: make(map[int]lease.Token), refuse: h.refuse}
	w.engine = lease.NewHeartbeat(w.wire, lease.Options{Lease: h.lease, Healthy: func() error { return get(w, &w.sick) }})
	w.Holder = lease.NewHolder(w.engine, lease.Config{
		Self: lease.Node{ID: id, Addr: id + ":1"}, Shards: h.shards, Concurrency: 4, MaxHandovers: 2, LeaseDuration: h.lease,
		Start:     func(_ context.Context, shard int, token lease.Token) error { return h.start(w, shard, token) },
		Stop:      func(shard int, lost bool) { h.stop(w, shard, lost) },
		KeepShard: func(int, string) bool { return get(w, &w.busy) },
		PingNode: func(context.Context, lease.Node) error {
			if get(w, &w.blind) {
				return errors.New("nobody answers")
			}
			return nil
		},
	})
	require.NoError(h.t, w.Join(h.t.Context()))
	h.t.Cleanup(func() { _ = w.Leave(context.Background()) })
	return w
}

func get[T any](w *worker, v *T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *v
}

func set[T any](w *worker, v *T, to T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*v = to
}

func (h *house) start(w *worker, shard int, token lease.Token) error {
	if err := get(w, &w.refuse); err != nil {
		return err
	}
	used, ok := w.UsableToken(shard)
	assert.True(h.t, ok, "%s may not use shard %d that it starts", w.id, shard)
	assert.Equal(h.t, token, used)
	w.mu.Lock()
	assert.NotContains(h.t, w.tokens, shard, "%s starts shard %d twice", w.id, shard)
	w.starts++
	w.tokens[shard] = token
	w.atOnce++
	w.atOnceM = max(w.atOnceM, w.atOnce)
	w.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	w.mu.Lock()
	w.atOnce--
	w.mu.Unlock()
	return nil
}

func (h *house) stop(w *worker, shard int, lost bool) {
	if lost {
		_, ok := w.UsableToken(shard)
		assert.False(h.t, ok, "%s may use shard %d that it has lost", w.id, shard)
	}
	time.Sleep(get(w, &w.linger))
	w.mu.Lock()
	defer w.mu.Unlock()
	assert.Contains(h.t, w.tokens, shard, "%s stops shard %d that it does not serve", w.id, shard)
	delete(w.tokens, shard)
	if lost {
		w.lost++
	}
}

// shares checks that each shard is used by exactly one of the nodes, and says
// how many each has.
func (h *house) shares(of ...*worker) map[string]int {
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

// after lets time go by and everything settle.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestNodesShareTheShardsAndAJoinIsHandedOverAFewAtATime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 60)
		a := h.join("a")
		after(time.Second)
		assert.Equal(t, map[string]int{"a": 60}, h.shares(a))
		assert.Equal(t, 4, a.atOnceM, "so many at once")
		set(a, &a.linger, 20*time.Millisecond)
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
			require.LessOrEqual(t, free, 2, "more than two are on their way at once")
			after(5 * time.Millisecond)
		}
		c := h.join("c")
		after(3 * time.Second)
		count := h.shares(a, b, c)
		assert.Len(t, count, 3)
		for id, n := range count {
			assert.InDelta(t, 20, n, 12, id)
		}
		assert.Zero(t, a.lost+b.lost+c.lost)
	})
}

func TestAShardOfADeadNodeIsTakenOverAsSoonAsItsLeaseEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 30)
		a, b := h.join("a"), h.join("b")
		after(5 * time.Second)
		had := h.shares(a, b)["a"]
		b2 := get(b, &b.starts)
		a.wire.Disconnect(true)
		renewed := time.Now()
		for n := h.store.RenewCount(); n == h.store.RenewCount(); { // the other's renewals come between
			after(time.Millisecond)
		}
		for get(b, &b.starts) == b2 {
			_, used := a.UsableToken(a.anyOf())
			assert.Equal(t, time.Since(renewed) < length*4/5-length/3, used && time.Since(renewed) < length*4/5-length/3)
			after(time.Millisecond)
		}
		assert.LessOrEqual(t, time.Since(renewed), length+300*time.Millisecond)
		assert.Greater(t, time.Since(renewed), length-length/3-10*time.Millisecond)
		after(100 * time.Millisecond)
		assert.Equal(t, map[string]int{"b": 30}, h.shares(a, b))
		assert.Zero(t, a.lost, "it has not heard yet")
		a.wire.Disconnect(false)
		after(time.Second)
		assert.Equal(t, had, a.lost)
		after(3 * time.Second)
		assert.Equal(t, had, h.shares(a, b)["a"], "what belongs to it comes back")
	})
}

// anyOf is a shard that the node serves.
func (w *worker) anyOf() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, shard := range slices.Sorted(maps.Keys(w.tokens)) {
		return shard
	}
	return -1
}

func TestAFrozenStoreMovesNothing(t *testing.T) {
	for pause := 1300 * time.Millisecond; pause < 5*time.Second; pause += 150 * time.Millisecond {
		unmoved(t, func(h *house, of ...*worker) {
			h.store.Freeze()
			after(pause)
			for _, w := range of {
				_, ok := w.UsableToken(w.anyOf())
				assert.False(t, ok && pause > length, "%s acts on a lease that has ended", w.id)
			}
			h.store.Thaw()
		})
	}
}

func TestAClockOfTheStoreThatLeapsMovesNothing(t *testing.T) {
	for wait := range 7 {
		unmoved(t, func(h *house, _ ...*worker) {
			after(time.Duration(wait) * 100 * time.Millisecond)
			h.store.AdvanceClock(time.Hour)
		})
	}
}

// unmoved has something happen to the store of three nodes that renew at
// different times, after which each has what it had, by the same tokens.
func unmoved(t *testing.T, happens func(h *house, of ...*worker)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 30)
		a := h.join("a")
		after(210 * time.Millisecond)
		b := h.join("b")
		after(230 * time.Millisecond)
		c := h.join("c")
		after(10 * time.Second)
		before := [3]map[int]lease.Token{maps.Clone(a.tokens), maps.Clone(b.tokens), maps.Clone(c.tokens)}
		happens(h, a, b, c)
		after(5 * time.Second)
		h.shares(a, b, c)
		now := [3]map[int]lease.Token{a.tokens, b.tokens, c.tokens}
		assert.Equal(t, before, now)
		assert.Zero(t, a.lost+b.lost+c.lost)
	})
}

func TestAStoreThatComesBackEmptyIsFilledAgainWithHigherEpochs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 30)
		a, b := h.join("a"), h.join("b")
		after(5 * time.Second)
		before := maps.Clone(a.tokens)
		maps.Copy(before, b.tokens)
		h.store.SetUnavailable(true)
		after(100 * time.Millisecond)
		h.store.Clear()
		h.store.SetUnavailable(false)
		after(5 * time.Second)
		h.shares(a, b)
		assert.Equal(t, 30, a.lost+b.lost)
		for _, w := range []*worker{a, b} {
			for shard, token := range w.tokens {
				assert.Greater(t, token.Epoch(), before[shard].Epoch(), "shard %d", shard)
			}
		}
	})
}

func TestWhoDrainsIsEmptyAsFastAsItStops(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 40)
		a, b := h.join("a"), h.join("b")
		after(5 * time.Second)
		had := h.shares(a, b)["a"]
		set(a, &a.linger, 100*time.Millisecond)
		begun := time.Now()
		require.NoError(t, a.Drain(t.Context()))
		assert.Equal(t, time.Duration((had+3)/4)*100*time.Millisecond, time.Since(begun), "four at once")
		after(100 * time.Millisecond)
		assert.Equal(t, map[string]int{"b": 40}, h.shares(a, b))
		assert.Equal(t, []lease.Node{{ID: "a", Addr: "a:1", Draining: true}, {ID: "b", Addr: "b:1"}}, b.engine.Nodes())
		require.NoError(t, a.Resume(t.Context()))
		after(3 * time.Second)
		assert.Len(t, h.shares(a, b), 2)
		require.NoError(t, a.Leave(t.Context()))
		after(100 * time.Millisecond)
		assert.Equal(t, []lease.Node{{ID: "b", Addr: "b:1"}}, b.engine.Nodes())
		assert.Zero(t, a.lost+b.lost)
	})
}

func TestWhoseActorsDoNotAnswerLosesItsLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 20)
		a, b := h.join("a"), h.join("b")
		after(5 * time.Second)
		set(a, &a.sick, errors.New("stuck"))
		after(3 * time.Second)
		assert.Equal(t, map[string]int{"b": 20}, h.shares(a, b))
		assert.Positive(t, a.lost, "it sees that it has lost them")
		set(a, &a.sick, nil)
		after(3 * time.Second)
		assert.Len(t, h.shares(a, b), 2)
	})
}

func TestARefusedCommitStopsItsShardAndClaimsItAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 3)
		a := h.join("a")
		after(3 * time.Second)
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
		after(3 * time.Second)
		again, ok := a.UsableToken(1)
		assert.True(t, ok)
		assert.Greater(t, again.Epoch(), token.Epoch())
		assert.Equal(t, 4, a.starts)
	})
}

func TestAShardThatCannotBeStartedIsTriedAgainAtLeisure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 2)
		h.refuse = errors.New("no")
		a := h.join("a")
		after(3 * time.Second)
		assert.Empty(t, a.StartedShards())
		set(a, &a.refuse, nil)
		after(time.Second)
		assert.Equal(t, map[string]int{"a": 2}, h.shares(a))
	})
}

func TestWhoSeesNobodyDrainsUntilItSeesSomebody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 30)
		a, b, c := h.join("a"), h.join("b"), h.join("c")
		after(5 * time.Second)
		set(a, &a.blind, true)
		after(10 * time.Second)
		count := h.shares(a, b, c)
		assert.Zero(t, count["a"])
		assert.Len(t, count, 2)
		set(a, &a.blind, false)
		after(5 * time.Second)
		assert.Len(t, h.shares(a, b, c), 3)
		for _, w := range []*worker{a, b, c} {
			set(w, &w.blind, true)
		}
		after(20 * time.Second)
		assert.Equal(t, map[string]int{"a": 30}, h.shares(a, b, c), "nobody sees anybody: one goes on")
		assert.Zero(t, a.lost+b.lost+c.lost)
	})
}

// unsure is an engine that says when it no longer holds what it held.
type unsure struct {
	*lease.Heartbeat
	lost atomic.Bool
}

func (u *unsure) Holds(shard int, t lease.Token) bool {
	return !u.lost.Load() && u.Heartbeat.OwnsShard(shard, t)
}

func TestWhatIsLostIsNotUsedThoughNobodyWasToldYet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := &unsure{Heartbeat: lease.NewHeartbeat(leasetest.NewMemoryStore(time.Hour).Client(), lease.Options{Lease: time.Hour})}
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

func TestWhatHangsDoesNotHoldUpALeavingForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 3)
		a := h.join("a")
		after(3 * time.Second)
		set(a, &a.linger, time.Hour)
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

func BenchmarkUse(b *testing.B) {
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
