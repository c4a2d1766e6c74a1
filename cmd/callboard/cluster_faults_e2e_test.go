package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
)

// faultTest is a cluster of three nodes behind Kamailio into which faults are injected. Each of eight workspaces
// runs a campaign.
type faultTest struct {
	*nodeCluster
	faultTestPlan
	redis              *redistest.Server
	redisPaths         []*redistest.Proxy // one network proxy to Redis per node; empty: direct connections
	clocks             []shiftedClock     // one shifted clock per node
	answer             *sippPeer          // the carrier
	dispatcher         netip.AddrPort
	tenants            []*shardTenant
	costs              []faultCost
	prober             *availabilityProbe
	calls              int      // number of inbound calls
	retriedCalls       int      // inbound calls that needed a retry
	forbiddenCalls     int      // calls that started while no calls were permitted
	unservedWorkspaces []string // workspaces without a response although a node could have answered
	deadAnswers        int      // answered calls without an ACK, because their node was dead
}

// faultTestPlan holds the network addresses, the numbers of contacts and webhook endpoints, and the pace of a fault test.
type faultTestPlan struct {
	networkTopology
	full           bool // false: the short form
	contacts       int  // per workspace
	endpoints      int  // per workspace
	callsPerMinute int  // of each campaign
	env            []string
}

// setDuration sets the pace so that the campaigns would take the given minutes without faults.
func (p *faultTestPlan) setDuration(minutes int) { p.callsPerMinute = max(24, p.contacts/minutes) }

// networkTopology holds the addresses of the carrier, Kamailio and the nodes, and functions that start Redis and
// place the nodes.
type networkTopology struct {
	carrier, dispatcher netip.Addr
	nodes               []netip.Addr
	redis               func(t *testing.T) *redistest.Server
	redisURL            func(o *faultTest, node int) string // URL by which a node connects to Redis
	placeNode           func(node int, s *service)
}

// loopbackTopology places all participants on loopback. Each node reaches Redis through its own proxy, which tests can cut.
func loopbackTopology() networkTopology {
	return networkTopology{
		carrier: carrierHost, dispatcher: dispatcherHost, nodes: []netip.Addr{nodeHost, nodeHost, nodeHost},
		redis: func(t *testing.T) *redistest.Server { t.Helper(); _, s := redistest.Start(t); return s },
		redisURL: func(o *faultTest, node int) string {
			o.redisPaths = append(o.redisPaths, redistest.NewProxy(o.t, o.redis))
			return o.redisPaths[node].URL()
		},
		placeNode: func(int, *service) {},
	}
}

const faultTestConcurrency = 20 // maximum of concurrent calls per workspace

// newFaultTest starts the cluster, Kamailio, the carrier and one campaign in each of eight workspaces.
func newFaultTest(t *testing.T, p faultTestPlan) *faultTest {
	t.Helper()
	o := &faultTest{nodeCluster: &nodeCluster{t: t}, faultTestPlan: p, redis: p.redis(t), answer: startSIPpAt(t, freePortOn(t, p.carrier), "uas-answer-logged", "-trace_msg", "-message_file", "messages")}
	env := append([]string{fmt.Sprint("CALLBOARD_SHARDS=", clusterShardCount)}, p.env...)
	o.nodeCluster = newNodeClusterInNamespaces(t, len(p.nodes), func(node int) []string {
		o.clocks = append(o.clocks, newShiftedClock(t))
		return []string{"CALLBOARD_REDIS_URL=" + p.redisURL(o, node), o.clocks[node].env()}
	}, p.placeNode, env...)
	var list strings.Builder
	for i, s := range o.nodes {
		fmt.Fprintf(&list, "1 sip:%s:%d 0 10\n", p.nodes[i], s.sip)
	}
	fmt.Fprintf(&list, "2 sip:%s:%d 0 10\n", p.carrier, o.answer.port)
	o.dispatcher = startKamailioAt(t, p.dispatcher, p.carrier, list.String())
	o.awaitSpreadShards()
	o.tenants = o.createTenants(8)
	for i, one := range o.tenants {
		at := o.nodes[i%3].withKey(one.key)
		trunk := at.api("POST", "/v1/trunks", object{
			"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": p.carrier.String(), "port": o.answer.port, "transport": "udp"}},
			"outbound_proxy": object{"host": p.dispatcher.String(), "port": o.dispatcher.Port(), "transport": "udp"}, "media_networks": []string{p.carrier.String() + "/32"},
		})["id"]
		number := at.api("POST", "/v1/phone-numbers", object{"number": inboundNumber(i), "agent_id": at.createGreetingAgent(), "trunk_id": trunk})["id"].(string)
		o.nodes[i%3].api("POST", "/v1/workspaces/"+one.id+"/phone-numbers/"+number+"/approve", nil)
		for k := range o.endpoints {
			at.api("POST", "/v1/webhooks", object{"url": fmt.Sprintf("%s?endpoint=%d-%d", o.nodes[0].receiver.url, i, k), "events": []string{"campaign.call.completed"}})
		}
	}
	for i, one := range o.tenants {
		one.agent = o.nodes[i%3].withKey(one.key).createConstantAgent()
	}
	o.prober = o.startProbe()
	for i, one := range o.tenants {
		at := o.nodes[i%3].withKey(one.key)
		one.campaign = at.startCampaign(one.agent, phoneNumbers(contactPrefix(i), o.contacts), object{"pacing": object{"calls_per_minute": o.callsPerMinute, "max_concurrent": faultTestConcurrency}})
	}
	return o
}

func contactPrefix(tenant int) string { return fmt.Sprintf("+1202%d", 520+tenant) }

// inboundNumber returns the inbound number of a workspace.
func inboundNumber(tenant int) string { return fmt.Sprintf("+120255501%02d", tenant) }

// awaitAllShards waits until each shard has an owner that answers.
func (o *faultTest) awaitAllShards() {
	o.t.Helper()
	o.nodes[0].await("an owner that answers for every shard", 2*time.Minute, func() bool {
		all := 0
		for _, s := range o.nodes {
			all += len(o.shardsOf(s))
		}
		if all != clusterShardCount {
			return false
		}
		for _, s := range o.nodes {
			if s.readyStatus() != http.StatusOK {
				return false
			}
		}
		for i, one := range o.tenants {
			if !acceptsWrite(o.nodes[i%3], one) {
				return false
			}
		}
		return true
	})
}

// awaitUnreplicatedCalls waits for new calls, whose commits the disconnected Redis replica does not have.
func (o *faultTest) awaitUnreplicatedCalls() {
	o.t.Helper()
	before, end := len(o.answer.inviteCounts()), time.Now().Add(o.faultDuration(10))
	o.nodes[0].await("calls whose commits the replica does not have", time.Minute, func() bool {
		return len(o.answer.inviteCounts()) > before+15 || time.Now().After(end) // all contacts may already be called
	})
}

// injectFault injects a fault and waits until all shards answer again.
func (o *faultTest) injectFault(fault string, do func()) {
	o.t.Helper()
	begun := time.Now()
	do()
	o.awaitAllShards()
	took, silent := time.Since(begun), o.prober.longestGap(begun)
	o.costs = append(o.costs, faultCost{fault, took, silent})
	o.t.Logf("%s: all shards answer after %.1f s; nothing of a workspace could be changed for %.1f s", fault, took.Seconds(), silent.Seconds())
	o.placeInboundCalls()
}

// faultDuration returns the given number of seconds, or half of it in the short form of the test.
func (o *faultTest) faultDuration(seconds float64) time.Duration {
	if !o.full {
		seconds /= 2
	}
	return time.Duration(seconds * float64(time.Second))
}

func (o *faultTest) killNode(s *service) {
	s.kill9()
	o.startNode(s)
}

func (o *faultTest) terminateNode(s *service) {
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGTERM))
	<-s.processExited
	assert.Equal(o.t, 0, s.cmd.ProcessState.ExitCode(), "the node stops in order")
	o.startNode(s)
}

func (o *faultTest) pauseNode(s *service) {
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGSTOP))
	<-time.After(o.faultDuration(6))
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGCONT))
}

// isolateFromRedis cuts the connection between one node and Redis for a few seconds.
func (o *faultTest) isolateFromRedis(node int) {
	o.redisPaths[node].SwitchTo(nil)
	<-time.After(o.faultDuration(4))
	o.redisPaths[node].SwitchTo(o.redis)
}

func (o *faultTest) pauseRedis() {
	o.redis.Pause()
	o.expectNoCalls(o.faultDuration(4), 1500*time.Millisecond)
	o.redis.Continue()
}

func (o *faultTest) killRedis() {
	o.redis.Kill()
	o.expectNoCalls(o.faultDuration(4), 1500*time.Millisecond)
	o.restartRedis()
}

func (o *faultTest) restartRedis() {
	o.redis.Restart()
	o.redis.Promote() // the server may have become a replica
}

// killNodeDuringRedisOutage stops Redis with away and kills a node that waits for Redis. It then restores Redis with
// back and restarts the node.
func (o *faultTest) killNodeDuringRedisOutage(s *service, away, back func()) {
	away()
	<-time.After(500 * time.Millisecond)
	s.kill9()
	o.expectNoCalls(o.faultDuration(4), 1500*time.Millisecond)
	back()
	o.startNode(s)
}

// shiftClock shifts the clock of a node by an hour in each direction.
func (o *faultTest) shiftClock(node int) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
		o.clocks[node].setOffset(o.t, by)
		<-time.After(o.faultDuration(4))
	}
}

// promoteStaleReplica kills Redis and directs the nodes to a promoted replica that lacks the latest calls.
func (o *faultTest) promoteStaleReplica() {
	o.t.Helper()
	replica := redistest.StartReplica(o.t, o.redis)
	replica.Promote()
	o.awaitUnreplicatedCalls()
	o.redis.Kill()
	o.redis = replica
	for _, w := range o.redisPaths {
		w.SwitchTo(replica)
	}
}

// The test injects faults into nodes, Redis and the network while campaigns of eight workspaces run. Each contact is called
// once and gets an outcome, limits hold, and every event is delivered. FAULTS_CONTACTS=5000 selects the full form
// with fifty endpoints and five kills of each node.
func TestFaultsOfNodesKeepInvariants(t *testing.T) {
	t.Parallel()
	p := faultTestPlan{networkTopology: loopbackTopology(), contacts: 40, endpoints: 2, callsPerMinute: 240}
	if n := envNumber("FAULTS_CONTACTS", 0); n > 0 {
		p.full, p.contacts, p.endpoints = true, n/8, 7
		p.setDuration(7)
	}
	o := newFaultTest(t, p)
	faults := o.listFaults()
	rand.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	for _, f := range faults {
		o.injectFault(f.name, f.do)
	}
	o.checkInvariants()
}

type faultInjection struct {
	name string
	do   func()
}

// listFaults returns the faults to inject, in no particular order.
func (o *faultTest) listFaults() (all []faultInjection) {
	nodes, times := o.nodes[1:2], 1
	if o.full {
		nodes, times = o.nodes, 5
	}
	for i, s := range nodes {
		for range times {
			all = append(all, faultInjection{"kill -9", func() { o.killNode(s) }})
		}
		all = append(all, faultInjection{"cut off Redis", func() { o.isolateFromRedis(i) }})
		if o.full {
			all = append(all, faultInjection{"Redis frozen, a node killed meanwhile", func() { o.killNodeDuringRedisOutage(s, func() { o.redis.Pause() }, func() { o.redis.Continue() }) }},
				faultInjection{"Redis killed, and a node", func() { o.killNodeDuringRedisOutage(s, func() { o.redis.Kill() }, o.restartRedis) }})
			all = append(all, faultInjection{"SIGTERM", func() { o.terminateNode(s) }}, faultInjection{"SIGSTOP", func() { o.pauseNode(s) }}, faultInjection{"a clock an hour wrong, each way", func() { o.shiftClock(i) }})
		}
	}
	all = append(all, faultInjection{"Redis frozen", o.pauseRedis}, faultInjection{"Redis killed", o.killRedis}, faultInjection{"failover to a stale replica", o.promoteStaleReplica})
	return all
}

// Nodes stop and rejoin the cluster one after the other while clients write to eight workspaces. No write may fail.
func TestWritesWaitWhileShardsMove(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 3, fmt.Sprint("CALLBOARD_SHARDS=", clusterShardCount))
	c.awaitSpreadShards()
	front := c.nodes[0]
	all := c.createTenants(8)
	ctx, end := context.WithCancel(t.Context())
	var work sync.WaitGroup
	var written atomic.Int64
	for _, one := range all {
		at := front.withKey(one.key)
		agent := at.createMuteAgent()
		at.api("POST", "/v1/trunks", object{"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": 9, "transport": "udp"}}})
		work.Go(func() {
			for ctx.Err() == nil { // without an Idempotency-Key a client must not repeat the request
				code, body, _ := at.tryRequest("POST", "/v1/campaigns", object{"name": "c", "agent_id": agent, "caller_id": object{"number": "+12025550100"}})
				assert.Equal(t, http.StatusCreated, code, string(body))
				written.Add(1)
			}
		})
	}
	for _, s := range c.nodes[1:] {
		before := written.Load()
		require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
		<-s.processExited
		front.await("successful writes", time.Minute, func() bool { return written.Load() > before+50 })
		c.startNode(s)
		c.awaitSpreadShards()
	}
	end()
	work.Wait()
	t.Logf("%d were written", written.Load())
}
