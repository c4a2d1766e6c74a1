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

func newCredential(t *testing.T, fill byte) *forward.Credential {
	t.Helper()
	c, err := forward.NewCredential(bytes.Repeat([]byte{fill}, forward.SeedSize))
	require.NoError(t, err)
	return c
}

// startNodeListener starts a node that answers probes. Its credential is made from the given byte, so different bytes
// mean different master keys. It returns the node's address.
func (b *fixture) startNodeListener(key byte) string {
	b.Helper()
	ln, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	s := forward.NewServer(forward.NotOwnerHandler(), slog.New(slog.DiscardHandler))
	go func() { _ = s.Serve(forward.NodeListener(ln, newCredential(b.T, key))) }()
	b.Cleanup(func() { _ = s.Close() })
	return ln.Addr().String()
}

// newNode starts a node that answers probes, and returns its entry in the list of live nodes. Its settings match the
// checked service.
func (b *fixture) newNode(id string) doctor.Node {
	at := b.startNodeListener(1)
	return doctor.Node{ID: id, Addr: at, SIP: "192.0.2.1:" + at[len(at)-4:], Version: "1", Lease: 2 * time.Second, Shards: 64}
}

// joinCluster makes the service a node of a cluster with the given other nodes.
func (b *fixture) joinCluster(others ...doctor.Node) {
	b.Helper()
	b.startRedis("--maxmemory", "100mb")
	b.setSetting("node_addr", "127.0.0.1:"+freePort(b.T)).setSetting("blobs_url", "file://"+b.TempDir())
	b.setClusterNodes(others...)
}

func (b *fixture) setClusterNodes(others ...doctor.Node) {
	b.Helper()
	b.diagnosis.ListNodes = func(context.Context) ([]doctor.Node, error) { return others, nil }
	b.diagnosis.ProbeNode, b.diagnosis.WrongKeyError = newCredential(b.T, 1).Probe, forward.ErrNoNode
}

// nodeFaults returns, by the name of the check, functions that introduce a fault into a cluster.
func nodeFaults() map[string]func(*fixture) {
	off := func(by time.Duration) func(*fixture) {
		return func(b *fixture) {
			b.joinCluster(b.newNode("one"))
			b.diagnosis.ReadClock = func() time.Time { return time.Now().Add(by) }
		}
	}
	all := map[string]func(*fixture){
		"nodes": func(b *fixture) {
			b.joinCluster()
			b.diagnosis.ListNodes = func(context.Context) ([]doctor.Node, error) { return nil, errors.New("no answer") }
		},
		"node_addr_missing": func(b *fixture) { b.setClusterNodes(b.newNode("one")) },
		"node_port":         func(b *fixture) { b.joinCluster(); b.occupyPort("tcp", b.setting("node_addr")) },
		"node_clock":        off(-5 * time.Second),
		"node_clock (far)":  off(time.Hour),
		"redis_clock":       off(5 * time.Second),
		"redis_clock (far)": off(-time.Hour),
		"data_shared":       func(b *fixture) { b.joinCluster(); b.diagnosis.FileSystem = 0x6969 },
		"node_reach": func(b *fixture) {
			b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.Addr = b.unusedAddress() })...)
		},
		"node_reach (other server)": func(b *fixture) {
			b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.Addr = b.startServer(http.StatusOK).URL[7:] })...)
		},
		"node_key": func(b *fixture) {
			b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.Addr = b.startNodeListener(2) })...)
		},
		"node_lease": func(b *fixture) {
			b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.Lease = 3 * time.Second })...)
		},
		"node_shards":  func(b *fixture) { b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.Shards = 63 })...) },
		"node_version": func(b *fixture) { b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.Version = "2" })...) },
		"node_address": func(b *fixture) {
			b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.SIP = "0.0.0.0:5060" })...)
		},
		"node_address (loopback)": func(b *fixture) {
			b.joinCluster(b.twoNodesSecondChanged(func(n *doctor.Node) { n.SIP = "127.0.0.1:5060" })...)
		},
		"node_address (duplicate)": func(b *fixture) {
			one := b.newNode("one")
			b.joinCluster(one, doctor.Node{ID: "two", Addr: one.Addr, SIP: "192.0.2.2:5060"})
		},
		"redis_cluster": func(b *fixture) { b.startRedis("--cluster-enabled", "yes") },
		"redis_role":    func(b *fixture) { b.setSetting("redis_url", b.startRedisWithReplica().URL()) },
		"redis_replicas": func(b *fixture) {
			b.startRedisWithReplica()
		},
		"redis_replicas (none)":     func(b *fixture) { b.joinCluster() },
		"redis_replicas (too few)":  func(b *fixture) { b.startRedis("--min-replicas-to-write", "1") },
		"redis_replicas (no spare)": func(b *fixture) { b.startRedisWithReplica("--min-replicas-to-write", "1") },
		"redis_replica": func(b *fixture) { // only the primary has a password
			url, server := redistest.Start(b.T, "--maxmemory", "100mb")
			redistest.StartReplica(b.T, server).RequirePassword("a-password")
			b.setSetting("redis_url", url)
		},
	}
	return all
}

// twoNodesSecondChanged returns two live nodes after applying how to the second.
func (b *fixture) twoNodesSecondChanged(how func(*doctor.Node)) []doctor.Node {
	list := []doctor.Node{b.newNode("one"), b.newNode("two")}
	how(&list[1])
	return list
}

// startRedisWithReplica sets redis_url to a new Redis and starts a replica of it, which it returns.
func (b *fixture) startRedisWithReplica(args ...string) *redistest.Server {
	b.Helper()
	url, server := redistest.Start(b.T, append([]string{"--maxmemory", "100mb"}, args...)...)
	b.setSetting("redis_url", url)
	return redistest.StartReplica(b.T, server)
}

func TestMatchingNodesHaveNoFindings(t *testing.T) {
	b := newFixture(t)
	b.joinCluster(b.newNode("one"), b.newNode("two"))
	url, server := redistest.Start(t, "--maxmemory", "100mb", "--min-replicas-to-write", "1")
	redistest.StartReplica(t, server)
	redistest.StartReplica(t, server)
	b.setSetting("redis_url", url)
	list := b.diagnose()
	for check := range nodeFaults() {
		name := checkName(check)
		assert.Empty(t, findingsOf(list, name), check)
		if name != "redis_cluster" && name != "redis_role" && name != "node_addr_missing" && name != "data_shared" && name != "node_address" && name != "node_key" &&
			name != "node_lease" && name != "node_shards" && name != "node_version" {
			assert.True(t, hasFinding(list, name), "%s has no result", name)
		}
	}
	assert.True(t, hasFinding(list, "redis_version"))
}

func hasFinding(list []doctor.Finding, check string) bool {
	for _, f := range list {
		if f.Check == check {
			return true
		}
	}
	return false
}

// A live node with this machine's node_addr is the running local service. The doctor must not report its ports as
// occupied and must not probe it.
func TestLiveNodeWithOwnAddressIsTheLocalService(t *testing.T) {
	b := newFixture(t)
	b.joinCluster()
	b.occupyPort("tcp", b.setting("node_addr"))
	b.occupyPort("tcp", b.setting("http_addr"))
	list := b.diagnose()
	assert.NotEmpty(t, findingsOf(list, "node_port"))
	assert.NotEmpty(t, findingsOf(list, "http_port"))
	b.setClusterNodes(doctor.Node{ID: "this", Addr: b.setting("node_addr"), SIP: "192.0.2.1:5060"})
	list = b.diagnose()
	for _, check := range []string{"node_port", "http_port", "node_reach", "node_key"} {
		assert.Empty(t, findingsOf(list, check), check)
	}
}
