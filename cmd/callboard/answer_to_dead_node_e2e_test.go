package main_test

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

// ownedWorkspace returns the first of the tenants whose workspace belongs to a shard of the node s.
func (c *nodeCluster) ownedWorkspace(s *service, all []*shardTenant) *shardTenant {
	c.t.Helper()
	has := c.shardsOf(s)
	for _, one := range all {
		if has[strconv.Itoa(domain.ShardOf(one.id, clusterShardCount))] {
			return one
		}
	}
	require.Fail(c.t, "the node owns no workspace")
	return nil
}

// answerCall makes a SIPp peer that runs the scenario uas-answer-unheard answer its ringing call.
func (p *sippPeer) answerCall() {
	p.t.Helper()
	conn, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", p.port))
	require.NoError(p.t, err)
	defer func() { _ = conn.Close() }()
	me := conn.LocalAddr().String()
	_, err = conn.Write([]byte(strings.Join([]string{
		"MESSAGE sip:sipp@127.0.0.1 SIP/2.0", "Via: SIP/2.0/UDP " + me + ";branch=z9hG4bKtold", "From: <sip:test@" + me + ">;tag=test", "To: <sip:sipp@127.0.0.1>",
		"Call-ID: " + p.logLines()[0].CallID, "CSeq: 1 MESSAGE", "Max-Forwards: 70", "Content-Length: 0", "", "",
	}, "\r\n")))
	require.NoError(p.t, err)
}

// A node is killed while one of its calls rings, and the callee answers before another node takes over. The new owner
// must hang up instead of leaving a silent call. It must not dial the other call, which has not rung yet, again.
func TestCallAnsweredToDeadNodeIsHungUpByNextNode(t *testing.T) {
	t.Parallel()
	carrier := startSIPp(t, "uas-answer-unheard", "-m", "1", "-trace_msg", "-message_file", "messages")
	trying := startSIPp(t, "uas-trying", "-m", "1", "-trace_msg", "-message_file", "messages")
	c := newNodeCluster(t, 2, fmt.Sprint("CALLBOARD_SHARDS=", clusterShardCount))
	c.awaitEvenShards()
	front, victim := c.nodes[0], c.nodes[1]
	one := c.ownedWorkspace(victim, c.createTenants(16))
	front = front.withKey(one.key)
	front.api("POST", "/v1/trunks", object{"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": carrier.port, "transport": "udp"}}})
	front.api("POST", "/v1/trunks", object{"caller_ids": []string{"+12025550100"}, "name": "u", "prefixes": []string{"+1303"}, "proxies": []object{{"host": "127.0.0.1", "port": trying.port, "transport": "udp"}}})
	id, early := front.placeCall("+12025550123", front.createConstantAgent(), nil), front.placeCall("+13035550123", front.createConstantAgent(), nil)
	front.await("an INVITE for the second call", 20*time.Second, func() bool { return len(trying.inviteCounts()) == 1 })
	front.await("the first call to ring", 20*time.Second, func() bool { return front.api("GET", "/v1/calls/"+id, nil)["status"] == "ringing" })
	victim.kill9()
	carrier.answerCall()
	for _, p := range []*sippPeer{carrier, trying} {
		select {
		case err := <-p.done:
			require.NoError(t, err, "the call was ended")
		case <-time.After(time.Minute):
			assert.Fail(t, "the callee is in a silent call, or will be", p.messages())
		}
	}
	assert.Equal(t, "interrupted", front.awaitCallEnd(early, 20*time.Second)["ended_reason"])
	call := front.awaitCallEnd(id, 20*time.Second)
	assert.Equal(t, []any{"failed", "interrupted"}, []any{call["status"], call["ended_reason"]}, "%v", call)
	assert.Equal(t, map[string]int{"12025550123": 1}, carrier.inviteCounts())
}
