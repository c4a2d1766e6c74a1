//go:build faults

package main_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
)

// Addresses of the network that .ci/faults prepares. This process, the carrier, Kamailio, Redis and the receiver
// are in one network namespace. Each node has a namespace of its own, and a router joins them.
var (
	hubHost       = netip.MustParseAddr("10.204.9.2") // clients and the webhook receiver
	hubCarrier    = netip.MustParseAddr("10.204.9.3")
	hubDispatcher = netip.MustParseAddr("10.204.9.4")
	hubRedis      = netip.MustParseAddr("10.204.9.8")
)

func nodeHost(node int) netip.Addr { return netip.AddrFrom4([4]byte{10, 204, byte(node + 1), 2}) }

// namespaceTopology places each node in its own network namespace, so that tests can partition the network.
func namespaceTopology(t *testing.T) networkTopology {
	t.Helper()
	spaces := strings.Fields(os.Getenv("FAULTS_NODES"))
	require.Len(t, spaces, 3, "make faults prepares the network")
	port := 0
	return networkTopology{
		carrier: hubCarrier, dispatcher: hubDispatcher, nodes: []netip.Addr{nodeHost(0), nodeHost(1), nodeHost(2)},
		redis: func(t *testing.T) *redistest.Server {
			t.Helper()
			url, s := redistest.Start(t, "--bind", "127.0.0.1", hubRedis.String(), "--protected-mode", "no")
			_, err := fmt.Sscanf(url, "redis://127.0.0.1:%d/", &port)
			require.NoError(t, err)
			return s
		},
		redisURL: func(*faultTest, int) string { return fmt.Sprintf("redis://%s:%d/0", hubRedis, port) },
		placeNode: func(node int, s *service) {
			at := nodeHost(node).String()
			s.http = net.JoinHostPort(at, "8080")
			s.env = append(s.env, "CALLBOARD_HTTP_ADDR="+s.http, "CALLBOARD_INSECURE_HTTP=true", "CALLBOARD_NODE_ADDR="+net.JoinHostPort(at, "8090"), fmt.Sprintf("CALLBOARD_SIP_ADDR=%s:%d", at, s.sip),
				"CALLBOARD_PUBLIC_IP="+at, "CALLBOARD_EGRESS_ALLOW=10.204.0.0/16")
			s.binary, s.args = "ip", append([]string{"netns", "exec", spaces[node], s.binary}, s.args...)
			if node == 0 {
				s.receiver = newReceiverAt(t, hubHost)
				require.NoError(t, os.WriteFile(filepath.Join(s.dir, "ca.pem"), s.receiver.pem, 0o600))
			}
		},
	}
}

// newReceiverAt starts a webhook receiver at an address outside loopback, which nodes in other network namespaces
// can reach.
func newReceiverAt(t *testing.T, at netip.Addr) *webhookReceiver {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificateFor(t, at, "receiver", cert, key)
	return newConfiguredReceiver(t, func(s *httptest.Server) {
		l, err := net.Listen("tcp", net.JoinHostPort(at.String(), "0"))
		require.NoError(t, err)
		_ = s.Listener.Close()
		s.Listener = l
		pair, err := tls.LoadX509KeyPair(cert, key)
		require.NoError(t, err)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	})
}

// dropPackets drops all packets between two addresses until heal is called.
func dropPackets(t testing.TB, one, other netip.Addr) (heal func()) {
	t.Helper()
	rule := func(what string, from, to netip.Addr) {
		out, err := exec.Command("ip", "-n", os.Getenv("FAULTS_ROUTER"), "rule", what, "from", from.String(), "to", to.String(), "blackhole").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	rule("add", one, other)
	rule("add", other, one)
	return func() {
		rule("delete", one, other)
		rule("delete", other, one)
	}
}

// isolateNode drops all packets between a node and the given addresses while the function lasts runs.
func (o *faultTest) isolateNode(node int, from []netip.Addr, lasts func()) {
	var heal []func()
	for _, a := range from {
		heal = append(heal, dropPackets(o.t, nodeHost(node), a))
	}
	lasts()
	for _, h := range heal {
		h()
	}
}

// otherHosts returns the addresses of all nodes except one.
func otherHosts(node int) []netip.Addr {
	return slices.DeleteFunc([]netip.Addr{nodeHost(0), nodeHost(1), nodeHost(2)}, func(a netip.Addr) bool { return a == nodeHost(node) })
}

func allOtherHosts(node int) []netip.Addr {
	return append(otherHosts(node), hubHost, hubCarrier, hubDispatcher, hubRedis)
}

// sleepBeyondLease sleeps longer than a shard lease is valid without renewal.
func sleepBeyondLease() { <-time.After(6 * time.Second) }

// areAllWorkspacesServed waits up to limit until one of the nodes accepts writes of every workspace. It reports
// whether that happened.
func (o *faultTest) areAllWorkspacesServed(limit time.Duration, at ...*service) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		if slices.ContainsFunc(at, o.servesAllWorkspaces) {
			return true
		}
	}
	return false
}

func (o *faultTest) servesAllWorkspaces(s *service) bool {
	for _, one := range o.tenants {
		if !acceptsWrite(s, one) {
			return false
		}
	}
	return true
}

// isolateFromNodes isolates a node from the other nodes but not from Redis. Another node must serve all workspaces
// within 30 seconds, during the partition.
func (o *faultTest) isolateFromNodes(node int) {
	o.isolateNode(node, otherHosts(node), func() {
		begun := time.Now()
		if !o.areAllWorkspacesServed(30*time.Second, o.nodes[(node+1)%3]) { // docs/cluster.md
			o.unservedWorkspaces = append(o.unservedWorkspaces, fmt.Sprintf("workspaces of an isolated node were not served for %.0f s", time.Since(begun).Seconds()))
			return
		}
		o.t.Logf("the others answer for all workspaces after %.1f s", time.Since(begun).Seconds())
	})
}

// isolateAllNodes isolates all three nodes from each other. Within a minute, one of them must serve all workspaces.
func (o *faultTest) isolateAllNodes() {
	heal := dropPackets(o.t, nodeHost(1), nodeHost(2))
	defer heal()
	o.isolateNode(0, otherHosts(0), func() {
		begun := time.Now()
		if !o.areAllWorkspacesServed(60*time.Second, o.nodes...) {
			o.unservedWorkspaces = append(o.unservedWorkspaces, "no node served all workspaces while all nodes were isolated")
			return
		}
		o.t.Logf("one node answers for all workspaces after %.1f s", time.Since(begun).Seconds())
	})
}

// The network separates nodes from each other and from Redis while campaigns run. Each contact must still be called
// only once, and limits hold.
func TestPartitionsKeepInvariants(t *testing.T) {
	contacts := 5000
	if n := envNumber("FAULTS_CONTACTS", 0); n > 0 {
		contacts = n
	}
	p := faultTestPlan{networkTopology: namespaceTopology(t), full: true, contacts: contacts / 16, endpoints: 7}
	p.setDuration(5)
	o := newFaultTest(t, p)
	for range o.nodes { // the busiest node of the moment
		o.strikeBusiestNode(func(i int, _ *service) {
			o.injectFault("parted from the other nodes", func() { o.isolateFromNodes(i) })
		})
		o.strikeBusiestNode(func(i int, _ *service) {
			o.injectFault("parted from Redis for 6 s", func() { o.isolateNode(i, []netip.Addr{hubRedis}, sleepBeyondLease) })
		})
		o.strikeBusiestNode(func(i int, _ *service) {
			o.injectFault("parted from everybody for 6 s", func() { o.isolateNode(i, allOtherHosts(i), sleepBeyondLease) })
		})
	}
	o.injectFault("no node sees another", o.isolateAllNodes)
	o.checkInvariants()
}

// Each partition, applied to nodes without protection against it, must violate an invariant. This proves that
// TestPartitionsKeepInvariants detects violations.
func TestControlPartitionsWithoutGuardsBreakInvariants(t *testing.T) {
	for _, c := range []controlCase{
		{fault: "parted from Redis", missingGuard: "token, guards and lease check", env: withoutFencing, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(i int, _ *service) { o.isolateNode(i, []netip.Addr{hubRedis}, sleepBeyondLease) })
		}},
		{fault: "parted from everybody", missingGuard: "token, guards and lease check", env: withoutFencing, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(i int, _ *service) { o.isolateNode(i, allOtherHosts(i), sleepBeyondLease) })
		}},
		{fault: "parted from the other nodes", missingGuard: "the reachability check of the other nodes", env: []string{"FAILPOINT_NO_REACHABILITY=1"}, inject: func(o *faultTest) {
			o.strikeBusiestNode(func(i int, _ *service) { o.isolateFromNodes(i) })
		}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			c.topology = func() networkTopology { return namespaceTopology(t) }
			c.expectViolation(t)
		})
	}
}
