package main_test

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

// benchCluster enables the benchmarks that need several nodes. They have their own make target.
var benchCluster = flag.Bool("bench-cluster", false, "measure several nodes") //nolint:gochecknoglobals // a flag

const (
	clusterHeading = "## Several nodes\n"
	clusterHeader  = `
Written by ` + "`make bench-cluster`" + `: three processes of the real binary on one Redis (` + "`appendfsync always`" + `), 24 shards, a lease of 2 s. Machine: %s.
Nodes, Redis, clients and peers share this machine, so more nodes do not mean more processors. The last column is as
above, with all nodes as the service and Redis among the others.

`
)

const (
	clusterShards = 24
	clusterLease  = 2 * time.Second
)

// measuredCluster is a cluster of nodes that a benchmark measures.
type measuredCluster struct {
	*nodeCluster
	b *testing.B
}

// newMeasuredCluster starts three nodes and waits until each owns its share of the shards.
func newMeasuredCluster(b *testing.B) *measuredCluster {
	b.Helper()
	if !*benchCluster {
		b.Skip("make bench-cluster measures it")
	}
	c := &measuredCluster{newNodeCluster(b, 3, fmt.Sprint("CALLBOARD_SHARDS=", clusterShards), fmt.Sprint("CALLBOARD_LEASE_SECONDS=", clusterLease.Seconds())), b}
	c.awaitShards(c.nodes...)
	c.nodes[0].removeLimits()
	return c
}

// settleTime is the time without a move of a shard after which the distribution of the shards counts as complete.
const settleTime = 2 * time.Second

// awaitShards waits until each of the nodes owns at least one shard, together they own all shards, and no shard has
// moved for settleTime.
func (c *measuredCluster) awaitShards(nodes ...*service) {
	c.b.Helper()
	var last string
	since := time.Now()
	nodes[0].await("the distribution of the shards", time.Minute, func() bool {
		now := make([]string, len(nodes))
		all, least := 0, clusterShards
		for i, s := range nodes {
			have := c.shardsOf(s)
			all, least = all+len(have), min(least, len(have))
			now[i] = fmt.Sprint(have)
		}
		if text := strings.Join(now, " "); text != last || all != clusterShards || least == 0 {
			last, since = text, time.Now()
		}
		return time.Since(since) > settleTime
	})
}

// awaitTakeover waits until the given nodes together own all shards.
func (c *measuredCluster) awaitTakeover(nodes ...*service) {
	c.b.Helper()
	nodes[0].await("the takeover of the shards", time.Minute, func() bool {
		all := 0
		for _, s := range nodes {
			all += len(c.shardsOf(s))
		}
		return all == clusterShards
	})
}

// otherNodes returns all nodes except one.
func (c *measuredCluster) otherNodes(one *service) []*service {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(s *service) bool { return s == one })
}

// ownerOfShard returns the node that owns a shard.
func (c *measuredCluster) ownerOfShard(shard int) *service {
	c.b.Helper()
	for _, s := range c.nodes {
		if c.shardsOf(s)[strconv.Itoa(shard)] {
			return s
		}
	}
	require.Fail(c.b, "the shard has no owner", shard)
	return nil
}

// cpuTime returns the sum of the CPU times of all running nodes.
func (c *measuredCluster) cpuTime() (sum time.Duration) {
	c.b.Helper()
	for _, s := range c.nodes {
		if !s.hasExited() {
			sum += cpuTimeOfProcess(c.b, s.pid())
		}
	}
	return sum
}

// addUsage sets the CPU time of the service in u. before is the CPU time of the nodes at the start of the measurement.
func (c *measuredCluster) addUsage(u *usage, before time.Duration) {
	c.b.Helper()
	u.cpu = c.cpuTime() - before
	u.serviceCores = u.cpu.Seconds() / u.elapsed.Seconds()
	u.others = max(u.others-u.serviceCores, 0)
}

// tenantsByShard creates n workspaces, whose ids select random shards. It returns one workspace for each shard that has
// any.
func (c *measuredCluster) tenantsByShard(n int) map[int]*shardTenant {
	c.b.Helper()
	out := make(map[int]*shardTenant)
	for i := range n {
		created := c.nodes[0].api("POST", "/v1/workspaces", object{"name": fmt.Sprint("tenant ", i), "plan": "enterprise", "limits": object{
			"requests_per_minute": 10_000_000, "concurrent_inbound": 10, "concurrent_outbound": 1000, "calls_per_minute": 100_000,
		}})
		one := &shardTenant{id: created["id"].(string), key: created["key"].(string), keyID: created["key_id"].(string)}
		if shard := domain.ShardOf(one.id, clusterShards); out[shard] == nil {
			out[shard] = one
		}
	}
	return out
}

// redisStats returns the values of the Redis command INFO stats.
func (c *measuredCluster) redisStats() map[string]float64 {
	c.b.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimSuffix(strings.TrimPrefix(c.redis, "redis://"), "/0"), time.Second)
	require.NoError(c.b, err)
	defer func() { _ = conn.Close() }()
	require.NoError(c.b, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = io.WriteString(conn, "INFO stats\r\nQUIT\r\n")
	require.NoError(c.b, err)
	text, err := io.ReadAll(conn)
	require.NoError(c.b, err)
	out := make(map[string]float64)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] = n
		}
	}
	return out
}

// BenchmarkClusterIdle measures the CPU time and the Redis commands of idle nodes.
func BenchmarkClusterIdle(b *testing.B) {
	benchResults.addRowOnFailure(b)
	const window = 20 * time.Second
	c := newMeasuredCluster(b)
	c.tenantsByShard(3)
	time.Sleep(5 * time.Second)
	server := redisProcess(b, c.redis)
	stats, nodes, redis := c.redisStats(), c.cpuTime(), cpuTimeOfProcess(b, server)
	w := startStopwatch(b, 0)
	time.Sleep(window)
	u := w.stop()
	c.addUsage(&u, nodes)
	redis = cpuTimeOfProcess(b, server) - redis
	now := c.redisStats()
	rate := func(name string) float64 { return (now[name] - stats[name]) / u.elapsed.Seconds() }
	each := make([]string, 0, len(c.nodes))
	for _, s := range c.nodes {
		each = append(each, fmt.Sprintf("%.0f MB (%d shards)", residentMemory(b, s.pid())/mb, len(c.shardsOf(s))))
	}
	of := fmt.Sprintf(" of three nodes, %d shards, four workspaces", clusterShards)
	benchResults.add("Memory idle"+of, "", strings.Join(each, ", "), false, &u)
	benchResults.add("CPU idle"+of, "", fmt.Sprintf("%.1f ms a second a node; Redis %.1f ms a second", 1000*u.serviceCores/3, 1000*redis.Seconds()/u.elapsed.Seconds()), false, nil)
	benchResults.add("At Redis, idle,"+of, "", fmt.Sprintf("%.0f commands a second, with those of scripts; %.1f KB a second in, %.1f KB out",
		rate("total_commands_processed"), rate("total_net_input_bytes")/1024, rate("total_net_output_bytes")/1024), false, nil)
}

// BenchmarkClusterRequests compares a small request to the node that owns the workspace with the same request to a node
// that forwards it to the owner.
func BenchmarkClusterRequests(b *testing.B) {
	benchResults.addRowOnFailure(b)
	c := newMeasuredCluster(b)
	all := c.tenantsByShard(3)
	shard := slices.Collect(maps.Keys(all))[0]
	one, near := all[shard], c.ownerOfShard(shard)
	far := c.otherNodes(near)[0]
	for _, clients := range []int{1, 16} {
		const rounds, window = 3, 2500 * time.Millisecond
		var direct, passed apiLoadResult
		for range rounds { // alternating, so that both have the same conditions
			for to, sum := range map[*service]*apiLoadResult{near: &direct, far: &passed} {
				a := apiLoad{base: to.http, key: one.key, method: http.MethodGet, path: "/v1/workspace", status: 200}
				a.sendRequests(b, 0, clients, 300*time.Millisecond) // warm-up
				before := c.cpuTime()
				u := a.sendRequests(b, 0, clients, window)
				c.addUsage(&u.usage, before)
				sum.addRound(u, rounds)
			}
		}
		direct.sortTimes()
		passed.sortTimes()
		crowd := "one client"
		if clients > 1 {
			crowd = fmt.Sprint(clients, " clients")
		}
		describe := func(a apiLoadResult) string {
			return fmt.Sprintf("p50 %.2f, p99 %.2f ms; %.0f a second, %.0f µs of CPU", milliseconds(a.p50), milliseconds(a.p99), a.rate(), a.cpuPerRequest())
		}
		more := passed.p50 - direct.p50
		benchResults.add("GET of a workspace at its owner node, "+crowd, "", describe(direct), false, &direct.usage)
		goal := ""
		if clients == 1 {
			goal = "p50 ≤ 1 ms more"
		}
		benchResults.add("The same through another node, "+crowd, goal, fmt.Sprintf("%.2f ms more: ", milliseconds(more))+describe(passed), more <= time.Millisecond, &passed.usage)
	}
}

// addRound adds the measurement u of one of several rounds. The average numbers of cores are divided by rounds.
func (a *apiLoadResult) addRound(u apiLoadResult, rounds int) {
	a.times = append(a.times, u.times...)
	a.elapsed += u.elapsed
	a.cpu += u.cpu
	a.serviceCores += u.serviceCores / float64(rounds)
	a.peerCores += u.peerCores / float64(rounds)
	a.others += u.others / float64(rounds)
}

// BenchmarkClusterCalls measures campaigns of several workspaces on one, two and three nodes. A SIPp peer answers each
// call at once.
func BenchmarkClusterCalls(b *testing.B) {
	benchResults.addRowOnFailure(b)
	const contacts = 4000
	// Each node gets a third of wideMediaPorts, so that the number of ports does not limit the throughput.
	ports := func(i int) string { return fmt.Sprintf("CALLBOARD_MEDIA_PORTS=%d-%d", 33000+9332*i, 42330+9332*i) }
	c, far := newMeasuredCluster(b), startSIPp(b, "uas-instant")
	for i, s := range c.nodes {
		s.env = append(s.env, ports(i))
		c.terminateNode(s)
		c.startNode(s)
	}
	c.awaitShards(c.nodes...)
	all := c.tenantsByShard(40)
	agents := make(map[int]string)
	for shard, one := range all {
		at := c.nodes[0].withKey(one.key)
		at.api("POST", "/v1/trunks", object{
			"name": "far end", "calls_per_second": 1000, "caller_ids": []string{"+12025550100"},
			"proxies": []object{{"host": "127.0.0.1", "port": far.port, "transport": "udp"}},
		})
		agents[shard] = at.createMuteAgent()
	}
	server := redisProcess(b, c.redis)
	c.runCampaigns(all, c.createCampaigns(all, agents, "+1202555", 5)) // warm-up
	for n := 3; n > 0; n-- {
		each := contacts / len(all)
		ids := c.createCampaigns(all, agents, fmt.Sprint("+120266", n), each)
		nodes, redis, sip := c.cpuTime(), cpuTimeOfProcess(b, server), cpuTimeOfProcess(b, far.cmd.Process.Pid)
		w := startStopwatch(b, 0, far.cmd.Process.Pid)
		done := c.runCampaigns(all, ids)
		u := w.stop()
		c.addUsage(&u, nodes)
		share := func(of time.Duration) float64 { return 100 * of.Seconds() / u.elapsed.Seconds() }
		redis, sip = cpuTimeOfProcess(b, server)-redis, cpuTimeOfProcess(b, far.cmd.Process.Pid)-sip
		what := fmt.Sprintf("Attempts per second without media, campaigns of %d workspaces on ", len(all))
		figure := fmt.Sprintf("%.0f; %.2f s of CPU per 1000 (of a core: nodes %.0f %%, SIPp %.0f %%, Redis %.0f %%)", float64(done)/u.elapsed.Seconds(),
			1000*u.cpu.Seconds()/float64(done), share(u.cpu), share(sip), share(redis))
		if lost := each*len(all) - done; lost > 0 {
			figure += fmt.Sprintf("; %d did not complete", lost)
		}
		benchResults.add(what+[]string{"one node", "two nodes", "three nodes"}[n-1], "", figure, false, &u)
		if n > 1 {
			c.terminateNode(c.nodes[n-1])
			c.nodes = c.nodes[:n-1]
			c.awaitShards(c.nodes...)
		}
	}
}

// createCampaigns creates one campaign with a number of contacts in each workspace. It does not start the campaigns.
func (c *measuredCluster) createCampaigns(all map[int]*shardTenant, agents map[int]string, prefix string, each int) map[int]string {
	c.b.Helper()
	contacts := make([]object, each)
	for i, phone := range phoneNumbers(prefix, each) {
		contacts[i] = object{"phone": phone}
	}
	ids := make(map[int]string)
	for shard, one := range all {
		ids[shard] = c.nodes[0].withKey(one.key).api("POST", "/v1/campaigns", object{
			"name": prefix, "agent_id": agents[shard], "caller_id": object{"number": "+12025550100"}, "compliance": allHours(), "contacts": contacts,
			"pacing": object{"calls_per_minute": 100_000, "max_concurrent": 1000},
		})["id"].(string)
	}
	return ids
}

// runCampaigns starts all campaigns at once, waits for their ends and returns the number of completed contacts.
func (c *measuredCluster) runCampaigns(all map[int]*shardTenant, ids map[int]string) (done int) {
	c.b.Helper()
	var begun sync.WaitGroup
	for shard, one := range all {
		begun.Go(func() {
			code, text, _, err := c.nodes[0].withKey(one.key).sendRequest("POST", "/v1/campaigns/"+ids[shard]+"/start", nil)
			if err != nil || code >= 300 {
				c.b.Errorf("start of a campaign: %d %s %v", code, text, err)
			}
		})
	}
	begun.Wait()
	for shard, one := range all {
		done += c.nodes[0].withKey(one.key).awaitCampaignEnd(ids[shard], time.Minute).Outcomes["completed"]
	}
	return done
}
