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

// A phone that has called another one hands the agent to it: REFER with
// Replaces to us, INVITE with Replaces from us, and each of them sees on its
// wire what it has to.
func TestAPhoneHandsTheAgentWithAttendanceToAnotherPhone(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.unlimited()
	second := sipp(t, "uas-replaces", "-m", "1")
	s.trunk("+12025550199", second.port)
	in := s.trunk("+1999", siptest.Port(t))
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.branches(object{"accept_refer": true}), "trunk_id": in})
	require.NoError(t, s.caller("uac-hands-over", "+12025550142", "-key", "target", "+12025550199"), "202, NOTIFY up to 200, BYE")
	id := s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any)[0].(object)["id"].(string)
	s.await("the transfer", 10*time.Second, func() bool { return s.handed(id)["status"] == "completed" })
	assert.Equal(t, []any{"attended", "remote"}, []any{s.handed(id)["mode"], s.handed(id)["by"]})
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"], "the agent goes on with the other one")
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	require.NoError(t, <-second.done, "INVITE with Replaces of the first phone's dialog, ACK, BYE")
	assert.Len(t, s.ended(id, 20*time.Second)["legs"], 2)
}

// A phone that asks the agent first, and then hands its own far end over to it:
// the far end's INVITE takes the place of the phone.
func TestTheAgentIsTheTargetOfATransferBetweenTwoPhones(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.unlimited()
	in := s.trunk("", siptest.Port(t))
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.branches(object{"accept_refer": true}), "trunk_id": in})
	at := "127.0.0.1:" + strconv.Itoa(s.sip)
	first := sippCaller(t, "uac-stays", "-m", "1", "-s", "+12025550142", at)
	var dialog []string
	s.await("the call of the first phone", 20*time.Second, func() bool {
		dialog = strings.Fields(first.logged()["DIALOG"])
		return len(dialog) == 3
	})
	id := s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any)[0].(object)["id"].(string)
	s.inProgress(id)
	keys := func(ours string) []string {
		return []string{"-key", "replaced", dialog[0], "-key", "ours", ours, "-key", "theirs", dialog[2], "-d", "500"}
	}
	require.Error(t, s.caller("uac-takes-over", "+12025550142", keys("guessed")...), "nobody takes a dialog that he cannot name")
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"])
	require.NoError(t, s.caller("uac-takes-over", "+12025550142", keys(dialog[1])...), "answered, and ended by itself")
	require.NoError(t, <-first.done, "the first phone is let go by BYE")
	call := s.ended(id, 20*time.Second)
	assert.Equal(t, []any{"completed", "remote_hangup"}, []any{call["status"], call["ended_reason"]})
	assert.Len(t, call["legs"], 2, "one call, two far ends one after the other")
	assert.Len(t, s.api("GET", "/v1/calls?direction=inbound", nil)["data"], 1)
}
