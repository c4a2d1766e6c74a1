package main_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

func TestSRTPKeysAreOfferedAcceptedAndRejected(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	agent := s.createGreetingAgent()
	takes, refuses := startSIPp(t, "uas-srtp", "-m", "1"), startSIPp(t, "uas-srtp-refused")
	inClear := object{"srtp": "required", "srtp_keys_in_clear": true}
	s.trunkWith("+12025550121", takes.port, "udp", inClear)
	s.trunkWith("+12025550122", refuses.port, "udp", inClear)
	for prefix, mode := range map[string]string{"1": "required", "2": "off", "3": "optional"} {
		in := s.api("POST", "/v1/trunks", object{
			"caller_ids": []string{"+12025550100"},
			"name":       mode, "prefixes": []string{"+1999" + prefix}, "srtp": mode, "srtp_keys_in_clear": true,
			"proxies": []object{{"host": "127.0.0.1", "port": siptest.Port(t), "transport": "udp"}},
		})["id"]
		s.api("POST", "/v1/phone-numbers", object{"number": "+1202555014" + prefix, "agent_id": agent, "trunk_id": in})
	}

	out, barred := s.placeCall("+12025550121", agent, nil), s.placeCall("+12025550122", agent, nil)
	require.NoError(t, s.runSIPpCaller("uac-srtp", "+12025550141", "-d", "300"), "keys with srtp required")
	require.NoError(t, s.runSIPpCaller("uac-refused-488", "+12025550141"), "no keys with srtp required")
	require.NoError(t, s.runSIPpCaller("uac-srtp-refused", "+12025550142"), "keys with srtp off")
	require.NoError(t, s.runSIPpCaller("uac-hangup", "+12025550142", "-d", "300"), "no keys with srtp off")
	require.NoError(t, s.runSIPpCaller("uac-srtp", "+12025550143", "-d", "300"), "keys with srtp optional")
	require.NoError(t, s.runSIPpCaller("uac-hangup", "+12025550143", "-d", "300"), "no keys with srtp optional")

	require.NoError(t, <-takes.done, "three cipher suites, AEAD selected, BYE")
	assert.Equal(t, "completed", s.awaitCallEnd(out, 30*time.Second)["status"])
	call := s.awaitCallEnd(barred, 30*time.Second)
	assert.Equal(t, []any{"failed", "media"}, []any{call["status"], call["ended_reason"]}, "%v", call)
	assert.Equal(t, map[string]int{"12025550122": 2}, refuses.inviteCounts(), "a retry with other codecs, but never unencrypted")
}

func TestCallRejectedWith429IsRetriedAfterItsRetryAfter(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := startSIPp(t, "uas-429")
	s.createTrunk("", p.port)
	call := s.awaitCallEnd(s.placeCall("+12025550123", s.createGreetingAgent(), nil), 30*time.Second)
	assert.Equal(t, "completed", call["disposition"], "%v", call)
	legs := call["legs"].([]any)
	require.Len(t, legs, 2)
	assert.Equal(t, []any{429.0, 200.0}, []any{legs[0].(object)["code"], legs[1].(object)["code"]})
	lines := p.logLines()
	require.Len(t, lines, 2)
	assert.GreaterOrEqual(t, lines[1].Ms-lines[0].Ms, 1900, "Retry-After is obeyed")
}

func TestReferThatRequiresAuthenticationKeepsCaller(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := startSIPp(t, "uas-refer-429", "-m", "1")
	s.createTrunk("", p.port)
	id := s.placeCall("+12025550123", s.createWaitingAgent("wait"), nil)
	s.awaitAnswer(id)
	s.api("POST", "/v1/calls/"+id+"/transfer", object{"to": "+12025550199", "mode": "blind"})
	s.await("the failure of the transfer", 20*time.Second, func() bool { return s.lastTransfer(id)["status"] == "failed" })
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"], "the caller is back with the agent")
	steps := s.lastTransfer(id)["sip"].([]any)
	assert.Equal(t, []any{"REFER", 429.0}, []any{steps[0].(object)["method"], steps[0].(object)["code"]})
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	require.NoError(t, <-p.done)
}

func TestRedirectToAllowedHostIsFollowed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	there := startSIPp(t, "uas-answer-logged")
	moved := startSIPp(t, "uas-302", "-key", "contact", "127.0.0.1:"+strconv.Itoa(there.port))
	trunk := "/v1/trunks/" + s.createTrunk("", moved.port)
	s.api("PATCH", trunk, object{"redirect_hosts": []string{"127.0.0.0/8"}})
	call := s.awaitCallEnd(s.placeCall("+12025550123", s.createGreetingAgent(), nil), 30*time.Second)
	assert.Equal(t, "completed", call["status"], "%v", call)
	legs := call["legs"].([]any)
	require.Len(t, legs, 2)
	assert.Equal(t, []any{302.0, 200.0}, []any{legs[0].(object)["code"], legs[1].(object)["code"]})
	assert.Contains(t, legs[1].(object)["target"], strconv.Itoa(there.port))
	assert.Len(t, there.logLines(), 2, "an INVITE and the end of its call")
	var second string
	for _, m := range s.api("GET", "/v1/calls/"+call["id"].(string)+"/sip", nil)["messages"].([]any) {
		if text, _ := m.(object)["message"].(string); strings.HasPrefix(text, "INVITE") {
			second = text
		}
	}
	assert.True(t, strings.HasPrefix(second, "INVITE sip:+12025550123;npdi@127.0.0.1:"), second)
	assert.Contains(t, second, "\r\nIdentity: e30.e30.c2lnbmVk;info=")

	port := siptest.Port(t)
	round := startSIPpAtPort(t, port, "uas-302", "-key", "contact", "127.0.0.1:"+strconv.Itoa(port))
	s.api("PATCH", trunk, object{"proxies": []object{{"host": "127.0.0.1", "port": port, "transport": "udp"}}})
	call = s.awaitCallEnd(s.placeCall("+12025550124", s.createGreetingAgent(), nil), 30*time.Second)
	assert.Equal(t, []any{"failed", "redirected"}, []any{call["status"], call["ended_reason"]}, "%v", call)
	assert.Len(t, round.logLines(), 4, "three redirects are followed")
	code, text, _ := s.tryRequest("PATCH", trunk, object{"redirect_hosts": []string{"not a host"}})
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, string(text), "redirect_hosts[0]")
}

func TestRedirectToForbiddenHostIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	there := startSIPp(t, "uas-answer-logged")
	moved := startSIPp(t, "uas-302", "-key", "contact", "127.0.0.1:"+strconv.Itoa(there.port))
	s.createTrunk("", moved.port, there.port) // not even to another target of the trunk
	call := s.awaitCallEnd(s.placeCall("+12025550123", s.createGreetingAgent(), nil), 30*time.Second)
	assert.Equal(t, []any{"failed", "redirected"}, []any{call["status"], call["ended_reason"]}, "%v", call)
	legs := call["legs"].([]any)
	require.Len(t, legs, 1)
	assert.InDelta(t, 302.0, legs[0].(object)["code"], 0)
	assert.Empty(t, there.logLines())
	trace := strings.Join(s.sipFirstLines(call["id"].(string)), " ")
	assert.True(t, strings.HasPrefix(trace, "INVITE") && strings.HasSuffix(trace, "302 ACK"), trace)
}
