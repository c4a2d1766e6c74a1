//go:build faults

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

const sentinelPassword = "secret"

// sentinelRedis is a Redis primary with a replica, three sentinels and HAProxy in front, started with the files of
// deploy/compose.
type sentinelRedis struct {
	t           *testing.T
	dir         string
	env         []string
	port        map[string]string // ports in the files, and the ports used here
	proxyClient *goredis.Client
	processes   [2]*exec.Cmd
	clients     [2]*goredis.Client
	primary     int
	sentinel    []*goredis.Client
}

func newSentinelRedis(t *testing.T) *sentinelRedis {
	t.Helper()
	w := &sentinelRedis{t: t, dir: t.TempDir(), port: make(map[string]string)}
	text, err := os.ReadFile("../../deploy/compose/haproxy.cfg")
	require.NoError(t, err)
	cfg := string(text)
	for _, was := range []string{"6379", "26381", "26382", "26383", "6381", "6382", "6383"} {
		w.port[was] = strconv.Itoa(siptest.Port(t))
		cfg = regexp.MustCompile(`\b`+was+`\b`).ReplaceAllString(cfg, w.port[was])
		cfg = strings.ReplaceAll(cfg, `\n`+was, `\n`+w.port[was])
	}
	w.env = []string{
		"PASSWORD=" + sentinelPassword, "REDIS_PASSWORD=" + sentinelPassword, "FIRST_ADDR=127.0.0.1", "FIRST_PORT=" + w.port["6381"],
		"ADDR=127.0.0.1", "ADDR_1=127.0.0.1", "ADDR_2=127.0.0.1", "ADDR_3=127.0.0.1", "MEMORY=200mb",
	}
	for i, was := range []string{"6381", "6382"} {
		w.processes[i], w.clients[i] = w.startRedis("redis", was), w.redisClient(was)
		w.setConfig(i, "min-replicas-to-write", "0") // permits a stale replica
	}
	for _, was := range []string{"26381", "26382", "26383"} {
		w.startRedis("sentinel", was)
		w.sentinel = append(w.sentinel, w.redisClient(was))
	}
	path := filepath.Join(w.dir, "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(cfg), 0o600))
	w.startProgram("haproxy", "-f", path)
	w.proxyClient = w.redisClient("6379")
	w.awaitReplication()
	return w
}

func (w *sentinelRedis) url() string {
	return fmt.Sprintf("redis://:%s@127.0.0.1:%s/0", sentinelPassword, w.port["6379"])
}

// startProgram starts a program that ends with the test.
func (w *sentinelRedis) startProgram(name string, args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), w.env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(w.t, cmd.Start(), "%s must be installed: make tools", name)
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if w.t.Failed() {
			w.t.Logf("%s %v: %s", name, args, lastBytes(output.String(), 2000))
		}
	})
	return cmd
}

func (w *sentinelRedis) startRedis(kind, was string) *exec.Cmd {
	w.t.Helper()
	folder := filepath.Join(w.dir, was)
	require.NoError(w.t, os.MkdirAll(folder, 0o700))
	script, err := filepath.Abs("../../deploy/compose/redis.sh")
	require.NoError(w.t, err)
	before := w.env
	w.env = append(slices.Clone(w.env), "PORT="+w.port[was], "FOLDER="+folder)
	defer func() { w.env = before }()
	return w.startProgram("sh", script, kind)
}

func (w *sentinelRedis) redisClient(was string) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:" + w.port[was], Password: sentinelPassword, MaxRetries: -1, DialTimeout: time.Second, ReadTimeout: 2 * time.Second})
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *sentinelRedis) setConfig(i int, name, value string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.clients[i].ConfigSet(w.t.Context(), name, value).Err() == nil }, time.Minute, 20*time.Millisecond, "%s", name)
}

// awaitReplication waits until the replica follows the primary, HAProxy leads to the primary, and every sentinel
// knows both.
func (w *sentinelRedis) awaitReplication() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		for _, c := range w.sentinel {
			output, err := c.Do(w.t.Context(), "SENTINEL", "MASTER", "callboard").Result()
			known, _ := output.(map[any]any)
			if err != nil || known["num-slaves"] != "1" || known["num-other-sentinels"] != "2" || known["flags"] != "master" || known["port"] != w.port[[]string{"6381", "6382"}[w.primary]] {
				return false
			}
		}
		one, err := w.proxyClient.Info(w.t.Context(), "replication").Result()
		if err != nil || !strings.Contains(one, "role:master") {
			return false
		}
		other, err := w.clients[1-w.primary].Info(w.t.Context(), "replication").Result()
		return err == nil && strings.Contains(other, "role:slave") && strings.Contains(other, "master_link_status:up")
	}, 2*time.Minute, 50*time.Millisecond, "nobody follows")
}

// failOver disconnects the replica, waits until it lacks calls, and kills the primary. The sentinels then promote
// the replica.
func (w *sentinelRedis) failOver(o *faultTest) {
	w.t.Helper()
	replica := 1 - w.primary
	w.setConfig(replica, "masterauth", "wrong")
	require.NoError(w.t, w.clients[w.primary].Do(w.t.Context(), "CLIENT", "KILL", "TYPE", "replica").Err())
	o.awaitUnreplicatedCalls()
	_ = w.processes[w.primary].Process.Kill()
	_ = w.processes[w.primary].Wait()
	w.setConfig(replica, "masterauth", sentinelPassword)
	w.primary = replica
}

// restartOldPrimary starts the former primary, which becomes a replica.
func (w *sentinelRedis) restartOldPrimary() {
	w.t.Helper()
	gone := 1 - w.primary
	w.processes[gone] = w.startRedis("redis", []string{"6381", "6382"}[gone])
	w.setConfig(gone, "min-replicas-to-write", "0")
	w.awaitReplication()
}

func (w *sentinelRedis) topology() networkTopology {
	g := loopbackTopology()
	g.redis = func(*testing.T) *redistest.Server { return nil }
	g.redisURL = func(*faultTest, int) string { return w.url() }
	return g
}

// The primary is killed while its replica lacks acknowledged calls. The sentinels promote the replica, and HAProxy
// directs the nodes to it. No contact may be called twice.
func TestFailoverBySentinelsKeepsInvariants(t *testing.T) {
	t.Parallel()
	w := newSentinelRedis(t)
	contacts := 5000
	if n := envNumber("FAULTS_CONTACTS", 0); n > 0 {
		contacts = n
	}
	p := faultTestPlan{networkTopology: w.topology(), full: true, contacts: contacts / 16, endpoints: 7}
	p.setDuration(3)
	o := newFaultTest(t, p)
	for range 3 {
		o.injectFault("primary killed, sentinels promote a stale replica", func() { w.failOver(o) })
		w.restartOldPrimary()
	}
	o.checkInvariants()
}

// Nodes that do not compare the histories of Redis servers must call a contact twice. This proves that
// TestFailoverBySentinelsKeepsInvariants detects violations.
func TestFailoverBySentinelsControlWithoutHistoryCheckCallsTwice(t *testing.T) {
	t.Parallel()
	w := newSentinelRedis(t)
	controlCase{
		fault: "primary killed, sentinels promote a stale replica", missingGuard: "the comparison of histories", env: withoutHistoryCheck,
		topology: w.topology, inject: func(o *faultTest) {
			if w.processes[1-w.primary].ProcessState != nil {
				w.restartOldPrimary()
			}
			w.failOver(o)
		},
	}.expectViolation(t)
}
