package doctor_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/doctor"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

func credential(t *testing.T, fill byte) *forward.Credential {
	t.Helper()
	c, err := forward.NewCredential(bytes.Repeat([]byte{fill}, forward.SeedSize))
	require.NoError(t, err)
	return c
}

// door is a node that lives: it answers other nodes by their key.
func (b *bed) door(key byte) string {
	b.Helper()
	ln, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	s := forward.NewServer(forward.IdleHandler(), slog.New(slog.DiscardHandler))
	go func() { _ = s.Serve(forward.NodeListener(ln, credential(b.T, key))) }()
	b.Cleanup(func() { _ = s.Close() })
	return ln.Addr().String()
}

// node is one of several that agrees with this one.
func (b *bed) node(id string) doctor.Node {
	at := b.door(1)
	return doctor.Node{ID: id, Addr: at, SIP: "192.0.2.1:" + at[len(at)-4:], Version: "1", Lease: 2 * time.Second, Shards: 64}
}

// oneOf makes the service one of several nodes, beside those that are named.
func (b *bed) oneOf(others ...doctor.Node) {
	b.Helper()
	b.redis("--maxmemory", "100mb")
	b.set("node_addr", "127.0.0.1:"+port(b.T)).set("blobs_url", "file://"+b.TempDir())
	b.addNodes(others...)
}

func (b *bed) addNodes(others ...doctor.Node) {
	b.Helper()
	b.diagnosis.Nodes = func(context.Context) ([]doctor.Node, error) { return others, nil }
	b.diagnosis.Ask, b.diagnosis.Stranger = credential(b.T, 1).Probe, forward.ErrNoNode
}

// nodeFaults are planted in a service that is one of several nodes.
func nodeFaults() map[string]func(*bed) {
	off := func(by time.Duration) func(*bed) {
		return func(b *bed) {
			b.oneOf(b.node("one"))
			b.diagnosis.Wall = func() time.Time { return time.Now().Add(by) }
		}
	}
	all := map[string]func(*bed){
		"nodes": func(b *bed) {
			b.oneOf()
			b.diagnosis.Nodes = func(context.Context) ([]doctor.Node, error) { return nil, errors.New("no answer") }
		},
		"node_alone":            func(b *bed) { b.addNodes(b.node("one")) },
		"node_port":             func(b *bed) { b.oneOf(); b.listen("tcp", b.get("node_addr")) },
		"node_clock":            off(-5 * time.Second),
		"node_clock (far)":      off(time.Hour),
		"redis_clock":           off(5 * time.Second),
		"redis_clock (far)":     off(-time.Hour),
		"data_shared":           func(b *bed) { b.oneOf(); b.diagnosis.FileSystem = 0x6969 },
		"node_reach":            func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.Addr = b.closedPort() })...) },
		"node_reach (no door)":  func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.Addr = b.server(http.StatusOK).URL[7:] })...) },
		"node_key":              func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.Addr = b.door(2) })...) },
		"node_lease":            func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.Lease = 3 * time.Second })...) },
		"node_shards":           func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.Shards = 63 })...) },
		"node_version":          func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.Version = "2" })...) },
		"node_address":          func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.SIP = "0.0.0.0:5060" })...) },
		"node_address (inside)": func(b *bed) { b.oneOf(b.changed(func(n *doctor.Node) { n.SIP = "127.0.0.1:5060" })...) },
		"node_address (twice)": func(b *bed) {
			one := b.node("one")
			b.oneOf(one, doctor.Node{ID: "two", Addr: one.Addr, SIP: "192.0.2.2:5060"})
		},
		"redis_cluster": func(b *bed) { b.redis("--cluster-enabled", "yes") },
		"redis_role":    func(b *bed) { b.set("redis_url", b.replica().URL()) },
		"redis_replicas": func(b *bed) {
			b.replica()
		},
		"redis_replicas (none)":    func(b *bed) { b.oneOf() },
		"redis_replicas (too few)": func(b *bed) { b.redis("--min-replicas-to-write", "1") },
		"redis_replicas (just so)": func(b *bed) { b.replica("--min-replicas-to-write", "1") },
		"redis_replica": func(b *bed) { // the password is the primary's alone
			url, server := redistest.Start(b.T, "--maxmemory", "100mb")
			redistest.StartReplica(b.T, server).RequirePassword("a-password")
			b.set("redis_url", url)
		},
	}
	return all
}

// changed are two nodes, the second of which is otherwise.
func (b *bed) changed(how func(*doctor.Node)) []doctor.Node {
	list := []doctor.Node{b.node("one"), b.node("two")}
	how(&list[1])
	return list
}

// replica gives the service a Redis that has one.
func (b *bed) replica(args ...string) *redistest.Server {
	b.Helper()
	url, server := redistest.Start(b.T, append([]string{"--maxmemory", "100mb"}, args...)...)
	b.set("redis_url", url)
	return redistest.StartReplica(b.T, server)
}

func TestNodesThatAgreeHaveNoFindings(t *testing.T) {
	b := newBed(t)
	b.oneOf(b.node("one"), b.node("two"))
	url, server := redistest.Start(t, "--maxmemory", "100mb", "--min-replicas-to-write", "1")
	redistest.StartReplica(t, server)
	redistest.StartReplica(t, server)
	b.set("redis_url", url)
	list := b.diagnose()
	for check := range nodeFaults() {
		name := plain(check)
		assert.Empty(t, found(list, name), check)
		if name != "redis_cluster" && name != "redis_role" && name != "node_alone" && name != "data_shared" && name != "node_address" && name != "node_key" &&
			name != "node_lease" && name != "node_shards" && name != "node_version" {
			assert.True(t, advertisedAddress(list, name), "%s is not said to be well", name)
		}
	}
	assert.True(t, advertisedAddress(list, "redis_version"))
}

func advertisedAddress(list []doctor.Finding, check string) bool {
	for _, f := range list {
		if f.Check == check {
			return true
		}
	}
	return false
}

// A node that runs is one of those that live: its own ports are taken by it, and
// it is not asked by itself, also where nothing else tells that it runs.
func TestANodeThatLivesRunsHere(t *testing.T) {
	b := newBed(t)
	b.oneOf()
	b.listen("tcp", b.get("node_addr"))
	b.listen("tcp", b.get("http_addr"))
	list := b.diagnose()
	assert.NotEmpty(t, found(list, "node_port"))
	assert.NotEmpty(t, found(list, "http_port"))
	b.addNodes(doctor.Node{ID: "this", Addr: b.get("node_addr"), SIP: "192.0.2.1:5060"})
	list = b.diagnose()
	for _, check := range []string{"node_port", "http_port", "node_reach", "node_key"} {
		assert.Empty(t, found(list, check), check)
	}
}
