package redis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// failOverToReplica makes 20 commits, stops the replication, makes 30 more commits and replaces the server by its
// replica. It returns the driver after the fail-over. If restart is set, the driver is closed and opened again.
func failOverToReplica(t *testing.T, o redis.Options, restart bool) (*redis.Driver, error) {
	t.Helper()
	_, primary := redistest.Start(t)
	replica := redistest.StartReplica(t, primary)
	way := redistest.NewProxy(t, primary)
	d, err := redis.Open(t.Context(), way.URL(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	require.NoError(t, d.Claim(t.Context(), "s", "1|a"))
	row := persistence.Key{Table: "noun/ws", ID: "row"}
	write := func(i int) {
		c := newRowCommit(fmt.Sprint("n", i))
		c.Shard, c.Token = "s", "1|a"
		c.Puts = append(c.Puts, persistence.Put{Key: row, Value: []byte(strconv.Itoa(i)), Sort: "x"})
		c.Guards = append(c.Guards, persistence.Guard{Key: row, Version: uint64(i)})
		_, err := d.Commit(t.Context(), c)
		require.NoError(t, err)
	}
	for i := range 20 {
		write(i)
	}
	require.Eventually(t, func() bool { return replica.HasKey("row") }, time.Minute, 10*time.Millisecond)
	replica.Promote()
	for i := 20; i < 50; i++ {
		write(i)
	}
	if restart {
		require.NoError(t, d.Close())
	}
	primary.Kill()
	way.SwitchTo(replica)
	if restart {
		d, err = redis.Open(t.Context(), way.URL(), o)
		if err == nil {
			t.Cleanup(func() { _ = d.Close() })
		}
	}
	return d, err
}

// retryUntilAnswered repeats a read until it succeeds. Until then, the only allowed error is ErrUnavailable: while
// Redis lacks commits, a read must never return old data.
func retryUntilAnswered(t *testing.T, ask func() error) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool {
		if err = ask(); err == nil {
			return true
		}
		require.ErrorIs(t, err, persistence.ErrUnavailable)
		return false
	}, time.Minute, time.Millisecond)
}

// requireAllCommits checks that the store has every acknowledged commit of failOverToReplica exactly once and in
// order, and accepts a new commit.
func requireAllCommits(t *testing.T, d *redis.Driver) {
	t.Helper()
	row := persistence.Key{Table: "noun/ws", ID: "row"}
	retryUntilAnswered(t, func() error {
		last, err := d.LastOffset(t.Context(), "ws")
		if err == nil {
			assert.EqualValues(t, 50, last)
		}
		return err
	})
	value, version, err := d.Get(t.Context(), row)
	require.NoError(t, err)
	assert.Equal(t, "49", string(value))
	assert.EqualValues(t, 50, version)
	page, err := d.Scan(t.Context(), persistence.Range{Table: row.Table, Limit: 100})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 51)
	entries, err := d.Events(t.Context(), "ws", 0, 100)
	require.NoError(t, err)
	require.Len(t, entries, 50)
	for i, e := range entries {
		assert.Equal(t, [2]uint64{uint64(i + 1), 1}, [2]uint64{e.Offset, e.Sequence})
		assert.Equal(t, fmt.Sprint("n", i), e.Subject)
	}
	requireHealth(t, d, true)
	c := newRowCommit("after")
	c.Shard, c.Token = "s", "1|a"
	_, err = d.Commit(t.Context(), c)
	require.NoError(t, err)
	_, err = d.Commit(t.Context(), c)
	require.ErrorIs(t, err, domain.ErrConflict)
}

func TestCommitsAreRestoredToPromotedReplica(t *testing.T) {
	for _, restart := range []bool{false, true} {
		d, err := failOverToReplica(t, redis.Options{Ledger: t.TempDir()}, restart)
		require.NoError(t, err)
		requireAllCommits(t, d)
	}
}

// With AnyHistory, the driver accepts the promoted replica, and acknowledged commits are lost. This proves that
// failOverToReplica loses commits.
func TestAnyHistoryLosesCommitsAfterFailover(t *testing.T) {
	d, err := failOverToReplica(t, redis.Options{AnyHistory: true}, false)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, version, err := d.Get(t.Context(), persistence.Key{Table: "noun/ws", ID: "row"})
		return err == nil && version < 50
	}, time.Minute, 10*time.Millisecond)
}

func TestPromotedReplicaIsRefusedWithoutLedger(t *testing.T) {
	d, err := failOverToReplica(t, redis.Options{Wait: time.Second}, false)
	require.NoError(t, err)
	c := newRowCommit("after")
	c.Shard, c.Token = "s", "1|a"
	_, err = d.Commit(t.Context(), c)
	require.ErrorIs(t, err, persistence.ErrUnavailable)
	require.Eventually(t, func() bool {
		err := d.Healthy()
		return err != nil && strings.Contains(err.Error(), "lacks commits")
	}, time.Minute, 5*time.Millisecond)
}

func TestLedgerIsReadUpToTornEntry(t *testing.T) {
	url, _ := redistest.Start(t)
	dir := t.TempDir()
	for i := range 3 {
		d, err := redis.Open(t.Context(), url, redis.Options{Ledger: dir})
		require.NoError(t, err)
		_, err = d.Commit(t.Context(), newRowCommit(strconv.Itoa(i)))
		require.NoError(t, err)
		require.NoError(t, d.Close())
		f, err := os.OpenFile(filepath.Join(dir, "current"), os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		_, err = f.Write([]byte{9, 0, 0, 0, 1, 2, 3})
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	empty, _ := redistest.Start(t)
	d, err := redis.Open(t.Context(), empty, redis.Options{Ledger: dir})
	require.NoError(t, err)
	for i := range 3 {
		_, version, err := d.Get(t.Context(), persistence.Key{Table: "noun/ws", ID: strconv.Itoa(i)})
		require.NoError(t, err)
		assert.Equal(t, uint64(1), version)
	}
	require.NoError(t, d.Close())
}

func TestLedgerEntriesAfterTornEntryAreRead(t *testing.T) {
	l, err := redis.OpenLedger(t.TempDir(), 1<<20)
	require.NoError(t, err)
	require.NoError(t, l.WriteIntent("a"))
	require.NoError(t, l.WriteTornEntry())
	require.NoError(t, l.WriteIntent("b"))
	ids, err := l.ReadIDs()
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, ids)
	require.NoError(t, l.Close())
}

func TestLedgerRetriesFailedRotation(t *testing.T) {
	dir := t.TempDir()
	l, err := redis.OpenLedger(dir, 60)
	require.NoError(t, err)
	obstacle := filepath.Join(dir, "before", "x")
	require.NoError(t, os.MkdirAll(obstacle, 0o700))
	require.NoError(t, l.WriteIntent("a"))
	require.Error(t, l.WriteIntent("b"), "the rotation fails")
	require.NoError(t, os.RemoveAll(filepath.Dir(obstacle)))
	require.NoError(t, l.WriteIntent("c"))
	require.NoError(t, l.WriteIntent("d"))
	ids, err := l.ReadIDs()
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c", "d"}, ids)
	require.NoError(t, l.Close())
}

func TestEmptyRedisGetsWholeLedgerOrIsRefused(t *testing.T) {
	url, _ := redistest.Start(t)
	dir := t.TempDir()
	d, err := redis.Open(t.Context(), url, redis.Options{Ledger: dir})
	require.NoError(t, err)
	_, err = d.Commit(t.Context(), newRowCommit("x"))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	empty, _ := redistest.Start(t)
	d, err = redis.Open(t.Context(), empty, redis.Options{Ledger: dir})
	require.NoError(t, err)
	_, version, err := d.Get(t.Context(), persistence.Key{Table: "noun/ws", ID: "x"})
	require.NoError(t, err)
	assert.Equal(t, uint64(1), version)
	require.NoError(t, d.Close())
	other, _ := redistest.Start(t)
	d, err = redis.Open(t.Context(), other, redis.Options{Ledger: t.TempDir()})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	_, err = redis.Open(t.Context(), other, redis.Options{Ledger: dir})
	require.ErrorContains(t, err, "another Redis")
}
