package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An inbound caller must reach only numbers of the workspace, whatever number the caller dials or requests by REFER.
func TestAttackByTollFraud(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	out := startSIPp(t, "uas-answer-logged")
	trunk := s.createTrunk("", out.port)
	s.api("POST", "/v1/phone-numbers", object{"number": soakNumber, "agent_id": s.createWaitingAgent("wait"), "trunk_id": trunk})
	dialled := []string{"+12025559999", "+19005550123", "+442071838750", "011442071838750", "9011442071838750", "911", "callboard"}
	for _, number := range dialled {
		require.NoError(t, s.runSIPpCaller("uac-refused-404", number), number)
	}
	require.NoError(t, s.runSIPpCaller("uac-refers-refused", soakNumber), "the agent rejects a REFER from its caller")
	s.await("the end of that call", 20*time.Second, func() bool {
		return len(s.api("GET", "/v1/calls?status=active&limit=1", nil)["data"].([]any)) == 0
	})
	assert.Empty(t, out.inviteCounts(), "no external number was called")
	assert.Empty(t, s.api("GET", "/v1/calls?direction=outbound", nil)["data"])
	t.Logf("attack: %d calls to foreign numbers and 2 REFERs, 0 outbound calls", len(dialled))
	own := s.placeCall("+12025550123", s.createGreetingAgent(), nil)
	s.awaitCallEnd(own, 30*time.Second)
	s.await("a call over the trunk, which accepts calls", 5*time.Second, func() bool { return len(out.inviteCounts()) == 1 })
}
