package main_test

import (
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip/siptest"
)

// countLines returns how many lines of a kind the log of a SIPp scenario contains.
func (p *sippPeer) countLines(kind string) int {
	text, _ := os.ReadFile(p.log)
	n := 0
	for l := range strings.Lines(string(text)) {
		if strings.HasPrefix(l, kind+" ") {
			n++
		}
	}
	return n
}

// trunkWith creates a trunk to a loopback port. The trunk takes the calls to all numbers with a prefix.
func (s *service) trunkWith(prefix string, port int, transport string, more object) {
	s.t.Helper()
	body := object{
		"name": "t" + prefix, "prefixes": []string{prefix}, "caller_ids": []string{"+12025550100"},
		"proxies": []object{{"host": "127.0.0.1", "port": port, "transport": transport}},
	}
	maps.Copy(body, more)
	s.api("POST", "/v1/trunks", body)
}

func TestHangUpByAPISendsBYEAndReportsIt(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := startSIPp(t, "uas-answer-logged")
	s.createTrunk("", p.port)
	id := s.placeCall("+12025550123", s.createMenuAgent(), nil)
	s.await("the answer", 20*time.Second, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["status"] == "in_progress" })
	assert.Zero(t, p.countLines("END"))
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	s.await("BYE", 5*time.Second, func() bool { return p.countLines("END") == 1 })
	call := s.awaitCallEnd(id, 5*time.Second)
	assert.Equal(t, []any{"completed", "api"}, []any{call["status"], call["ended_by"]}, "%v", call)
	status, _, _ := s.tryRequest("POST", "/v1/calls/"+id+"/hangup", nil)
	assert.Less(t, status, 500, "a second time")
}

func TestHangUpWhileRingingSendsCANCEL(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := startSIPp(t, "uas-noanswer")
	s.createTrunk("", p.port)
	id := s.placeCall("+12025550123", s.createGreetingAgent(), nil)
	s.await("ringing", 20*time.Second, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["status"] == "ringing" })
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	s.await("CANCEL", 5*time.Second, func() bool { return p.countLines("CANCEL") == 1 })
	call := s.awaitCallEnd(id, 5*time.Second)
	assert.Equal(t, []any{"cancelled", "api"}, []any{call["status"], call["ended_by"]}, "%v", call)
}

func TestRingTimeoutSendsCANCELAndEndsAsNoAnswer(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := startSIPp(t, "uas-noanswer")
	s.createTrunk("", p.port)
	began := time.Now()
	id := s.placeCall("+12025550123", s.createGreetingAgent(), object{"ring_timeout_seconds": 5})
	s.await("CANCEL", 20*time.Second, func() bool { return p.countLines("CANCEL") == 1 })
	assert.GreaterOrEqual(t, time.Since(began), 5*time.Second, "the call rang for the requested time")
	call := s.awaitCallEnd(id, 5*time.Second)
	assert.Equal(t, []any{"no_answer", "no_answer"}, []any{call["status"], call["disposition"]}, "%v", call)
	assert.Equal(t, 1, p.countLines("INVITE"))
}

func TestHoldAndResumeByRemoteParty(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := startSIPp(t, "uas-reinvite")
	s.createTrunk("", p.port)
	call := s.awaitCallEnd(s.placeCall("+12025550123", s.createMenuAgent(), nil), 40*time.Second)
	assert.Equal(t, "completed", call["status"], "%v", call)
	assert.Equal(t, "agent", call["ended_by"])
	s.await("BYE", 5*time.Second, func() bool { return p.countLines("END") == 1 })
	assert.Equal(t, []int{1, 1}, []int{p.countLines("HELD"), p.countLines("BACK")}, "both re-INVITEs got the correct answer")
}

func TestTrunksOverTCPAndWithDigestAuthentication(t *testing.T) {
	t.Parallel()
	s := newService(t)
	agent := s.createGreetingAgent()
	tcp := startSIPpAtPort(t, siptest.Port(t), "uas-answer-logged", "-t", "t1")
	known, stranger, remote := startSIPp(t, "uas-digest"), startSIPp(t, "uas-digest"), startSIPp(t, "uas-hangup")
	s.trunkWith("+1202551", tcp.port, "tcp", nil)
	s.trunkWith("+1202552", known.port, "udp", object{"auth": object{"username": "callboard", "password": "secret"}})
	s.trunkWith("+1202553", stranger.port, "udp", object{"auth": object{"username": "callboard", "password": "wrong"}})
	s.trunkWith("+1202554", remote.port, "udp", nil)
	want := map[string][]any{
		"+12025510001": {"completed", "completed", "completed", "agent"},
		"+12025520001": {"completed", "completed", "completed", "agent"},
		"+12025530001": {"failed", "failed", "trunk_rejected", "remote"},
		"+12025540001": {"completed", "completed", "remote_hangup", "remote"},
	}
	ids := map[string]string{}
	for number := range want {
		who := agent
		if number == "+12025540001" {
			who = s.createWaitingAgent("wait") // the callee hangs up
		}
		ids[number] = s.placeCall(number, who, nil)
	}
	for number, id := range ids {
		c := s.awaitCallEnd(id, 40*time.Second)
		assert.Equal(t, []any{c["status"], c["disposition"], c["ended_reason"], c["ended_by"]}, want[number], "%s: %v", number, c)
	}
	s.await("BYE over TCP", 5*time.Second, func() bool { return tcp.countLines("END") == 1 })
	assert.Equal(t, []int{1, 1}, []int{known.countLines("INVITE"), stranger.countLines("INVITE")}, "one call each with two INVITEs")
}
