package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/lease/etcd/etcdtest"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// siege is a crew of three, with a campaign of each of eight workspaces, to which
// things happen. Its size comes from FAULTS_CONTACTS; without that it is a short
// form.
type siege struct {
	*crew
	whole     bool
	contacts  int // of each workspace
	endpoints int // of each workspace
	redis     *redistest.Server
	ways      []*redistest.Way // of each node to the Redis
	watches   []watch          // of each node
	answer    *peer
	tenants   []*shardTenant
	tolls     []toll
}

// toll is what a fault has cost.
type toll struct {
	fault string
	took  time.Duration // until each shard had a node again that answers
}

const siegeLines = 20 // of each workspace

// newSiege begins; etcd keeps the leases where it is not nil.
func newSiege(t *testing.T, leases *etcdtest.Server, env ...string) *siege {
	t.Helper()
	o := &siege{contacts: 40, endpoints: 2, answer: sipp(t, "uas-answer-logged")}
	pace := 240
	if n := number("FAULTS_CONTACTS", 0); n > 0 {
		o.whole, o.contacts, o.endpoints, pace = true, n/8, 6, 90
	}
	_, o.redis = redistest.Start(t)
	env = append(env, fmt.Sprint("CALLBOARD_SHARDS=", crewShards))
	if leases != nil {
		env = append(env, "CALLBOARD_LEASE_URL="+leases.URL())
	}
	o.crew = crewOn(t, 3, func(node int) []string {
		o.ways, o.watches = append(o.ways, redistest.NewWay(t, o.redis)), append(o.watches, newWatch(t))
		return []string{"CALLBOARD_REDIS_URL=" + o.ways[node].URL(), o.watches[node].env()}
	}, env...)
	o.spread()
	o.tenants = o.crew.tenants(8)
	for i, one := range o.tenants {
		at := o.nodes[i%3].as(one.key)
		at.api("POST", "/v1/trunks", object{
			"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": o.answer.port, "transport": "udp"}},
		})
		for k := range o.endpoints {
			at.api("POST", "/v1/webhooks", object{"url": fmt.Sprintf("%s?endpoint=%d-%d", o.nodes[0].receiver.url, i, k), "events": []string{"campaign.call.completed"}})
		}
	}
	for i, one := range o.tenants {
		at := o.nodes[i%3].as(one.key)
		one.campaign = at.campaign(at.terse(), phones(siegePrefix(i), o.contacts), object{"pacing": object{"calls_per_minute": pace, "max_concurrent": siegeLines}})
	}
	return o
}

func siegePrefix(tenant int) string { return fmt.Sprintf("+1202%d", 510+tenant) }

// settled waits until each shard has a node again that answers for it.
func (o *siege) settled() {
	o.t.Helper()
	o.nodes[0].await("every shard to have a node that answers", 2*time.Minute, func() bool {
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
			if _, ok := o.nodes[i%3].as(one.key).statusOf(one.campaign); !ok {
				return false
			}
		}
		return true
	})
}

// suffers lets something happen, and waits until all is well again.
func (o *siege) suffers(fault string, do func()) {
	o.t.Helper()
	begun := time.Now()
	do()
	o.settled()
	o.tolls = append(o.tolls, toll{fault, time.Since(begun)})
	o.t.Logf("faults: %s: all shards answer after %.1f s", fault, time.Since(begun).Seconds())
}

// lasts is how long a fault of some seconds lasts.
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
	assert.Equal(o.t, 0, s.cmd.ProcessState.ExitCode(), "it goes in order")
	o.launch(s)
}

func (o *siege) stop(s *service) {
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGSTOP))
	<-time.After(o.lasts(6))
	require.NoError(o.t, s.cmd.Process.Signal(syscall.SIGCONT))
}

// cut takes a node off Redis, which the others reach.
func (o *siege) cut(node int) {
	o.ways[node].To(nil)
	<-time.After(o.lasts(4))
	o.ways[node].To(o.redis)
}

func (o *siege) frozen() {
	o.redis.Pause()
	<-time.After(o.lasts(4))
	o.redis.Continue()
}

func (o *siege) redisKilled() {
	o.redis.Kill()
	<-time.After(o.lasts(2))
	o.redis.Restart()
	o.redis.Promote() // it may have been a replica once
}

// clock makes the clock of a node wrong by an hour, each way.
func (o *siege) clock(node int) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
		o.watches[node].set(o.t, by)
		<-time.After(o.lasts(4))
	}
}

// stale puts a replica that lacks the last calls in the place of the Redis.
func (o *siege) stale() {
	o.t.Helper()
	replica := redistest.Replica(o.t, o.redis)
	replica.Promote()
	before, end := len(o.answer.rung()), time.Now().Add(o.lasts(10))
	o.nodes[0].await("calls that the replica does not know", time.Minute, func() bool {
		return len(o.answer.rung()) > before+15 || time.Now().After(end) // all may have been rung
	})
	o.redis.Kill()
	o.redis = replica
	for _, w := range o.ways {
		w.To(replica)
	}
}

// proves that nobody was rung twice, nobody forgotten, no line used that was not
// there, and every endpoint told of every end.
func (o *siege) proves() {
	t := o.t
	t.Helper()
	for i, one := range o.tenants {
		st := o.nodes[i%3].as(one.key).finished(one.campaign, 5*time.Minute)
		assert.Equal(t, o.contacts, st.Progress.Attempted, "nobody is forgotten")
		assert.Zero(t, st.Progress.Remaining)
		lines := slices.DeleteFunc(o.answer.lines(), func(l line) bool { return l.Kind == "INVITE" && !strings.HasPrefix(l.Number, siegePrefix(i)) })
		left := leftOnWire(lines) // their BYE was seen, but not when
		most, _ := wireLoad(slices.DeleteFunc(lines, func(l line) bool { return slices.Contains(left, l.CallID) }))
		assert.LessOrEqual(t, most, siegeLines, "lines used on the wire")
	}
	rung := o.answer.rung()
	for n, times := range rung {
		assert.Equal(t, 1, times, "%s was rung more than once", n)
	}
	assert.GreaterOrEqual(t, len(rung), 8*o.contacts*85/100, "contacts rung at all")
	r := o.nodes[0].receiver
	o.nodes[0].await("every endpoint to be told of every end", 2*time.Minute, func() bool {
		told := make(map[string]map[string]bool)
		for _, d := range r.deliveries() {
			_, at, _ := strings.Cut(d.At, "endpoint=")
			var e struct {
				Data struct{ Contact struct{ Phone string } }
			}
			if json.Unmarshal(d.Body, &e) != nil || at == "" {
				continue
			}
			if told[at] == nil {
				told[at] = make(map[string]bool)
			}
			told[at][e.Data.Contact.Phone] = true
		}
		full := 0
		for at, phones := range told {
			tenant, _, _ := strings.Cut(at, "-")
			i, _ := strconv.Atoi(tenant)
			for phone := range phones {
				require.True(t, strings.HasPrefix(phone, siegePrefix(i)), "%s was told of %s, which is another workspace's", at, phone)
			}
			if len(phones) == o.contacts {
				full++
			}
		}
		return full == 8*o.endpoints
	})
	for _, s := range o.nodes {
		assert.NotContains(t, s.logged(), "panic")
	}
}

// Whatever happens to nodes, to Redis and to the way between them, while
// campaigns of eight workspaces run: nobody is rung twice, nobody is forgotten, no
// limit is exceeded, every event is delivered. FAULTS_CONTACTS=5000 is the whole
// of it, with fifty endpoints, and each node killed five times. Leases are in an
// etcd, or in the Redis with FAULTS_LEASES=redis, of which faults of nodes are
// tests of their own.
func TestFaultsOfNodesLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	var leases *etcdtest.Server
	if os.Getenv("FAULTS_LEASES") != "redis" {
		_, leases = etcdtest.Start(t)
	}
	o := newSiege(t, leases)
	faults := o.faults(leases)
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

// faults are those that are tried, in no order.
func (o *siege) faults(leases *etcdtest.Server) (all []mishap) {
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
			all = append(all, mishap{"SIGTERM", func() { o.term(s) }}, mishap{"SIGSTOP", func() { o.stop(s) }}, mishap{"a clock an hour wrong, each way", func() { o.clock(i) }})
		}
	}
	all = append(all, mishap{"Redis frozen", o.frozen}, mishap{"Redis killed", o.redisKilled}, mishap{"a replica that lags in its place", o.stale})
	if leases != nil {
		all = append(all, mishap{"etcd frozen", func() {
			leases.Pause()
			<-time.After(o.lasts(4))
			leases.Continue()
		}}, mishap{"etcd killed", func() {
			leases.Kill()
			<-time.After(o.lasts(2))
			leases.Restart()
		}})
	}
	return all
}

// Nodes stop in order and join again while eight workspaces are written to all
// the time: nobody is refused anything.
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
			for ctx.Err() == nil { // without an Idempotency-Key: it may not be sent twice
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
		front.await("writes to go on", time.Minute, func() bool { return written.Load() > before+50 })
		c.launch(s)
		c.spread()
	}
	end()
	work.Wait()
	t.Logf("%d were written", written.Load())
}
