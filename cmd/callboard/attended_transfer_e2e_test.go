package main_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// A phone transfers the agent to another phone with a REFER that contains Replaces. The service must send the INVITE
// with Replaces. Both phones check the messages that they receive.
func TestAttendedTransferByReferWithReplacesFromPhone(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	second := startSIPp(t, "uas-replaces", "-m", "1")
	s.createTrunk("+12025550199", second.port)
	in := s.createTrunk("+1999", siptest.Port(t))
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createBranchingAgent(object{"accept_refer": true}), "trunk_id": in})
	require.NoError(t, s.runSIPpCaller("uac-hands-over", "+12025550142", "-key", "target", "+12025550199"), "202, NOTIFY up to 200, BYE")
	id := s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any)[0].(object)["id"].(string)
	s.await("the transfer", 10*time.Second, func() bool { return s.lastTransfer(id)["status"] == "completed" })
	assert.Equal(t, []any{"attended", "remote"}, []any{s.lastTransfer(id)["mode"], s.lastTransfer(id)["by"]})
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"], "the call continues with the second phone")
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	require.NoError(t, <-second.done, "INVITE with Replaces of the first phone's dialog, ACK, BYE")
	assert.Len(t, s.awaitCallEnd(id, 20*time.Second)["legs"], 2)
}

// A phone consults the agent and then transfers its other party to the agent. The other party's INVITE with Replaces
// must take the place of the phone in the call with the agent.
func TestAgentIsTargetOfAttendedTransfer(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	in := s.createTrunk("", siptest.Port(t))
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createBranchingAgent(object{"accept_refer": true}), "trunk_id": in})
	at := "127.0.0.1:" + strconv.Itoa(s.sip)
	first := startSIPpCaller(t, "uac-stays", "-m", "1", "-s", "+12025550142", at)
	var dialog []string
	s.await("the call of the first phone", 20*time.Second, func() bool {
		dialog = strings.Fields(first.firstValues()["DIALOG"])
		return len(dialog) == 3
	})
	id := s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any)[0].(object)["id"].(string)
	s.awaitAnswer(id)
	keys := func(ours string) []string {
		return []string{"-key", "replaced", dialog[0], "-key", "ours", ours, "-key", "theirs", dialog[2], "-d", "500"}
	}
	require.Error(t, s.runSIPpCaller("uac-takes-over", "+12025550142", keys("guessed")...), "a Replaces with unknown tags is rejected")
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"])
	require.NoError(t, s.runSIPpCaller("uac-takes-over", "+12025550142", keys(dialog[1])...), "answered, and ended by the caller")
	require.NoError(t, <-first.done, "the first phone gets a BYE")
	call := s.awaitCallEnd(id, 20*time.Second)
	assert.Equal(t, []any{"completed", "remote_hangup"}, []any{call["status"], call["ended_reason"]})
	assert.Len(t, call["legs"], 2, "one call with two consecutive remote parties")
	assert.Len(t, s.api("GET", "/v1/calls?direction=inbound", nil)["data"], 1)
}

var (
	inviteMessages = regexp.MustCompile(`(?m)^INVITE [^\r]*\r?\n(?:[^\r\n]+\r?\n)*`)
	fromTagParam   = regexp.MustCompile(`(?mi)^From:[^\r\n]*;tag=([^\s;]+)`)
	toTagParam     = regexp.MustCompile(`(?mi)^To:[^\r\n]*;tag=([^\s;]+)`)
	callIDHeader   = regexp.MustCompile(`(?mi)^Call-ID: *(\S+)`)
	replacesHeader = regexp.MustCompile(`(?mi)^Replaces: *(\S+)`)
)

// inboundDialog returns the dialog of the phone's first inbound call, as the value of a Replaces header that is sent to
// the phone.
func (p *softphone) inboundDialog() string {
	p.t.Helper()
	_, rest, _ := strings.Cut(p.log(), "INVITE sip:")
	_, answer, answered := strings.Cut(rest, "SIP/2.0 200 ")
	call, from, to := callIDHeader.FindStringSubmatch(rest), fromTagParam.FindStringSubmatch(rest), toTagParam.FindStringSubmatch(answer)
	if !answered || call == nil || from == nil || to == nil {
		return ""
	}
	return call[1] + ";to-tag=" + to[1] + ";from-tag=" + from[1]
}

// A phone that the agent called consults a second phone and then transfers the agent to it by REFER with Replaces. This
// version of baresip ignores Replaces, so the test ends the replaced call itself.
func TestBaresipTransfersAgentToBaresipAfterConsultation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.transferred"}})
	first, second := startBaresip(t, "+12025550147"), startBaresip(t, "+12025550199")
	second.useReversedTone()
	s.trunkWith("+12025550147", first.port, "udp", nil)
	s.trunkWith("+12025550199", second.port, "udp", nil)
	id := s.placeCall("+12025550147", s.createBranchingAgent(object{"accept_refer": true}), nil)
	s.awaitAnswer(id)
	first.sendCommand("dial", "sip:+12025550199@127.0.0.1:"+strconv.Itoa(second.port))
	var between string
	s.await("the phones' own call", 20*time.Second, func() bool { between = second.inboundDialog(); return between != "" })
	s.await("the ACK of the caller", 20*time.Second, func() bool { return strings.Contains(first.log(), "ACK sip:+12025550199") }) // otherwise the phone would select that line again
	first.sendCommand("line", "1")                                                                                                 // select the line with the agent
	first.sendCommand("transfer", "<sip:+12025550199@127.0.0.1?Replaces="+url.QueryEscape(between)+">")
	s.await("the transfer to the second phone", 30*time.Second, func() bool { return s.lastTransfer(id)["status"] == "completed" })
	asked := replacesHeader.FindStringSubmatch(second.log())
	require.NotNil(t, asked, "the INVITE of the service has a Replaces header")
	assert.Equal(t, between, asked[1])
	s.await("the first phone to hang up", 20*time.Second, func() bool {
		legs := s.api("GET", "/v1/calls/"+id, nil)["legs"].([]any)
		return len(legs) == 2 && legs[0].(object)["ended_at"] != nil
	})
	assert.Equal(t, []any{"attended", "remote", "+12025550199"}, []any{s.lastTransfer(id)["mode"], s.lastTransfer(id)["by"], s.lastTransfer(id)["to"]})
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"])
	first.sendCommand("hangup", "") // ends the call between the two phones
	s.await("a BYE for the replaced call", 20*time.Second, func() bool { return strings.Contains(second.log(), "BYE sip:") })
	s.api("POST", "/v1/calls/"+id+"/say", object{"text": "Hello second phone, the agent speaks to you now."})
	s.waitForAudio(3 * time.Second)
	second.pressKey("7")
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, "confirmed", call["disposition"], "the agent receives the key of the second phone: %v", call)
	s.await("the events", 10*time.Second, func() bool { return len(s.transferStatuses()) >= 2 })
	assert.Equal(t, []string{"attended in_progress", "attended completed"}, s.transferStatuses())
	wav, best := s.saveRecording(id), 0.0
	left, right := readSamples(t, wav, 1), readSamples(t, wav, 2)
	for _, sent := range second.recordings("enc") {
		if len(sent) > 5*sampleRate/2 {
			best = max(best, endCorrelation(sent, left))
		}
	}
	assert.Greater(t, best, 0.9, "the agent received the tone of the second phone")
	best = 0
	for _, heard := range second.recordings("dec") {
		best = max(best, bestPieceCorrelation(loudestWindow(right[len(right)/2:]), heard))
	}
	assert.Greater(t, best, 0.9, "the second phone received the agent's audio")
}

// The agent consults one phone and then transfers the other phone to it. The service must leave the call, and the two
// phones must talk to each other.
func TestAgentTransfersBaresipToBaresipAfterConsultation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	first, second := startBaresip(t, "+12025550148"), startBaresip(t, "+12025550199")
	second.useReversedTone()
	s.trunkWith("+12025550148", first.port, "udp", nil)
	s.trunkWith("+12025550199", second.port, "udp", nil)
	id := s.placeCall("+12025550148", s.createWaitingAgent("wait"), nil)
	s.awaitAnswer(id)
	s.api("POST", "/v1/calls/"+id+"/transfer", object{"to": "+12025550199", "mode": "attended", "summary": "Ada is here."})
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, []any{"completed", "transferred"}, []any{call["status"], call["ended_reason"]}, "%v", call)
	h := s.lastTransfer(id)
	assert.Equal(t, []any{"attended", "completed", "api"}, []any{h["mode"], h["status"], h["by"]})
	referred := regexp.MustCompile(`(?mi)^Refer-To: *<[^>?]+\?Replaces=([^>]+)>`).FindStringSubmatch(first.log())
	require.NotNil(t, referred, "the REFER names the call to replace")
	named, err := url.PathUnescape(referred[1])
	require.NoError(t, err)
	assert.Equal(t, second.inboundDialog(), named, "the call between the service and the second phone")
	s.await("the phones' own call", 20*time.Second, func() bool { return len(inviteMessages.FindAllString(second.log(), -1)) == 2 })
	calls := inviteMessages.FindAllString(second.log(), -1)
	assert.Contains(t, calls[1], "<sip:+12025550148@", "the first phone has called the second")
	s.await("a BYE for the consultation call", 20*time.Second, func() bool { return strings.Contains(second.log(), "BYE sip:") })
	assert.Equal(t, 1, strings.Count(second.log(), "BYE sip:"), "the call between the phones continues")
	s.waitForAudio(3 * time.Second)
	second.sendCommand("hangup", "")
	assert.Greater(t, first.audioCorrelation(second), 0.9, "the first phone received the audio of the second")
	assert.Greater(t, second.audioCorrelation(first), 0.9, "the second phone received the audio of the first")
}
