package main_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// ownerOf returns the node that owns the shard of the workspace.
func (c *nodeCluster) ownerOf(one *shardTenant) (at *service) {
	c.t.Helper()
	shard := strconv.Itoa(domain.ShardOf(one.id, clusterShardCount))
	c.nodes[0].await("the workspace to have a node", time.Minute, func() bool {
		for _, s := range c.nodes {
			if c.shardsOf(s)[shard] {
				at = s
			}
		}
		return at != nil
	})
	return at
}

// awaitEvenShards waits until all nodes own the same number of shards, after which no shard moves.
func (c *nodeCluster) awaitEvenShards() {
	c.t.Helper()
	c.nodes[0].await("an even distribution of the shards", time.Minute, func() bool {
		for _, s := range c.nodes {
			if len(c.shardsOf(s)) != clusterShardCount/len(c.nodes) {
				return false
			}
		}
		return true
	})
}

// A node that reaches the store but no other node must release all its shards, even while a long call runs. The other
// nodes must then serve its workspaces.
func TestIsolatedNodeReleasesItsShards(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]string{"its calls resume on other nodes": surviveCalls, "its calls end": "CALLBOARD_SURVIVE_CALLS=false"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := redistest.Start(t)
			dir := t.TempDir()
			parted := func(node int) string { return filepath.Join(dir, strconv.Itoa(node)) }
			c := newNodeClusterWithRedisURLs(t, 3, func(node int) []string {
				return []string{"CALLBOARD_REDIS_URL=" + url, "FAILPOINT_PARTITION=" + parted(node)}
			}, env, "CALLBOARD_SHARDS="+strconv.Itoa(clusterShardCount), "CALLBOARD_DRAIN_SECONDS=600")
			c.awaitEvenShards()
			one := c.createTenants(1)[0]
			lonely := c.ownerOf(one)
			const number = "+12025550180"
			p := startBaresip(t, number)
			at := lonely.withKey(one.key)
			at.api("POST", "/v1/trunks", object{
				"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
			})
			agent := at.createLongMenuAgent()
			id := at.placeCall(number, agent, nil)
			at.awaitSpeaking(id)
			at.await("audio at the phone", 20*time.Second, p.hasHeardAudio)

			node, others := 0, 0
			for i, s := range c.nodes {
				if s == lonely {
					node = i
				}
			}
			next, third := c.nodes[(node+1)%3], c.nodes[(node+2)%3]
			require.NoError(t, os.WriteFile(parted(node), nil, 0o600))
			next.await("ownership of all shards by the other nodes", time.Minute, func() bool {
				others = len(c.shardsOf(next)) + len(c.shardsOf(third))
				return len(c.shardsOf(lonely)) == 0 && others == clusterShardCount
			})
			assert.NotSame(t, lonely, c.ownerOf(one))
			next.withKey(one.key).api("PATCH", "/v1/agents/"+agent, object{"name": "changed"})
			if env == surviveCalls {
				next.await("the call to resume", time.Minute, func() bool { return c.countResumed() == 1 })
				next.withKey(one.key).awaitSpeaking(id)
				p.pressKey("1")
				assert.Equal(t, "confirmed", next.withKey(one.key).awaitCallEnd(id, 30*time.Second)["disposition"])
			} else {
				next.withKey(one.key).awaitCallEnd(id, 30*time.Second)
				assert.Contains(t, lonely.logText(), "the drain limit has passed: live calls are hung up")
				assert.Zero(t, c.countResumed())
			}
			require.NoError(t, os.Remove(parted(node)))
			c.awaitEvenShards()
		})
	}
}
