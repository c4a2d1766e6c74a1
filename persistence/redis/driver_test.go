package redis_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	client "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/persistence/storetest"
)

// openWithPrefix starts one Redis server. The returned function opens a store on it with a new key prefix at each call.
func openWithPrefix(t testing.TB) storetest.Open {
	t.Helper()
	url, _ := redistest.Start(t)
	var n atomic.Int64
	return func(t testing.TB) persistence.Driver {
		t.Helper()
		d, err := redis.Open(t.Context(), url, redis.Options{Prefix: fmt.Sprintf("test%d:", n.Add(1))})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
}

func TestRedisConforms(t *testing.T) { storetest.Run(t, openWithPrefix(t)) }

// A node that was paused between acquiring the lease of a shard and claiming the shard cannot take the shard from the
// node that owns it meanwhile.
func TestDelayedClaimIsFenced(t *testing.T) {
	d := openWithPrefix(t)(t)
	put := func(token string) error {
		_, err := d.Commit(t.Context(), persistence.Commit{Shard: "s", Token: token, Puts: []persistence.Put{{Key: persistence.Key{Table: "t", ID: "a"}, Value: []byte("v")}}})
		return err
	}
	require.NoError(t, d.Claim(t.Context(), "s", "1795411303246|b"))
	require.ErrorIs(t, d.Claim(t.Context(), "s", "1795411303245|a"), domain.ErrFenced)
	require.NoError(t, put("1795411303246|b"), "the current owner")
	require.NoError(t, d.Claim(t.Context(), "s", "1795411303247|a"))
	require.ErrorIs(t, put("1795411303246|b"), domain.ErrFenced)
	require.NoError(t, d.Claim(t.Context(), "s", "1|c"), "a single process")
	require.NoError(t, put("1|c"))
}

// A node that was paused while another process claimed the whole store cannot take a shard from that process, nor
// from a later owner.
func TestDelayedClaimAfterClaimAllIsFenced(t *testing.T) {
	d := openWithPrefix(t)(t)
	put := func(shard, token string) error {
		_, err := d.Commit(t.Context(), persistence.Commit{Shard: shard, Token: token, Puts: []persistence.Put{{Key: persistence.Key{Table: "t", ID: "a"}, Value: []byte("v")}}})
		return err
	}
	require.NoError(t, d.Claim(t.Context(), "1", "1000|a"))
	require.NoError(t, d.ClaimAll(t.Context(), "1|alone"))
	require.ErrorIs(t, d.Claim(t.Context(), "2", "1000|a"), domain.ErrFenced, "an epoch equal to the highest seen")
	require.ErrorIs(t, d.ClaimAll(t.Context(), "999|b"), domain.ErrFenced)
	require.NoError(t, put("0", "1|alone"), "the current owner")
	require.NoError(t, d.Claim(t.Context(), "1", "1001|a"))
	require.ErrorIs(t, put("0", "1|alone"), domain.ErrFenced)
	require.ErrorIs(t, d.Claim(t.Context(), "3", "999|b"), domain.ErrFenced)
	require.NoError(t, d.ClaimAll(t.Context(), "1002|c"), "a node claims the whole store")
	require.NoError(t, d.ClaimAll(t.Context(), "1002|c"), "the claim is repeated")
	require.NoError(t, put("0", "1002|c"))
	require.ErrorIs(t, put("1", "1001|a"), domain.ErrFenced)
}

// A commit does not rewrite list positions that stay the same, because Redis logs each write. A change of a call
// affects only one of its lists.
func TestCommitTouchesChangedListsOnly(t *testing.T) {
	url, _ := redistest.Start(t)
	d, err := redis.Open(t.Context(), url, redis.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	at, err := client.ParseURL(url)
	require.NoError(t, err)
	server := client.NewClient(at)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	put := func(sort string, lists ...string) string {
		require.NoError(t, server.ConfigResetStat(t.Context()).Err())
		_, err := d.Commit(t.Context(), persistence.Commit{Puts: []persistence.Put{{
			Key: persistence.Key{Table: "t", ID: "a"}, Value: []byte("v"), Sort: sort, Lists: lists,
		}}})
		require.NoError(t, err)
		told, err := server.Info(t.Context(), "commandstats").Result()
		require.NoError(t, err)
		var steps []string
		for _, name := range []string{"zadd", "zrem", "hset", "hincrby"} {
			_, calls, _ := strings.Cut(told, "cmdstat_"+name+":calls=")
			calls, _, _ = strings.Cut(calls, ",")
			steps = append(steps, name+"="+calls)
		}
		return strings.Join(steps, " ")
	}
	in := func(list string) (places []string) {
		page, err := d.Scan(t.Context(), persistence.Range{Table: "t", List: list, Limit: 10})
		require.NoError(t, err)
		for _, r := range page.Rows {
			places = append(places, r.Position)
		}
		return places
	}
	require.Equal(t, "zadd=4 zrem= hset=1 hincrby=", put("1", "all", "old", "day"))
	require.Equal(t, "zadd=1 zrem=1 hset=1 hincrby=", put("1", "new", "all", "day"))
	require.Equal(t, "zadd= zrem= hset=1 hincrby=", put("1", "day", "new", "all"), "lists in another order")
	require.Equal(t, []string{"1\x00a"}, in("all"))
	require.Equal(t, []string{"1\x00a"}, in("new"))
	require.Empty(t, in("old"))
	require.Equal(t, "zadd=3 zrem=3 hset=1 hincrby=", put("2", "day", "new", "all"), "another position in each list")
	require.Equal(t, []string{"2\x00a"}, in("all"))
}

func BenchmarkRedis(b *testing.B) { storetest.Bench(b, openWithPrefix(b)) }
