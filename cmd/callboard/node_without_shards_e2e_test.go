package main_test

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// A node that owns no shard, because the draining owner keeps all of them, must forward calls and report its state.
func TestNodeWithoutShardsForwardsCallsAndReportsItsState(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	addr := func() string { return "127.0.0.1:" + strconv.Itoa(siptest.Port(t)) }
	has, hasNone := addr(), addr()
	c := newNodeClusterWithRedisURLs(t, 1, func(int) []string {
		return []string{"CALLBOARD_REDIS_URL=" + url, "CALLBOARD_ADMIN_ADDR=" + has}
	}, "CALLBOARD_SHARDS=2")
	first := c.nodes[0]
	const number = "+12025550170"
	one := c.createTenants(1)[0]
	at := first.withKey(one.key)
	trunk := at.api("POST", "/v1/trunks", object{"caller_ids": []string{"+12025550100"}, "name": "t", "proxies": []object{{"host": "127.0.0.1", "port": 5060, "transport": "udp"}}})["id"]
	created := at.api("POST", "/v1/phone-numbers", object{"number": number, "agent_id": at.createMenuAgent(), "trunk_id": trunk})
	first.api("POST", "/v1/workspaces/"+one.id+"/phone-numbers/"+created["id"].(string)+"/approve", nil)
	probed := func(s *service, from string) string {
		t.Helper()
		return sendOptions(t, netip.MustParseAddr(from), netip.AddrPortFrom(nodeHost, uint16(s.sip)))
	}
	assert.Contains(t, probed(first, "127.0.0.1"), "200", "the source is a trunk")
	first.api("POST", "/v1/operator/drain", object{})
	assert.Contains(t, probed(first, "127.0.0.1"), "503")

	env := []string{"CALLBOARD_REDIS_URL=" + url, "CALLBOARD_ADMIN_ADDR=" + hasNone, "CALLBOARD_NODE_ADDR=" + addr(), "CALLBOARD_SHARDS=2", "CALLBOARD_LEASE_SECONDS=1", "CALLBOARD_SIP_PROBES=127.0.0.3"}
	for _, set := range first.env {
		if strings.HasPrefix(set, "CALLBOARD_MASTER_KEY_FILE=") || strings.HasPrefix(set, "CALLBOARD_BLOBS_URL=") {
			env = append(env, set)
		}
	}
	second := prepareRaceFreeService(t, env...)
	second.key, c.nodes = first.key, append(c.nodes, second)
	c.startNode(second)
	for admin, shards := range map[string]float64{has: 2, hasNone: 0} {
		first.await("both nodes in the metrics of each", time.Minute, func() bool {
			_, values := first.readMetrics(admin)
			return values["callboard_nodes"] == 2 && values["callboard_shards_owned"] == shards
		})
		_, values := first.readMetrics(admin)
		assert.Positive(t, values["callboard_disk_free_bytes"])
		free, found := values["callboard_shards_without_owner"]
		assert.True(t, found)
		assert.Zero(t, free)
	}
	assert.Contains(t, probed(second, "127.0.0.3"), "200", "a dispatcher of sip_probes")
	assert.Contains(t, probed(second, "127.0.0.1"), "200", "a trunk of the other node's workspace")
	assert.Empty(t, probed(second, "127.0.0.9"), "whom nobody knows")
	_, before := first.readMetrics(has)
	require.NoError(t, second.runSIPpCaller("uac-refused-503", number), "the draining owner rejects the call")
	_, after := first.readMetrics(has)
	assert.Greater(t, after["callboard_sip_messages_total received"], before["callboard_sip_messages_total received"])
	assert.Empty(t, c.shardsOf(second), "the node still owns no shard")

	// A node that stops but still has a live call must answer OPTIONS with 503.
	first.api("POST", "/v1/operator/undrain", object{})
	first.await("one shard on each node", time.Minute, func() bool { return len(c.shardsOf(first)) == 1 && len(c.shardsOf(second)) == 1 })
	goes, other := first, second
	if c.shardsOf(second)[strconv.Itoa(domain.ShardOf(one.id, 2))] {
		goes, other = second, first
	}
	at = other.withKey(one.key)
	assert.Contains(t, probed(goes, "127.0.0.1"), "200")
	at.api("PATCH", "/v1/phone-numbers/"+created["id"].(string), object{"agent_id": at.createWaitingAgent("wait")})
	startSIPpCaller(t, "uac-hangup", "-m", "1", "-s", number, "-d", "120000", "127.0.0.1:"+strconv.Itoa(other.sip))
	at.await("the call", time.Minute, func() bool {
		all := at.listData("/v1/calls?status=active")
		return len(all) == 1 && all[0].(object)["status"] == "in_progress"
	})
	require.NoError(t, goes.cmd.Process.Signal(syscall.SIGTERM))
	other.await("a 503 of the stopping node", time.Minute, func() bool { return strings.Contains(probed(goes, "127.0.0.1"), "503") })
}

// sendOptions sends OPTIONS up to three times and returns the first line of the response, or an empty string.
func sendOptions(t testing.TB, from netip.Addr, at netip.AddrPort) string {
	t.Helper()
	conn, err := net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), net.UDPAddrFromAddrPort(at))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	me, b := conn.LocalAddr().String(), make([]byte, 2048)
	for i := range 3 {
		_, err = conn.Write([]byte(strings.Join([]string{
			"OPTIONS sip:" + at.String() + " SIP/2.0", "Via: SIP/2.0/UDP " + me + ";branch=z9hG4bKprobe" + strconv.Itoa(i), "From: <sip:probe@" + me + ">;tag=probe",
			"To: <sip:" + at.String() + ">", "Call-ID: " + strconv.Itoa(i) + "@" + me, "CSeq: 1 OPTIONS", "Max-Forwards: 10", "Content-Length: 0", "", "",
		}, "\r\n")))
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
		if n, err := conn.Read(b); err == nil {
			line, _, _ := strings.Cut(string(b[:n]), "\r\n")
			return line
		}
	}
	return ""
}
