package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

func TestNodesCommandListsNodesWithShards(t *testing.T) {
	url, _ := redistest.Start(t)
	engine := func(n lease.Node) lease.Engine {
		e, err := redis.New(url, redis.Options{Options: lease.Options{Lease: 20 * time.Second}})
		require.NoError(t, err)
		require.NoError(t, e.Join(t.Context(), n, func() {}))
		t.Cleanup(func() { _ = e.Leave(context.Background()) })
		return e
	}
	started := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	one := engine(lease.Node{ID: "node_1", Addr: "10.0.0.1:8090", SIP: "10.0.0.1:5060", Version: "v1.2", Since: started.UnixMilli(), Lease: 2000})
	two := engine(lease.Node{ID: "node_2", Addr: "10.0.0.2:8090", Draining: true})
	before := time.Now().Add(-time.Minute)
	for e, shards := range map[lease.Engine][]int{one: {3, 0}, two: {1, 2}} {
		_, err := e.Claim(t.Context(), shards)
		require.NoError(t, err)
	}
	tokens, err := two.Claim(t.Context(), []int{2})
	require.NoError(t, err)
	require.NoError(t, two.Release(t.Context(), 2, tokens[2]))
	t.Setenv("CALLBOARD_REDIS_URL", url)

	out, errs, code := runCommandLine(t, "nodes", "--json")
	require.Zero(t, code, errs)
	var got nodesView
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	for i := range got.Nodes {
		for j, h := range got.Nodes[i].Shards {
			assert.WithinRange(t, h.Since, before, time.Now().Add(time.Minute))
			got.Nodes[i].Shards[j].Since = time.Time{}
		}
	}
	assert.Equal(t, nodesView{Free: []int{2}, Nodes: []nodeView{
		{ID: "node_1", Addr: "10.0.0.1:8090", SIP: "10.0.0.1:5060", Version: "v1.2", Started: &started, LeaseSeconds: 2, Shards: []ownedShardView{{Shard: 0}, {Shard: 3}}},
		{ID: "node_2", Addr: "10.0.0.2:8090", Draining: true, Shards: []ownedShardView{{Shard: 1}}},
	}}, got)

	out, errs, code = runCommandLine(t, "nodes")
	require.Zero(t, code, errs)
	lines := strings.Split(out, "\n")
	assert.Equal(t, []string{"node_1", "10.0.0.1:8090", "10.0.0.1:5060", "v1.2", "2026-03-02", "12:00:00", "2", "live"}, strings.Fields(lines[1]))
	assert.Contains(t, out, "draining")
	assert.Contains(t, out, "1 shards have no owner\n2 live nodes\n")
}

func TestNodesCommandFailsWithoutRedis(t *testing.T) {
	_, errs, code := runCommandLine(t, "nodes", "--data", t.TempDir())
	assert.NotZero(t, code)
	assert.Contains(t, errs, "redis_url is not set")
}
