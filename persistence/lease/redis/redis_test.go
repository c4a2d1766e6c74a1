package redis_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/leasetest"
	"github.com/callboard/callboard/persistence/lease/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

const shortLease = time.Second

func open(url, space string, o lease.Options) (lease.Engine, error) {
	return redis.New(url, redis.Options{Prefix: space + ":", Options: o})
}

func TestMain(m *testing.M) { leasetest.Main(m, open) }

func suite(url string) leasetest.Suite {
	return leasetest.Suite{Store: url, Open: open, ShortLease: shortLease}
}

func TestRedisLeasesConform(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	suite(url).Run(t)
}

func direct(t testing.TB, url string) *client.Client {
	t.Helper()
	settings, err := client.ParseURL(url)
	require.NoError(t, err)
	c := client.NewClient(settings)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNodesSurvivePausedAndKilledRedis(t *testing.T) {
	t.Parallel()
	url, server := redistest.Start(t)
	suite(url).RunFaults(t, server)
}

// After a flush of Redis no node knows the previous owners, so two nodes may use a shard for a moment. The test checks
// only that the nodes share all shards again.
func TestNodesRefillFlushedRedis(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	s := suite(url)
	a, b := s.JoinHolder(t, "a", 24, lease.Options{Lease: shortLease}), s.JoinHolder(t, "b", 24, lease.Options{Lease: shortLease})
	leasetest.WaitUntilShared(t, 24, a, b)
	top := lease.Token("")
	for _, holder := range []*leasetest.TestHolder{a, b} {
		for _, token := range holder.Tokens() {
			if token.Epoch() > top.Epoch() {
				top = token
			}
		}
	}
	r := direct(t, url)
	_, err := r.TxPipelined(t.Context(), func(p client.Pipeliner) error {
		p.FlushAll(t.Context())
		p.ScriptFlush(t.Context())
		return nil
	})
	require.NoError(t, err)
	leasetest.Eventually(t, "all are claimed again", func() bool {
		for _, holder := range []*leasetest.TestHolder{a, b} {
			for _, token := range holder.Tokens() {
				if token.Epoch() <= top.Epoch() {
					return false
				}
			}
		}
		return len(a.Tokens())+len(b.Tokens()) == 24
	})
	leasetest.WaitUntilShared(t, 24, a, b)
}

// A replica that lacks changes replaces its primary. The nodes must read all its rows again, although its change numbers
// look current.
func TestPromotedReplicaWithoutClaimsIsDetected(t *testing.T) {
	t.Parallel()
	_, primary := redistest.Start(t)
	replica := redistest.StartReplica(t, primary)
	way := redistest.NewProxy(t, primary)
	s := suite(way.URL())
	a, b := s.JoinHolder(t, "a", 24, lease.Options{Lease: shortLease}), s.JoinHolder(t, "b", 24, lease.Options{Lease: shortLease})
	leasetest.WaitUntilShared(t, 24, a, b)
	tokens := a.Tokens()
	leasetest.Eventually(t, "the replica has it", func() bool { return replica.HasKey("lease:rows") })
	replica.Promote()
	for shard, token := range tokens { // claims that the replica does not receive
		a.ReportLost(shard, token)
	}
	leasetest.Eventually(t, "they are claimed anew", func() bool {
		now := a.Tokens()
		for shard, token := range tokens {
			if now[shard].Epoch() <= token.Epoch() {
				return false
			}
		}
		return true
	})
	newer := a.Tokens()
	lost := a.LostShards()
	way.SwitchTo(replica)
	leasetest.Eventually(t, "they are lost", func() bool { return a.LostShards() > lost })
	leasetest.WaitUntilShared(t, 24, a, b)
	for shard, token := range a.Tokens() {
		assert.Greater(t, token.Epoch(), newer[shard].Epoch(), "shard %d", shard)
	}
}

func TestLeaseBeyondMaximumIsShortened(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	r := direct(t, url)
	e, err := open(url, "x", lease.Options{Lease: shortLease})
	require.NoError(t, err)
	ahead := float64(time.Now().Add(time.Hour).UnixMilli()) // Redis's clock was an hour ahead at the last renewal
	require.NoError(t, r.ZAdd(t.Context(), "x:{cb}lease:nodes", client.Z{Score: ahead, Member: "gone"}).Err())
	require.NoError(t, r.HSet(t.Context(), "x:{cb}lease:who", "gone", `{"id":"gone"}`).Err())
	require.NoError(t, r.HSet(t.Context(), "x:{cb}lease:rows", "3", "5|gone").Err())
	require.NoError(t, e.Join(t.Context(), lease.Node{ID: "a"}, func() {}))
	t.Cleanup(func() { _ = e.Leave(context.Background()) })
	leasetest.Eventually(t, "its shard is free", func() bool {
		tokens, err := e.Claim(t.Context(), []int{3})
		return err == nil && len(tokens) == 1 && tokens[3].Epoch() > 5
	})
	leasetest.Eventually(t, "the node is gone", func() bool { return len(e.Nodes()) == 1 })
}

func TestLeaseKeysAreUnderPrefixAndDeleted(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	e, err := open(url, "mine", lease.Options{})
	require.NoError(t, err)
	require.NoError(t, e.Join(t.Context(), lease.Node{ID: "a"}, func() {}))
	tokens, err := e.Claim(t.Context(), []int{0, 1})
	require.NoError(t, err)
	require.NoError(t, e.Release(t.Context(), 1, tokens[1]))
	r := direct(t, url)
	keys, err := r.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"mine:{cb}lease:nodes", "mine:{cb}lease:who", "mine:{cb}lease:rows", "mine:{cb}lease:changed", "mine:{cb}lease:n", "mine:{cb}lease:parameters"}, keys)
	require.NoError(t, e.Leave(t.Context()))
	who, err := r.Exists(t.Context(), "mine:{cb}lease:nodes", "mine:{cb}lease:who").Result()
	require.NoError(t, err)
	assert.Zero(t, who)
	rows, err := r.HGetAll(t.Context(), "mine:{cb}lease:rows").Result()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"0": string(tokens[0]), "1": fmt.Sprintf("%d|", tokens[1].Epoch())}, rows)
}

func TestInvalidURLIsNotInError(t *testing.T) {
	_, err := redis.New("redis://:secret@[", redis.Options{})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
	e, err := redis.New("redis://127.0.0.1:1/0", redis.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, e.Join(t.Context(), lease.Node{ID: "a"}, func() {}), "refused")
	require.NoError(t, e.Leave(t.Context()))
}

func BenchmarkRedisLeases(b *testing.B) {
	url, _ := redistest.Start(b)
	suite(url).Bench(b)
}

// BenchmarkHandoverWithoutNotices measures the hand-over of a shard that nodes notice only by renewals.
func BenchmarkHandoverWithoutNotices(b *testing.B) {
	url, _ := redistest.Start(b)
	s := suite(url)
	s.Open = func(url, space string, o lease.Options) (lease.Engine, error) {
		return redis.NewWithoutNotices(url, redis.Options{Prefix: space + ":", Options: o})
	}
	b.Run("Handover", s.BenchHandover)
}

// BenchmarkHundredNodeLeases measures the figures of docs/scale.md about leases. It takes about a minute.
func BenchmarkHundredNodeLeases(b *testing.B) {
	url, _ := redistest.Start(b)
	r := direct(b, url)
	suite(url).BenchHundredNodes(b, func() time.Duration {
		text, err := r.Info(b.Context(), "cpu").Result()
		require.NoError(b, err)
		var all time.Duration
		for _, m := range regexp.MustCompile(`(?m)^used_cpu_(?:sys|user):([\d.]+)`).FindAllStringSubmatch(text, -1) {
			took, err := time.ParseDuration(m[1] + "s")
			require.NoError(b, err)
			all += took
		}
		return all
	})
}
