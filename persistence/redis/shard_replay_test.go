package redis_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// installRow is the key of a row without a workspace, which the owner of any shard may write.
var installRow = persistence.Key{Table: "claims/", ID: "x"}

// shardOwner simulates a process that owns some shards.
type shardOwner struct {
	t            *testing.T
	o            redis.Options
	proxy        *redistest.Proxy
	d            *redis.Driver
	tokens       map[string]string
	acknowledged map[string]int // acknowledged commits by shard
}

func newShardOwner(t *testing.T, way *redistest.Proxy, o redis.Options) *shardOwner {
	t.Helper()
	w := &shardOwner{t: t, o: o, proxy: way, tokens: make(map[string]string), acknowledged: make(map[string]int)}
	w.open()
	t.Cleanup(func() { _ = w.d.Close() })
	return w
}

func (w *shardOwner) open() {
	w.t.Helper()
	d, err := redis.Open(w.t.Context(), w.proxy.URL(), w.o)
	require.NoError(w.t, err)
	w.d = d
}

func (w *shardOwner) claim(token string, shards ...string) {
	w.t.Helper()
	for _, shard := range shards {
		require.NoError(w.t, w.d.Claim(w.t.Context(), shard, token))
		w.tokens[shard] = token
	}
}

// commit writes the next version of a shard's row. If install is above 0, the commit also writes version install of
// installRow.
func (w *shardOwner) commit(shard string, install int) error {
	w.t.Helper()
	n := w.acknowledged[shard]
	row := persistence.Key{Table: "noun/" + shard, ID: "row"}
	c := persistence.Commit{
		Shard: shard, Token: w.tokens[shard], Log: shard,
		Guards: []persistence.Guard{{Key: row, Version: uint64(n)}},
		Puts:   []persistence.Put{{Key: row, Value: []byte(strconv.Itoa(n)), Sort: "x"}},
		Events: []persistence.Event{{Subject: shard, Payload: []byte(strconv.Itoa(n))}},
	}
	if install > 0 {
		c.Guards = append(c.Guards, persistence.Guard{Key: installRow, Version: uint64(install - 1)})
		c.Puts = append(c.Puts, persistence.Put{Key: installRow, Value: []byte(shard)})
	}
	_, err := w.d.Commit(w.t.Context(), c)
	if err == nil {
		w.acknowledged[shard]++
	}
	return err
}

func (w *shardOwner) write(n int, shards ...string) {
	w.t.Helper()
	for range n {
		for _, shard := range shards {
			require.NoError(w.t, w.commit(shard, 0))
		}
	}
}

// requireCommits checks that the store has n commits of a shard, each once and in order.
func requireCommits(t *testing.T, d *redis.Driver, shard string, n int) {
	t.Helper()
	retryUntilAnswered(t, func() error {
		value, version, err := d.Get(t.Context(), persistence.Key{Table: "noun/" + shard, ID: "row"})
		if err == nil {
			assert.Equal(t, strconv.Itoa(n-1), string(value), "shard %s", shard)
			assert.EqualValues(t, n, version, "shard %s", shard)
		}
		return err
	})
	entries, err := d.Events(t.Context(), shard, 0, 1000)
	require.NoError(t, err)
	require.Len(t, entries, n, "shard %s", shard)
	for i, e := range entries {
		require.Equal(t, [2]uint64{uint64(i + 1), uint64(i + 1)}, [2]uint64{e.Offset, e.Sequence})
		require.Equal(t, strconv.Itoa(i), string(e.Payload))
	}
}

// replicatedServers are a server and its replica behind one address.
type replicatedServers struct {
	t       *testing.T
	primary *redistest.Server
	replica *redistest.Server
	proxy   *redistest.Proxy
}

func newReplicatedServers(t *testing.T) *replicatedServers {
	t.Helper()
	_, primary := redistest.Start(t)
	return &replicatedServers{t: t, primary: primary, replica: redistest.StartReplica(t, primary), proxy: redistest.NewProxy(t, primary)}
}

// stopReplication waits until the replica has the latest write, and then promotes it. The replica misses all later
// writes to the primary.
func (p *replicatedServers) stopReplication(w *shardOwner, shard string) {
	p.t.Helper()
	k := persistence.Key{Table: "mark/" + shard, ID: "mark"}
	_, err := w.d.Commit(p.t.Context(), persistence.Commit{Shard: shard, Token: w.tokens[shard], Puts: []persistence.Put{{Key: k, Value: []byte("v")}}})
	require.NoError(p.t, err)
	require.Eventually(p.t, func() bool { return p.replica.HasKey("mark/" + shard) }, time.Minute, 10*time.Millisecond)
	p.replica.Promote()
}

// failOver kills the primary and makes the proxy forward to the replica.
func (p *replicatedServers) failOver() {
	p.primary.Kill()
	p.proxy.SwitchTo(p.replica)
}

func TestEachProcessRestoresItsOwnShards(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart=", restart), func(t *testing.T) {
			p := newReplicatedServers(t)
			a, b := newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir()}), newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir()})
			a.claim("100|a", "0", "1")
			b.claim("101|b", "2", "3")
			a.write(10, "0", "1")
			b.write(10, "2", "3")
			p.stopReplication(a, "0")
			var writing sync.WaitGroup
			for _, w := range []struct {
				*shardOwner
				shards []string
			}{{a, []string{"0", "1"}}, {b, []string{"2", "3"}}} {
				writing.Go(func() {
					for i := range 40 {
						assert.NoError(t, w.commit(w.shards[i%2], 0))
					}
				})
			}
			writing.Wait()
			if restart {
				require.NoError(t, a.d.Close())
			}
			p.failOver()
			if restart {
				a.open()
			}
			a.write(5, "0", "1")
			b.write(5, "2", "3")
			for _, d := range []*redis.Driver{a.d, b.d} {
				for _, shard := range []string{"0", "1", "2", "3"} {
					requireCommits(t, d, shard, 35)
				}
				requireHealth(t, d, true)
			}
		})
	}
}

// If a shard moved between two processes during the lost commits, each process restores its own commits and claims.
// The result must not depend on which process restores first.
func TestBothOwnersRestoreMovedShard(t *testing.T) {
	p := newReplicatedServers(t)
	a, b := newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir()}), newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir()})
	a.claim("100|a", "1")
	a.write(5, "1")
	p.stopReplication(a, "1")
	a.write(5, "1")
	b.claim("101|b", "1", "2")
	b.acknowledged["1"] = a.acknowledged["1"]
	b.write(5, "1", "2")
	require.ErrorIs(t, a.commit("1", 0), domain.ErrFenced)
	p.failOver()
	requireCommits(t, b.d, "1", 15)
	b.write(5, "1", "2")
	require.ErrorIs(t, a.commit("1", 0), domain.ErrFenced)
	requireCommits(t, a.d, "1", 20)
	requireCommits(t, a.d, "2", 10)
}

// Two processes write the same row without a workspace in turn. The process that restores first cannot restore the
// commits that depend on commits of the other process, and must retry them.
func TestSharedRowsAreRestoredInOrder(t *testing.T) {
	p := newReplicatedServers(t)
	a, b := newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir()}), newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir()})
	a.claim("100|a", "0", "1")
	b.claim("101|b", "2")
	p.stopReplication(a, "0")
	for i, turn := range []struct {
		*shardOwner
		shard string
	}{{b, "2"}, {a, "1"}, {a, "0"}, {b, "2"}, {a, "1"}, {b, "2"}} {
		require.NoError(t, turn.commit(turn.shard, i+1))
	}
	p.failOver()
	requireCommits(t, a.d, "0", 1) // the writing process never sees fewer commits; other processes may for a moment
	requireCommits(t, a.d, "1", 2)
	requireCommits(t, b.d, "2", 3)
	for _, d := range []*redis.Driver{a.d, b.d} {
		for shard, n := range map[string]int{"0": 1, "1": 2, "2": 3} {
			requireCommits(t, d, shard, n)
		}
		value, version, err := d.Get(t.Context(), installRow)
		require.NoError(t, err)
		assert.Equal(t, "2", string(value))
		assert.EqualValues(t, 6, version)
	}
}

// A shard whose commits cannot be restored refuses commits and reports why. Commits of other shards succeed.
func TestUnrestorableShardDelaysNoOtherShard(t *testing.T) {
	p := newReplicatedServers(t)
	a := newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir()})
	a.claim("100|a", "1")
	p.stopReplication(a, "1")
	a.write(5, "1")
	b := newShardOwner(t, p.proxy, redis.Options{Ledger: t.TempDir(), Wait: 2 * time.Second})
	b.claim("101|b", "1", "2")
	b.acknowledged["1"] = a.acknowledged["1"]
	b.write(5, "1", "2")
	require.NoError(t, a.d.Close()) // a stays closed, so the commits in its ledger cannot be restored
	p.failOver()
	one, two := b.d.ShardDriver("1"), b.d.ShardDriver("2")
	row := func(shard string) persistence.Key { return persistence.Key{Table: "noun/" + shard, ID: "row"} }
	retryUntilAnswered(t, func() error {
		_, version, err := two.Get(t.Context(), row("2"))
		if err == nil {
			assert.EqualValues(t, 5, version)
		}
		return err
	})
	require.Eventually(t, func() bool { return two.Healthy() == nil }, time.Minute, 5*time.Millisecond)
	for range 3 {
		refused := make(chan error, 1)
		go func() { refused <- b.commit("1", 0) }()
		b.write(10, "2") // commits of shard 2 succeed while a commit of shard 1 waits
		err := <-refused
		require.ErrorIs(t, err, persistence.ErrUnavailable)
		require.ErrorContains(t, err, "of shard 1 it has 2 of 13")
	}
	_, _, err := one.Get(t.Context(), row("1"))
	require.ErrorIs(t, err, persistence.ErrUnavailable)
	require.ErrorContains(t, one.Healthy(), "lacks commits")
	require.NoError(t, two.Healthy())
	require.ErrorIs(t, b.d.Healthy(), persistence.ErrUnavailable)
}
