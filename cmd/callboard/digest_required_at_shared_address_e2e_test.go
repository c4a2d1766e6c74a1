package main_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/transport"
)

// startCarrierUserAgent starts a SIP user agent on loopback that represents a carrier.
func startCarrierUserAgent(t *testing.T) *sip.UserAgent {
	t.Helper()
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(siptest.Port(t)))}}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ua.Serve(ctx) }()
	<-ua.Ready()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	return ua
}

// callWithCredentials calls the service with digest credentials and returns the final status. It ends an answered
// call.
func (s *service) callWithCredentials(from *sip.UserAgent, to, user, password string) int {
	s.t.Helper()
	events := make(chan sip.Event, 16)
	d, err := from.Invite(sip.Invite{
		Attempt: user + to + strconv.FormatInt(time.Now().UnixNano(), 36), Leg: 1, To: to, From: "+12025550177", Body: []byte(description),
		Target: resolve.Target{Host: "127.0.0.1", Port: s.sip, Transport: "udp"}, Credentials: &auth.Credentials{Username: user, Password: password},
		Notify: func(e sip.Event) { events <- e },
	})
	require.NoError(s.t, err)
	for {
		select {
		case e := <-events:
			switch e := e.(type) {
			case sip.Answered:
				d.Bye(16, "")
				return 200
			case sip.Refused:
				return e.Final.Code
			}
		case <-time.After(time.Minute):
			require.Fail(s.t, "the call got no final answer")
		}
	}
}

const description = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 39998 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\na=inactive\r\n"

// Two trunks have the same source address, and only one requires digest authentication. A call without credentials must
// not reach numbers of the trunk that requires authentication.
func TestOpenTrunkGivesNoAccessToDigestTrunkAtSameSource(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	agent, other := s.createWaitingAgent("wait"), s.createWaitingAgent("wait") // the callers hang up
	open, closed := s.createTrunk("", siptest.Port(t)), s.createTrunk("", siptest.Port(t))
	s.api("PATCH", "/v1/trunks/"+closed, object{"inbound": object{"auth": object{"username": "carrier", "password": "proof"}}})
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": agent, "trunk_id": open})
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550143", "agent_id": agent, "trunk_id": closed})

	require.NoError(t, s.runSIPpCaller("uac-hangup", "+12025550142", "-d", "300"), "the open trunk requires no authentication")
	require.NoError(t, s.runSIPpCaller("uac-refused-401", "+12025550143"), "the number of the digest trunk requires authentication")
	require.NoError(t, s.runSIPpCaller("uac-refused-401", "+12025550199"), "unknown numbers get the same response")
	from := startCarrierUserAgent(t)
	assert.Equal(t, 401, s.callWithCredentials(from, "+12025550143", "carrier", "guess"))
	assert.Equal(t, 200, s.callWithCredentials(from, "+12025550143", "carrier", "proof"))

	s.api("POST", "/v1/phone-numbers", object{"number": "*", "agent_id": other, "trunk_id": open})
	require.NoError(t, s.runSIPpCaller("uac-refused-401", "+12025550143"), "a call to the digest trunk's number is not an unassigned number of the open trunk")
	require.NoError(t, s.runSIPpCaller("uac-hangup", "+12025550199", "-d", "300"))
	assert.Equal(t, 200, s.callWithCredentials(from, "+12025550143", "carrier", "proof"))
	s.await("the calls' ends", 20*time.Second, func() bool {
		return len(s.api("GET", "/v1/calls?direction=inbound&status=completed", nil)["data"].([]any)) == 4
	})
	took := map[string]int{}
	for _, raw := range s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any) {
		c := raw.(object)
		took[c["to"].(string)+" "+c["agent_id"].(string)]++
	}
	assert.Equal(t, map[string]int{"+12025550142 " + agent: 1, "+12025550143 " + agent: 2, "+12025550199 " + other: 1}, took)
}
