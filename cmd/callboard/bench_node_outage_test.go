package main_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	requestInterval = 50 * time.Millisecond // time between two rounds of a client; the resolution of the measurement
	retryInterval   = 20 * time.Millisecond // delay after a failure
	hangDuration    = 6 * time.Second       // duration of a SIGSTOP
)

// BenchmarkClusterOutage measures how long clients get no successful response when a node is killed, stops, hangs or
// joins.
func BenchmarkClusterOutage(b *testing.B) {
	benchResults.addRowOnFailure(b)
	for _, fault := range []string{"kill", "term", "hang"} {
		b.Run(fault, func(b *testing.B) { measureOutage(b, fault) })
	}
}

// measureOutage injects a fault into one node after the other. It lets each node join again and measures both outages.
func measureOutage(b *testing.B, fault string) {
	b.Helper()
	c := newMeasuredCluster(b)
	a := c.startClients(c.tenantsByShard(40))
	what := map[string]string{"kill": "kill -9", "term": "SIGTERM", "hang": fmt.Sprintf("SIGSTOP for %.0f s", hangDuration.Seconds())}[fault]
	limit := clusterLease + 300*time.Millisecond
	struck := faultResults{limit: limit}
	if fault == "term" {
		struck.limit = 500 * time.Millisecond
	}
	joined, calm := faultResults{limit: limit}, faultResults{}
	nodes, w := c.cpuTime(), startStopwatch(b, 0)
	calm.measure(a, func() (map[string]bool, time.Time) {
		time.Sleep(3 * time.Second)
		return nil, time.Now()
	})
	u := w.stop()
	c.addUsage(&u, nodes)
	for _, victim := range c.nodes {
		others := c.otherNodes(victim)
		a.useNodes(others...)
		struck.measure(a, func() (map[string]bool, time.Time) { return c.injectFault(fault, victim, others) })
		joined.measure(a, func() (map[string]bool, time.Time) {
			if fault == "hang" {
				require.NoError(b, victim.cmd.Process.Signal(syscall.SIGCONT))
			} else {
				c.startNode(victim)
			}
			c.awaitShards(c.nodes...)
			return c.shardsOf(victim), time.Now()
		})
	}
	a.stopAll()
	lost, twice := a.checkWrites()
	kept := fmt.Sprintf("; of %d writes %d lost, %d done twice", a.written(), lost, twice)
	if fault == "kill" {
		benchResults.add("Longest time between two responses without a fault", "", fmt.Sprintf("%s; %.0f requests a second", calm.describe(), float64(calm.sent)/u.elapsed.Seconds()), false, &u)
	}
	benchResults.add("Outage of a shard, "+what+" of its node, each of three once", struck.goal(fault), struck.describe()+kept, struck.isWithinLimit() && lost == 0 && (fault != "term" || struck.failed == 0), nil)
	again := "its node joins again"
	if fault == "hang" {
		again = "its node continues"
	}
	benchResults.add("Outage of a shard that moves, "+again+" after "+what, joined.goal(""), joined.describe(), joined.isWithinLimit(), nil)
}

// injectFault injects a fault into the node victim. It returns the shards of the node, and the time at which other nodes
// owned them.
func (c *measuredCluster) injectFault(fault string, victim *service, others []*service) (map[string]bool, time.Time) {
	c.b.Helper()
	had := c.shardsOf(victim)
	switch fault {
	case "kill":
		victim.kill9()
	case "term":
		c.terminateNode(victim)
	case "hang":
		require.NoError(c.b, victim.cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(hangDuration)
	}
	c.awaitTakeover(others...)
	return had, time.Now()
}

// terminateNode stops a node with SIGTERM and waits until its process has ended.
func (c *measuredCluster) terminateNode(s *service) {
	c.b.Helper()
	require.NoError(c.b, s.cmd.Process.Signal(syscall.SIGTERM))
	<-s.processExited
	_ = s.log.Close()
}

// faultResults sums up the measurements of several faults of the same kind.
type faultResults struct {
	limit        time.Duration
	silent       []time.Duration // outages of the affected shards
	other        time.Duration   // longest outage of other shards
	sent, failed int
	how          map[string]int
}

// measure runs do and records which outages the clients observe meanwhile. do returns the affected shards, and the time
// at which the fault was over.
func (s *faultResults) measure(a *outageClients, do func() (map[string]bool, time.Time)) {
	a.c.b.Helper()
	sent, failed := a.sent.Load(), a.failed.Load()
	from := time.Now()
	touched, to := do()
	for _, one := range a.all {
		one.awaitAnswer(to)
		longest := one.longestGap(from, to)
		if touched == nil || touched[strconv.Itoa(one.shard)] {
			s.silent = append(s.silent, longest)
		} else {
			s.other = max(s.other, longest)
		}
	}
	slices.Sort(s.silent)
	s.sent += int(a.sent.Load() - sent)
	s.failed += int(a.failed.Load() - failed)
	if s.how == nil {
		s.how = make(map[string]int)
	}
	for kind, n := range a.takeFailureKinds() {
		s.how[kind] += n
	}
}

func (s *faultResults) longest() time.Duration { return s.silent[len(s.silent)-1] }

func (s *faultResults) isWithinLimit() bool { return len(s.silent) > 0 && s.longest() <= s.limit }

func (s *faultResults) goal(fault string) string {
	text := fmt.Sprintf("≤ %.1f s", s.limit.Seconds())
	if fault == "term" {
		text += ", nothing lost or refused"
	}
	return text
}

func (s *faultResults) describe() string {
	if len(s.silent) == 0 {
		return "no shard was touched"
	}
	text := fmt.Sprintf("p50 %.2f, most %.2f s of %d", s.silent[len(s.silent)/2].Seconds(), s.longest().Seconds(), len(s.silent))
	if s.other > 0 {
		text += fmt.Sprintf("; other shards ≤ %.2f s", s.other.Seconds())
	}
	parts := []string{text, fmt.Sprintf("; %d of %d requests failed", s.failed, s.sent)}
	if s.failed > 0 {
		for _, how := range slices.Sorted(maps.Keys(s.how)) {
			parts = append(parts, fmt.Sprintf(", %s × %d", how, s.how[how]))
		}
	}
	return strings.Join(parts, "")
}

// outageClients are API clients of several workspaces. Each sends reads and writes to one node without a pause.
type outageClients struct {
	c            *measuredCluster
	client       *http.Client
	fronts       atomic.Pointer[[]*service]
	all          []*outageClient
	sent, failed atomic.Int64
	stop         chan struct{}
	stopOnce     sync.Once
	running      sync.WaitGroup

	mu    sync.Mutex
	kinds map[string]int // failures since the last takeFailureKinds
}

// outageClient is the API client of one workspace.
type outageClient struct {
	group   *outageClients
	n       int
	shard   int
	tenant  *shardTenant
	pathway any
	written []string // names in acknowledged writes; read after the client has stopped

	mu   sync.Mutex
	good []time.Time // times of successful responses
}

func (c *measuredCluster) startClients(tenants map[int]*shardTenant) *outageClients {
	c.b.Helper()
	a := &outageClients{
		c: c, stop: make(chan struct{}), kinds: make(map[string]int),
		client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	a.useNodes(c.nodes...)
	for shard, who := range tenants {
		p := c.nodes[0].withKey(who.key).api("POST", "/v1/pathways", object{"name": "mute", "start": "bye", "nodes": []object{{"id": "bye", "type": "end"}}, "edges": []object{}})
		a.all = append(a.all, &outageClient{group: a, n: len(a.all), shard: shard, tenant: who, pathway: p["id"]})
	}
	for _, one := range a.all {
		a.running.Go(one.sendRequests)
	}
	c.b.Cleanup(a.stopAll)
	return a
}

// useNodes makes the clients send later requests only to the given nodes. It waits until the earlier requests are done.
func (a *outageClients) useNodes(nodes ...*service) {
	a.fronts.Store(&nodes)
	for range 2 { // so that no request to another node is in flight
		now := time.Now()
		for _, one := range a.all {
			one.awaitAnswer(now)
		}
	}
}

// stopAll makes the clients stop and waits until they have stopped.
func (a *outageClients) stopAll() {
	a.stopOnce.Do(func() { close(a.stop) })
	a.running.Wait()
}

// takeFailureKinds returns how often each kind of failure has occurred since its last call. A kind is an HTTP method and
// a status.
func (a *outageClients) takeFailureKinds() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.kinds
	a.kinds = make(map[string]int)
	return out
}

func (a *outageClients) written() (n int) {
	for _, one := range a.all {
		n += len(one.written)
	}
	return n
}

// checkWrites counts the acknowledged writes that are not stored (lost) or are stored more than once (twice).
func (a *outageClients) checkWrites() (lost, twice int) {
	a.c.b.Helper()
	for _, one := range a.all {
		found := make(map[string]int)
		at := a.c.nodes[0].withKey(one.tenant.key)
		for cursor := ""; ; {
			page := at.api("GET", "/v1/agents?limit=100&cursor="+cursor, nil)
			for _, agent := range page["data"].([]any) {
				found[agent.(object)["name"].(string)]++
			}
			if cursor, _ = page["next_cursor"].(string); cursor == "" {
				break
			}
		}
		for _, name := range one.written {
			if found[name] == 0 {
				lost++
			}
		}
		for _, n := range found {
			if n > 1 {
				twice++
			}
		}
	}
	return lost, twice
}

func (one *outageClient) sendRequests() {
	for n := 0; ; n++ {
		name := fmt.Sprintf("agent %d-%d", one.n, n)
		body := fmt.Sprintf(`{"name": %q, "pathway_id": %q}`, name, one.pathway)
		for !one.sendRequest(http.MethodPost, "/v1/agents", body, name) {
			if one.sleep(retryInterval) {
				return
			}
		}
		one.written = append(one.written, name)
		one.sendRequest(http.MethodGet, "/v1/workspace", "", "")
		if one.sleep(requestInterval) {
			return
		}
	}
}

// sleep waits for d and reports whether the measurement is over.
func (one *outageClient) sleep(d time.Duration) bool {
	select {
	case <-one.group.stop:
		return true
	case <-time.After(d):
		return false
	}
}

// sendRequest sends a request and reports whether it succeeded.
func (one *outageClient) sendRequest(method, path, body, key string) bool {
	fronts := *one.group.fronts.Load()
	r, err := http.NewRequest(method, "http://"+fronts[one.n%len(fronts)].http+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+one.tenant.key)
	if key != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
	}
	one.group.sent.Add(1)
	status, answer := 0, ""
	resp, err := one.group.client.Do(r)
	if err == nil {
		status = resp.StatusCode
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		answer = string(text)
	}
	if status >= 200 && status < 300 {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.good = append(one.good, time.Now())
		return true
	}
	one.group.failed.Add(1)
	one.group.mu.Lock()
	defer one.group.mu.Unlock()
	kind := method + " " + strconv.Itoa(status)
	if one.group.kinds[kind]++; one.group.kinds[kind] == 1 {
		one.group.c.b.Logf("%s: %s %v", kind, answer, err)
	}
	return false
}

// awaitAnswer waits until the client has got a successful response later than the given time.
func (one *outageClient) awaitAnswer(after time.Time) {
	one.group.c.b.Helper()
	require.Eventually(one.group.c.b, func() bool {
		one.mu.Lock()
		defer one.mu.Unlock()
		return len(one.good) > 0 && one.good[len(one.good)-1].After(after)
	}, time.Minute, 5*time.Millisecond, "no answer of shard %d", one.shard)
}

// longestGap returns the longest time between two successive successful responses that overlaps the given period.
func (one *outageClient) longestGap(from, to time.Time) (most time.Duration) {
	one.mu.Lock()
	defer one.mu.Unlock()
	for i := 1; i < len(one.good); i++ {
		if one.good[i].After(from) && one.good[i-1].Before(to) {
			most = max(most, one.good[i].Sub(one.good[i-1]))
		}
	}
	return most
}
