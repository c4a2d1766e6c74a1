package main_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// runSIPpCaller runs a SIPp scenario that places one call to the service, and waits until SIPp ends.
func (s *service) runSIPpCaller(scenario, number string, args ...string) error {
	s.t.Helper()
	p := startSIPpCaller(s.t, scenario, append([]string{"-m", "1", "-s", number, "127.0.0.1:" + strconv.Itoa(s.sip)}, args...)...)
	select {
	case err := <-p.done:
		return err
	case <-time.After(2 * time.Minute):
		s.t.Fatalf("the caller %s did not end", scenario)
		return nil
	}
}

func TestInboundCallsReachAgentOfNumber(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.*"}})
	trunk := s.createTrunk("", siptest.Port(t))
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createMenuAgent(), "trunk_id": trunk})

	require.NoError(t, s.runSIPpCaller("uac-press", "+12025550142", "-key", "press", "1"), "digits choose the branch, the agent hangs up")
	require.NoError(t, s.runSIPpCaller("uac-press", "12025550142", "-key", "press", "2"), "the number without its plus")
	require.NoError(t, s.runSIPpCaller("uac-hangup", "+12025550142", "-d", "2000"), "the caller hangs up")
	require.NoError(t, s.runSIPpCaller("uac-refused-404", "+12025550199"), "an unknown number")

	s.await("three ends", 20*time.Second, func() bool { return len(s.receiver.events("call.ended")) == 3 })
	got := map[string]int{}
	for _, raw := range s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any) {
		c := raw.(object)
		got[c["disposition"].(string)+" "+c["ended_by"].(string)]++
		assert.Equal(t, "+12025550142", c["to"])
	}
	assert.Equal(t, map[string]int{"confirmed agent": 1, "declined agent": 1, "completed remote": 1}, got)

	s.api("PATCH", "/v1/workspace", object{"limits": object{
		"requests_per_minute": 100000, "concurrent_inbound": 1, "concurrent_outbound": 5, "calls_per_minute": 100,
	}})
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550143", "agent_id": s.createWaitingAgent("wait"), "trunk_id": trunk})
	long := startSIPpCaller(t, "uac-stays", "-m", "1", "-s", "+12025550143", "127.0.0.1:"+strconv.Itoa(s.sip))
	var live []any
	s.await("the first call's answer", 10*time.Second, func() bool {
		live = s.listData("/v1/calls?status=active")
		return len(live) == 1 && live[0].(object)["status"] == "in_progress"
	})
	require.NoError(t, s.runSIPpCaller("uac-refused-486", "+12025550142"), "a call beyond the limit")
	s.api("POST", "/v1/calls/"+live[0].(object)["id"].(string)+"/hangup", nil)
	require.NoError(t, <-long.done)
	s.await("the event of the rejected call", 20*time.Second, func() bool {
		for _, e := range s.receiver.events("call.ended") {
			if strings.Contains(string(e.Data), "concurrent_limit_exceeded") {
				return true
			}
		}
		return false
	})
}
