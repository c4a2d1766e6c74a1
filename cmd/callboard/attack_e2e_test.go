package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAttackByTollFraud checks that an inbound caller reaches only numbers of the workspace, whatever the caller
// dials or requests by REFER.
func TestAttackByTollFraud(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.unlimited()
	out := sipp(t, "uas-answer-logged")
	trunk := s.trunk("", out.port)
	s.api("POST", "/v1/phone-numbers", object{"number": soakNumber, "agent_id": s.patient("wait"), "trunk_id": trunk})
	dialled := []string{"+12025559999", "+19005550123", "+442071838750", "011442071838750", "9011442071838750", "911", "callboard"}
	for _, number := range dialled {
		require.NoError(t, s.caller("uac-refused-404", number), number)
	}
	require.NoError(t, s.caller("uac-refers-refused", soakNumber), "the agent rejects a REFER from its caller")
	s.await("the end of that call", 20*time.Second, func() bool {
		return len(s.api("GET", "/v1/calls?status=active&limit=1", nil)["data"].([]any)) == 0
	})
	assert.Empty(t, out.rung(), "no external number was called")
	assert.Empty(t, s.api("GET", "/v1/calls?direction=outbound", nil)["data"])
	t.Logf("attack: %d calls to foreign numbers and 2 REFERs, 0 outbound calls", len(dialled))
	own := s.outbound("+12025550123", s.hello(), nil)
	s.ended(own, 30*time.Second)
	s.await("a call over the trunk, which accepts calls", 5*time.Second, func() bool { return len(out.rung()) == 1 })
}
