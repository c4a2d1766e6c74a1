package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// nodeCluster is a set of nodes on one Redis.
type nodeCluster struct {
	t      testing.TB
	redis  string // URL
	shared string // folder of recordings
	nodes  []*service
	since  map[*service]int // offset of the current process in the node's log
}

// newNodeCluster starts n nodes on one Redis. The first owns all shards.
func newNodeCluster(t testing.TB, n int, env ...string) *nodeCluster {
	t.Helper()
	url, _ := redistest.Start(t)
	c := newNodeClusterWithRedisURLs(t, n, func(int) []string { return []string{"CALLBOARD_REDIS_URL=" + url} }, env...)
	c.redis = url
	return c
}

// newNodeClusterWithRedisURLs starts n nodes with the environment env. own returns additional variables of a node,
// including its Redis URL.
func newNodeClusterWithRedisURLs(t testing.TB, n int, own func(node int) []string, env ...string) *nodeCluster {
	t.Helper()
	return newNodeClusterInNamespaces(t, n, own, func(int, *service) {}, env...)
}

// newNodeClusterInNamespaces starts n nodes. own returns additional environment variables of a node. put is called
// before a node starts and may move it into a network namespace.
func newNodeClusterInNamespaces(t testing.TB, n int, own func(node int) []string, put func(node int, s *service), env ...string) *nodeCluster {
	t.Helper()
	master := filepath.Join(t.TempDir(), "master.key")
	require.NoError(t, os.WriteFile(master, []byte(strings.Repeat("ab", 32)), 0o600))
	c := &nodeCluster{t: t, shared: filepath.Join(t.TempDir(), "shared"), since: make(map[*service]int)}
	require.NoError(t, os.Mkdir(c.shared, 0o700))
	for i := range n {
		s := prepareRaceFreeService(t, append([]string{
			"CALLBOARD_MASTER_KEY_FILE=" + master, "CALLBOARD_LEASE_SECONDS=1", "CALLBOARD_BLOBS_URL=file://" + c.shared,
			"CALLBOARD_NODE_ADDR=127.0.0.1:" + strconv.Itoa(siptest.Port(t)),
		}, append(own(i), env...)...)...)
		if i > 0 { // all nodes send webhooks to the same receiver
			s.receiver = c.nodes[0].receiver
			s.env = append(s.env, "CALLBOARD_EGRESS_CA_FILE="+filepath.Join(c.nodes[0].dir, "ca.pem"))
		}
		put(i, s)
		c.nodes = append(c.nodes, s)
		c.startNode(s)
		if i == 0 {
			key, err := os.ReadFile(filepath.Join(s.dataFolder(), "admin.key"))
			require.NoError(t, err)
			s.key = strings.TrimSpace(string(key))
		}
		s.key = c.nodes[0].key
	}
	return c
}

func (c *nodeCluster) startNode(s *service) {
	c.since[s] = len(s.logText())
	s.startProcess()
	s.await("a ready node, or a node that forwards to one", time.Minute, func() bool {
		resp, err := http.Get("http://" + s.http + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK
	})
}

// ownsShards reports, from the node's log, whether a node owns shards.
func (c *nodeCluster) ownsShards(s *service) bool {
	text := s.logText()[c.since[s]:]
	return strings.LastIndex(text, "this node owns the shard") > strings.LastIndex(text, "this node released the shard")
}

// activeAndStandby waits until exactly one node owns shards. It returns this node and one of the other nodes.
func (c *nodeCluster) activeAndStandby() (active, other *service) {
	c.t.Helper()
	c.nodes[0].t.Helper()
	var found []*service
	end := time.Now().Add(time.Minute)
	for found = nil; len(found) != 1; {
		require.True(c.t, time.Now().Before(end), "%d nodes have the work", len(found))
		found = nil
		for _, s := range c.nodes {
			if c.ownsShards(s) && !s.hasExited() {
				found = append(found, s)
			}
		}
		<-time.After(10 * time.Millisecond)
	}
	for _, s := range c.nodes {
		if s != found[0] {
			return found[0], s
		}
	}
	return found[0], nil
}

// otherNode returns a node of the cluster that is neither one nor two, or nil.
func (c *nodeCluster) otherNode(one, two *service) *service {
	for _, s := range c.nodes {
		if s != one && s != two {
			return s
		}
	}
	return nil
}

// A campaign continues when the active node is killed, terminated or paused. Each contact must be called once, and
// requests to other nodes must be answered.
func TestCampaignContinuesOnNextNodeAfterKills(t *testing.T) {
	t.Parallel()
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	c := newNodeCluster(t, 3)
	first, other := c.activeAndStandby()
	require.Same(t, c.nodes[0], first)
	id := startKillCampaign(t, other, answer)
	for round, fault := range []string{"kill", "term", "stop", "kill"} {
		active, front := c.activeAndStandby()
		before := len(answer.inviteCounts())
		front.await("a new call", time.Minute, func() bool {
			st, ok := front.campaignStatus(id)
			return len(answer.inviteCounts()) > before+3 || ok && st.Status == "completed"
		})
		switch fault {
		case "kill":
			active.kill9()
		case "term":
			require.NoError(t, active.cmd.Process.Signal(syscall.SIGTERM))
			<-active.processExited
			assert.Equal(t, 0, active.cmd.ProcessState.ExitCode(), "the node stops in order")
		case "stop":
			require.NoError(t, active.cmd.Process.Signal(syscall.SIGSTOP))
			front.await("another node to become active", time.Minute, func() bool { return c.ownsShards(front) || c.ownsShards(c.otherNode(active, front)) })
		}
		st, ok := front.campaignStatus(id) // waits until a node becomes active
		require.True(t, ok, "%d %s", round, fault)
		assert.NotEmpty(t, st.Status)
		if fault == "stop" {
			seen := len(answer.messages())
			require.NoError(t, active.cmd.Process.Signal(syscall.SIGCONT))
			front.await("the node to notice", time.Minute, func() bool { return !c.ownsShards(active) })
			before := len(answer.inviteCounts())
			front.await("calls of the new active node", time.Minute, func() bool {
				st, ok := front.campaignStatus(id)
				return len(answer.inviteCounts()) > before+3 || ok && st.Status == "completed"
			})
			assert.Zero(t, countInvitesOf(answer.messages()[seen:], active), "INVITEs of a node without shards")
			continue
		}
		c.startNode(active)
	}
	_, front := c.activeAndStandby()
	st := front.awaitCampaignEnd(id, 3*time.Minute)
	front.checkAttempts(st, answer, func(story string) bool {
		// Without an ACK, which went to a dead node, SIPp drops the call without logging its end.
		return strings.Contains(story, "BYE sip:") || !strings.Contains(story, "ACK sip:")
	})
	for _, s := range c.nodes {
		assert.NotContains(t, s.logText(), "panic")
	}
}

// countInvitesOf counts the dialog-creating INVITEs of a node in a message log of SIPp.
func countInvitesOf(messages string, s *service) (n int) {
	via := fmt.Sprintf("Via: SIP/2.0/UDP 127.0.0.1:%d;", s.sip)
	for m := range strings.SplitSeq(messages, "UDP message received") {
		_, to, _ := strings.Cut(m, "\nTo: ")
		to, _, _ = strings.Cut(to, "\n")
		if strings.Contains(m, "INVITE sip:") && strings.Contains(m, via) && !strings.Contains(to, ";tag=") {
			n++
		}
	}
	return n
}

// A node that does not check its lease must continue to dial after another node has taken its shards over. This
// proves that TestCampaignContinuesOnNextNodeAfterKills detects this fault.
func TestControlNodeWithoutLeaseCheckKeepsDialing(t *testing.T) {
	t.Parallel()
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	c := newNodeCluster(t, 2, "FAILPOINT_NO_FENCE=1")
	active, front := c.activeAndStandby()
	id := startKillCampaign(t, front, answer)
	front.await("a new call", time.Minute, func() bool { return len(answer.inviteCounts()) > 3 })
	require.NoError(t, active.cmd.Process.Signal(syscall.SIGSTOP))
	front.await("the other node to become active", time.Minute, func() bool { return c.ownsShards(front) })
	seen := len(answer.messages())
	require.NoError(t, active.cmd.Process.Signal(syscall.SIGCONT))
	front.await("an INVITE of a node without shards", time.Minute, func() bool { return countInvitesOf(answer.messages()[seen:], active) > 0 })
	front.api("POST", "/v1/campaigns/"+id+"/cancel", nil)
}

// A process whose cluster settings differ from those of a live process must fail to start with a clear error. The live
// process must continue to work.
func TestProcessWithDifferentClusterParametersFailsToStart(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 1)
	lives := c.nodes[0]
	refused := func(why string, s *service, args ...string) {
		t.Helper()
		_, stderr, err := s.runCommand(args...)
		require.Error(t, err, why)
		assert.Contains(t, stderr, why)
		assert.Equal(t, http.StatusOK, lives.readyStatus(), why)
	}
	shared := slices.DeleteFunc(slices.Clone(lives.env), func(set string) bool {
		return !strings.HasPrefix(set, "CALLBOARD_REDIS_URL=") && !strings.HasPrefix(set, "CALLBOARD_MASTER_KEY_FILE=") && !strings.HasPrefix(set, "CALLBOARD_BLOBS_URL=")
	})
	node := func(lease string) *service {
		return prepareRaceFreeService(t, append(shared, "CALLBOARD_NODE_ADDR=127.0.0.1:"+strconv.Itoa(siptest.Port(t)), "CALLBOARD_LEASE_SECONDS="+lease)...)
	}
	refused("lease_seconds is 10 here and 1 in the store, and a node lives on this store", node("10"), "serve")
	single := prepareRaceFreeService(t, shared...)
	for _, args := range [][]string{{"serve"}, {"keys", "list"}} {
		refused("node_addr is not set here, and a node lives on this store", single, args...)
	}
	assert.NotEmpty(t, lives.api("POST", "/v1/webhooks", object{"url": lives.receiver.url, "events": []string{"*"}})["id"], "the live node still commits")

	lives.stop()
	single.key = lives.key
	single.startProcess()
	single.await("readiness", time.Minute, func() bool { return single.readyStatus() == http.StatusOK })
	lives = single
	refused("node_addr is set here, and a process without node_addr uses this store", node("1"), "serve")
	refused("node_addr is not set here, and a process without node_addr uses this store", prepareRaceFreeService(t, shared...), "serve")
	single.kill9()
	single.startProcess()
	single.await("readiness of a process while the lease of its predecessor lasts", time.Minute, func() bool { return single.readyStatus() == http.StatusOK })
	single.stop()
	changed := node("3")
	c.startNode(changed)
	assert.NotContains(t, changed.logText(), "live on this store", "without live nodes the parameters change")
}

// A standby node, which owns no shard, must forward requests, event streams and uploads to the active node.
func TestStandbyNodeForwardsRequests(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 2)
	active, front := c.activeAndStandby()
	agent := front.createConstantAgent()
	front.createTrunk("", 9)
	assert.Equal(t, agent, active.api("GET", "/v1/agents/"+agent, nil)["id"])

	// The allowed addresses of an API key must apply to the client's address at the node that receives the request.
	created := front.api("POST", "/v1/api-keys", object{"name": "here", "permissions": []string{"agents:read"}, "allowed_ips": []string{"127.0.0.1"}})
	away := front.api("POST", "/v1/api-keys", object{"name": "away", "permissions": []string{"agents:read"}, "allowed_ips": []string{"192.0.2.1"}})
	for _, s := range c.nodes {
		code, _, _ := s.tryRequest("GET", "/v1/agents/"+agent, nil, "Authorization", "Bearer "+created["key"].(string))
		assert.Equal(t, http.StatusOK, code)
		code, body, _ := s.tryRequest("GET", "/v1/agents/"+agent, nil, "Authorization", "Bearer "+away["key"].(string))
		assert.Equal(t, http.StatusForbidden, code, string(body))
	}
	// A revoked API key must be rejected at every node.
	active.api("DELETE", "/v1/api-keys/"+created["id"].(string), nil)
	code, _, _ := front.tryRequest("GET", "/v1/agents/"+agent, nil, "Authorization", "Bearer "+created["key"].(string))
	assert.Equal(t, http.StatusUnauthorized, code)

	// The node must forward an event stream, and an upload that is larger than its buffer.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+front.http+"/v1/events/stream", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+front.key)
	stream, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = stream.Body.Close() }()
	require.Equal(t, http.StatusOK, stream.StatusCode)
	campaign := front.api("POST", "/v1/campaigns", object{"name": "long", "agent_id": agent, "contacts": []object{{"phone": "+12025550100"}}})["id"].(string)
	var rows strings.Builder
	rows.WriteString("phone\n")
	for i := range 30000 {
		fmt.Fprintf(&rows, "+1202%07d\n", 2000000+i)
	}
	code, body, _ := front.tryRequest("POST", "/v1/campaigns/"+campaign+"/contacts", rows.String(), "Content-Type", "text/csv")
	require.Less(t, code, 300, string(body))
	front.api("POST", "/v1/campaigns/"+campaign+"/cancel", nil)
	seen := make([]byte, 0, 64<<10)
	for !strings.Contains(string(seen), "campaign.cancelled") {
		p := make([]byte, 4096)
		n, err := stream.Body.Read(p)
		seen = append(seen, p[:n]...)
		require.True(t, err == nil || err == io.EOF, "%v", err)
		require.NoError(t, err, "the stream ended: %s", seen)
	}
}
