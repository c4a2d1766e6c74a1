package main_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

var handoverLogLine = regexp.MustCompile(`msg="live calls are handed over to another node" calls=(\d+)`)

// createLongMenuAgent creates an agent that waits for a key longer than a restart of several nodes takes.
func (s *service) createLongMenuAgent() string {
	s.t.Helper()
	return s.createAgent(object{
		"name": "lasting", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 60, "retries": 5, "values": []string{"1"}, "save_as": "answer", "prompt": "Press one."},
			{"id": "yes", "type": "end", "outcome": "confirmed"},
			{"id": "none", "type": "end"},
		},
		"edges": []object{
			{"from": "ask", "to": "yes", "when": object{"type": "dtmf", "digits": "1"}},
			{"from": "ask", "to": "none", "when": object{"type": "else"}},
		},
	})
}

// countFailedRequests continuously sends requests to the nodes, except those for which rests returns true. The returned
// function stops the requests and returns how many failed.
func (c *nodeCluster) countFailedRequests(all []*shardTenant, rests func(*service) bool) (failed func() int) {
	var wait sync.WaitGroup
	var refused, n atomic.Int64
	end := make(chan struct{})
	for i, one := range all {
		wait.Go(func() {
			for turn := 0; ; turn++ {
				at := c.nodes[(i+turn)%len(c.nodes)]
				select {
				case <-end:
					return
				case <-time.After(50 * time.Millisecond):
				}
				if rests(at) {
					continue
				}
				code, body, _, err := at.withKey(one.key).sendRequest("PATCH", "/v1/agents/"+one.agent, object{"name": fmt.Sprint("agent ", turn)})
				if rests(at) {
					continue
				}
				if n.Add(1); err != nil || code >= http.StatusInternalServerError {
					refused.Add(1)
					c.t.Logf("%v %d %s", err, code, body)
				}
			}
		})
	}
	return func() int {
		close(end)
		wait.Wait()
		assert.Positive(c.t, n.Load())
		return int(refused.Load())
	}
}

// All nodes are restarted one after the other during calls. No call may end because of a restart: each must resume on
// the next owner of its workspace. A node must not wait for long calls.
func TestRollingRestartKeepsCalls(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 3, surviveCalls, fmt.Sprint("CALLBOARD_SHARDS=", clusterShardCount), "CALLBOARD_DRAIN_SECONDS=600", "FAILPOINT_MOVE_AFTER=1s")
	c.awaitSpreadShards()
	all := c.createTenants(3)
	var phones []*softphone
	var ids []string
	for i, one := range all {
		at, number := c.nodes[i].withKey(one.key), fmt.Sprintf("+120255501%02d", 60+i)
		p := startBaresip(t, number)
		at.api("POST", "/v1/trunks", object{
			"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
		})
		one.agent = at.createLongMenuAgent()
		id := at.placeCall(number, one.agent, nil)
		at.awaitSpeaking(id)
		at.await("audio at the phone", 20*time.Second, p.hasHeardAudio)
		phones, ids = append(phones, p), append(ids, id)
	}
	var mu sync.Mutex
	var resting *service
	failed := c.countFailedRequests(all, func(s *service) bool {
		mu.Lock()
		defer mu.Unlock()
		return s == resting
	})
	for i, node := range c.nodes {
		next := c.nodes[(i+1)%3]
		mu.Lock()
		resting = node // as with a load balancer, the clients use other nodes before this node stops
		mu.Unlock()
		require.NoError(t, node.cmd.Process.Signal(syscall.SIGTERM))
		next.await("the node to stop despite live calls", time.Minute, node.hasExited)
		assert.Equal(t, 0, node.cmd.ProcessState.ExitCode(), "the node stops in order")
		for k, one := range all {
			next.withKey(one.key).awaitSpeaking(ids[k])
		}
		next.await("the calls to resume", time.Minute, func() bool { return c.countResumed() == c.countHandedOver() })
		c.startNode(node)
		mu.Lock()
		resting = nil
		mu.Unlock()
	}
	assert.GreaterOrEqual(t, c.countHandedOver(), 3, "each call was handed over at least once")
	assert.Zero(t, failed(), "requests that failed")
	c.awaitSpreadShards()
	c.nodes[0].await("the last calls to resume", time.Minute, func() bool { return c.countResumed() == c.countHandedOver() })
	for i, one := range all {
		phones[i].pressKey("1")
		at := c.nodes[i].withKey(one.key)
		call := at.awaitCallEnd(ids[i], 30*time.Second)
		assert.Equal(t, "confirmed", call["disposition"], "%v", call)
		assert.Equal(t, 1, strings.Count(phones[i].log(), "Call established"), "the phone had one call")
	}
	for _, s := range c.nodes {
		assert.NotContains(t, s.logText(), "panic")
	}
}

// A node joins the cluster while a shard has calls that do not end. After a waiting time the shard must move to the new
// node, and its calls must resume there. The former owner must keep its other shard.
func TestShardWithLiveCallsMovesToJoinedNode(t *testing.T) {
	t.Parallel()
	const wait = 8 * time.Second // default: one minute
	c := newNodeCluster(t, 2, surviveCalls, "CALLBOARD_SHARDS=2", "CALLBOARD_DRAIN_SECONDS=600", "FAILPOINT_MOVE_AFTER="+wait.String())
	of := make(map[int]*shardTenant)
	for len(of) < 2 {
		one := c.createTenants(1)[0]
		of[domain.ShardOf(one.id, 2)] = one
	}
	stays, joins := c.nodes[0], c.nodes[1]
	stays.await("each node to own one shard", time.Minute, func() bool { return len(c.shardsOf(stays)) == 1 && len(c.shardsOf(joins)) == 1 })
	joins.kill9()
	stays.await("ownership of both shards", time.Minute, func() bool { return len(c.shardsOf(stays)) == 2 })
	phones, ids := make(map[int]*softphone), make(map[int]string)
	for shard, one := range of {
		at, number := stays.withKey(one.key), fmt.Sprintf("+120255501%02d", 82+shard)
		p := startBaresip(t, number)
		at.api("POST", "/v1/trunks", object{
			"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
		})
		ids[shard], phones[shard] = at.placeCall(number, at.createLongMenuAgent(), nil), p
		at.awaitSpeaking(ids[shard])
		at.await("audio at the phone", 20*time.Second, p.hasHeardAudio)
	}
	joined := time.Now()
	c.startNode(joins)
	joins.await("the move of one shard", time.Minute, func() bool { return len(c.shardsOf(joins)) == 1 && len(c.shardsOf(stays)) == 1 })
	assert.Greater(t, time.Since(joined), wait, "the shard moved only after the waiting time")
	joins.await("the call of the moved shard to resume", time.Minute, func() bool { return c.countResumed() == 1 })
	assert.Equal(t, 1, c.countHandedOver(), "the other call stays")
	for shard, one := range of {
		phones[shard].pressKey("1")
		assert.Equal(t, "confirmed", joins.withKey(one.key).awaitCallEnd(ids[shard], 30*time.Second)["disposition"])
		assert.Equal(t, 1, strings.Count(phones[shard].log(), "Call established"), "the phone had one call")
	}
}

// countHandedOver returns the number of calls that nodes have handed over, as reported in their logs.
func (c *nodeCluster) countHandedOver() (n int) {
	for _, s := range c.nodes {
		for _, m := range handoverLogLine.FindAllStringSubmatch(s.logText(), -1) {
			calls := 0
			_, _ = fmt.Sscan(m[1], &calls)
			n += calls
		}
	}
	return n
}

func (c *nodeCluster) countResumed() (n int) {
	for _, s := range c.nodes {
		n += s.countResumedCalls()
	}
	return n
}
