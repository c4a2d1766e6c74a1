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
type siege struct {
	*crew
	plan
	redis      *redistest.Server
	ways       []*redistest.Proxy // one network path to Redis per node; empty: direct connections
	watches    []watch            // one shifted clock per node
	answer     *peer              // the carrier
	dispatcher netip.AddrPort
	tenants    []*shardTenant
	tolls      []toll
	prober     *prober
	calls      int      // number of inbound calls
	again      int      // inbound calls that needed a retry
	unquiet    int      // calls that started while no calls were permitted
	unreached  []string // workspaces without a response although a node could have answered
	unanswered int      // calls answered towards a dead node
}

// faultTestPlan is the size and the topology of a fault test.
type plan struct {
	ground
	whole     bool // false: the short form
	contacts  int  // per workspace
	endpoints int  // per workspace
	pace      int  // of each campaign
	env       []string
}

// setDuration sets the pace so that the campaigns would take the given minutes without faults.
func (p *plan) lasting(minutes int) { p.pace = max(24, p.contacts/minutes) }

// networkTopology holds the addresses of the participants.
type ground struct {
	carrier, dispatcher netip.Addr
	nodes               []netip.Addr
	redis               func(t *testing.T) *redistest.Server
	url                 func(o *siege, node int) string // of Redis
	put                 func(node int, s *service)
}

// loopbackTopology places everything on loopback, with a path to Redis per node that tests can cut.
func onLoopback() ground {
	return ground{
		carrier: carrierHost, dispatcher: dispatcherHost, nodes: []netip.Addr{nodeHost, nodeHost, nodeHost},
		redis: func(t *testing.T) *redistest.Server { t.Helper(); _, s := redistest.Start(t); return s },
		url: func(o *siege, node int) string {
			o.ways = append(o.ways, redistest.NewProxy(o.t, o.redis))
			return o.ways[node].URL()
		},
		put: func(int, *service) {},
	}
}

const siegeLines = 20 // maximum of concurrent calls per workspace

// newFaultTest starts the cluster and the campaigns.
func newSiege(t *testing.T, p plan) *siege {
	t.Helper()
	o := &siege{crew: &crew{t: t}, plan: p, redis: p.redis(t), answer: sippOn(t, portOn(t, p.carrier), "uas-answer-logged", "-trace_msg", "-message_file", "messages")}
	env := append([]string{fmt.Sprint("CALLBOARD_SHARDS=", crewShards)}, p.env...)
	o.crew = crewAt(t, len(p.nodes), func(node int) []string {
		o.watches = append(o.watches, newWatch(t))
		return []string{"CALLBOARD_REDIS_URL=" + p.url(o, node), o.watches[node].env()}
	}, p.put, env...)
	var list strings.Builder
	for i, s := range o.nodes {
		fmt.Fprintf(&list, "1 sip:%s:%d 0 10\n", p.nodes[i], s.sip)
	}
	fmt.Fprintf(&list, "2 sip:%s:%d 0 10\n", p.carrier, o.answer.port)
	o.dispatcher = kamailioOn(t, p.dispatcher, p.carrier, list.String())
	o.spread()
	o.tenants = o.crew.tenants(8)
	for i, one := range o.tenants {
		at := o.nodes[i%3].as(one.key)
		trunk := at.api("POST", "/v1/trunks", object{
			"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": p.carrier.String(), "port": o.answer.port, "transport": "udp"}},
			"outbound_proxy": object{"host": p.dispatcher.String(), "port": o.dispatcher.Port(), "transport": "udp"}, "media_networks": []string{p.carrier.String() + "/32"},
		})["id"]
		number := at.api("POST", "/v1/phone-numbers", object{"number": siegeNumber(i), "agent_id": at.hello(), "trunk_id": trunk})["id"].(string)
		o.nodes[i%3].api("POST", "/v1/workspaces/"+one.id+"/phone-numbers/"+number+"/approve", nil)
		for k := range o.endpoints {
			at.api("POST", "/v1/webhooks", object{"url": fmt.Sprintf("%s?endpoint=%d-%d", o.nodes[0].receiver.url, i, k), "events": []string{"campaign.call.completed"}})
		}
	}
	for i, one := range o.tenants {
		one.agent = o.nodes[i%3].as(one.key).terse()
	}
	o.prober = o.asks()
	for i, one := range o.tenants {
		at := o.nodes[i%3].as(one.key)
		one.campaign = at.campaign(one.agent, phones(siegePrefix(i), o.contacts), object{"pacing": object{"calls_per_minute": o.pace, "max_concurrent": siegeLines}})
	}
	return o
}

func siegePrefix(tenant int) string { return fmt.Sprintf("+1202%d", 520+tenant) }

// inboundNumber returns the inbound number of a workspace.
func siegeNumber(tenant int) string { return fmt.Sprintf("+120255501%02d", tenant) }

// awaitAllShards waits until each shard has an owner that answers.
func (o *siege) settled() {
	o.t.Helper()
	o.nodes[0].await("an owner that answers for every shard", 2*time.Minute, func() bool {
		all := 0
		for _, s := range o.nodes {
			all += len(o.shards(s))
		}
		if all != crewShards {
			return false
		}
		for _, s := range o.nodes {
			if s.readyz() != http.StatusOK {
				return false
			}
		}
		for i, one := range o.tenants {
			if !answersSoon(o.nodes[i%3], one) {
				return false
			}
		}
		return true
	})
}

// awaitUnreplicatedCalls waits for calls whose commits the replica does not have.
func (o *siege) ahead() {
	o.t.Helper()
	before, end := len(o.answer.rung()), time.Now().Add(o.lasts(10))
	o.nodes[0].await("calls whose commits the replica does not have", time.Minute, func() bool {
		return len(o.answer.rung()) > before+15 || time.Now().After(end) // all contacts may already be called
	})
}

// injectFault injects a fault and waits until all shards answer again.
func (o *siege) suffers(fault string, do func()) {
	o.t.Helper()
	begun := time.Now()
	do()
	o.settled()
	took, silent := time.Since(begun), o.prober.longest(begun)
	o.tolls = append(o.tolls, toll{fault, took, silent})
	o.t.Logf("%s: all shards answer after %.1f s; nothing of a workspace could be changed for %.1f s", fault, took.Seconds(), silent.Seconds())
	o.callsIn()
}

// faultDuration returns how long a fault lasts.
func (o *siege) lasts(seconds float64) time.Duration {
	if !o.whole {
		seconds /= 2
	}
	return time.Duration(seconds * float64(time.Second))
}

func (o *siege) kill(s *service) {
	s.kill9()
	o.launch(s)
}

func (o *siege) term(s *service) {
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGTERM))
	<-s.exited
	assert.Equal(o.t, 0, s.cmd.ProcessState.ExitCode(), "the node stops in order")
	o.launch(s)
}

func (o *siege) stop(s *service) {
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGSTOP))
	<-time.After(o.lasts(6))
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGCONT))
}

// isolateFromRedis cuts a node off Redis, which the other nodes still reach.
func (o *siege) cut(node int) {
	o.ways[node].SwitchTo(nil)
	<-time.After(o.lasts(4))
	o.ways[node].SwitchTo(o.redis)
}

func (o *siege) frozen() {
	o.redis.Pause()
	o.quiet(o.lasts(4), 1500*time.Millisecond)
	o.redis.Continue()
}

func (o *siege) redisKilled() {
	o.redis.Kill()
	o.quiet(o.lasts(4), 1500*time.Millisecond)
	o.redisBack()
}

func (o *siege) redisBack() {
	o.redis.Restart()
	o.redis.Promote() // the server may have become a replica
}

// killNodeDuringRedisOutage kills a node that has just begun to wait for Redis.
func (o *siege) together(s *service, away, back func()) {
	away()
	<-time.After(500 * time.Millisecond)
	s.kill9()
	o.quiet(o.lasts(4), 1500*time.Millisecond)
	back()
	o.launch(s)
}

// shiftClock shifts the clock of a node by an hour in each direction.
func (o *siege) clock(node int) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
		o.watches[node].set(o.t, by)
		<-time.After(o.lasts(4))
	}
}

// promoteStaleReplica replaces Redis by a replica that lacks the latest calls.
func (o *siege) stale() {
	o.t.Helper()
	replica := redistest.StartReplica(o.t, o.redis)
	replica.Promote()
	o.ahead()
	o.redis.Kill()
	o.redis = replica
	for _, w := range o.ways {
		w.SwitchTo(replica)
	}
}

// Injects faults into nodes, Redis and the network while campaigns of eight workspaces run. Each contact is called
// once and gets an outcome, limits hold, and every event is delivered. FAULTS_CONTACTS=5000 selects the full form
// with fifty endpoints and five kills of each node.
func TestFaultsOfNodesKeepInvariants(t *testing.T) {
	t.Parallel()
	p := plan{ground: onLoopback(), contacts: 40, endpoints: 2, pace: 240}
	if n := number("FAULTS_CONTACTS", 0); n > 0 {
		p.whole, p.contacts, p.endpoints = true, n/8, 7
		p.lasting(7)
	}
	o := newSiege(t, p)
	faults := o.faults()
	rand.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	for _, f := range faults {
		o.suffers(f.name, f.do)
	}
	o.proves()
}

type mishap struct {
	name string
	do   func()
}

// listFaults returns the faults to inject, in no particular order.
func (o *siege) faults() (all []mishap) {
	nodes, times := o.nodes[1:2], 1
	if o.whole {
		nodes, times = o.nodes, 5
	}
	for i, s := range nodes {
		for range times {
			all = append(all, mishap{"kill -9", func() { o.kill(s) }})
		}
		all = append(all, mishap{"cut off Redis", func() { o.cut(i) }})
		if o.whole {
			all = append(all, mishap{"Redis frozen, a node killed meanwhile", func() { o.together(s, func() { o.redis.Pause() }, func() { o.redis.Continue() }) }},
				mishap{"Redis killed, and a node", func() { o.together(s, func() { o.redis.Kill() }, o.redisBack) }})
			all = append(all, mishap{"SIGTERM", func() { o.term(s) }}, mishap{"SIGSTOP", func() { o.stop(s) }}, mishap{"a clock an hour wrong, each way", func() { o.clock(i) }})
		}
	}
	all = append(all, mishap{"Redis frozen", o.frozen}, mishap{"Redis killed", o.redisKilled}, mishap{"failover to a stale replica", o.stale})
	return all
}

// Nodes stop in order and join again while clients write to eight workspaces. No write may fail.
func TestWritesWaitWhileShardsMove(t *testing.T) {
	t.Parallel()
	c := newCrew(t, 3, fmt.Sprint("CALLBOARD_SHARDS=", crewShards))
	c.spread()
	front := c.nodes[0]
	all := c.tenants(8)
	ctx, end := context.WithCancel(t.Context())
	var work sync.WaitGroup
	var written atomic.Int64
	for _, one := range all {
		at := front.as(one.key)
		agent := at.mute()
		at.api("POST", "/v1/trunks", object{"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": 9, "transport": "udp"}}})
		work.Go(func() {
			for ctx.Err() == nil { // without an Idempotency-Key a client must not repeat the request
				code, body, _ := at.try("POST", "/v1/campaigns", object{"name": "c", "agent_id": agent, "caller_id": object{"number": "+12025550100"}})
				assert.Equal(t, http.StatusCreated, code, string(body))
				written.Add(1)
			}
		})
	}
	for _, s := range c.nodes[1:] {
		before := written.Load()
		require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
		<-s.exited
		front.await("successful writes", time.Minute, func() bool { return written.Load() > before+50 })
		c.launch(s)
		c.spread()
	}
	end()
	work.Wait()
	t.Logf("%d were written", written.Load())
}
