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

// A phone that has called another one hands the agent to it: REFER with
// Replaces to us, INVITE with Replaces from us, and each of them sees on its
// wire what it has to.
func TestAttendedTransferByReferWithReplacesFromPhone(t *testing.T) {
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
func TestAgentIsTargetOfAttendedTransfer(t *testing.T) {
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

var (
	phoneCalls = regexp.MustCompile(`(?m)^INVITE [^\r]*\r?\n(?:[^\r\n]+\r?\n)*`)
	fromTag    = regexp.MustCompile(`(?mi)^From:[^\r\n]*;tag=([^\s;]+)`)
	toTag      = regexp.MustCompile(`(?mi)^To:[^\r\n]*;tag=([^\s;]+)`)
	callIDs    = regexp.MustCompile(`(?mi)^Call-ID: *(\S+)`)
	replacing  = regexp.MustCompile(`(?mi)^Replaces: *(\S+)`)
)

// dialog is the phone's first call that came in, as a Replaces names it that is
// sent to the phone.
func (p *phone) dialog() string {
	p.t.Helper()
	_, rest, _ := strings.Cut(p.log(), "INVITE sip:")
	_, answer, answered := strings.Cut(rest, "SIP/2.0 200 ")
	call, from, to := callIDs.FindStringSubmatch(rest), fromTag.FindStringSubmatch(rest), toTag.FindStringSubmatch(answer)
	if !answered || call == nil || from == nil || to == nil {
		return ""
	}
	return call[1] + ";to-tag=" + to[1] + ";from-tag=" + from[1]
}

// Two softphones: the one whom the agent called asks the other one first and then
// hands the agent over, by REFER with Replaces of the call between the two. This
// baresip reads no Replaces: what its user would see replaced he ends himself.
func TestBaresipTransfersAgentToBaresipAfterConsultation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.transferred"}})
	first, second := baresip(t, "+12025550147"), baresip(t, "+12025550199")
	second.useReversedTone()
	s.trunkWith("+12025550147", first.port, "udp", nil)
	s.trunkWith("+12025550199", second.port, "udp", nil)
	id := s.outbound("+12025550147", s.branches(object{"accept_refer": true}), nil)
	s.inProgress(id)
	first.command("dial", "sip:+12025550199@127.0.0.1:"+strconv.Itoa(second.port))
	var between string
	s.await("the phones' own call", 20*time.Second, func() bool { between = second.dialog(); return between != "" })
	s.await("its caller to know", 20*time.Second, func() bool { return strings.Contains(first.log(), "ACK sip:+12025550199") }) // or it would take that line again
	first.command("line", "1")                                                                                                  // back to the agent
	first.command("transfer", "<sip:+12025550199@127.0.0.1?Replaces="+url.QueryEscape(between)+">")
	s.await("the other has the agent", 30*time.Second, func() bool { return s.handed(id)["status"] == "completed" })
	asked := replacing.FindStringSubmatch(second.log())
	require.NotNil(t, asked, "the service says what its call replaces")
	assert.Equal(t, between, asked[1])
	s.await("the first has left", 20*time.Second, func() bool {
		legs := s.api("GET", "/v1/calls/"+id, nil)["legs"].([]any)
		return len(legs) == 2 && legs[0].(object)["ended_at"] != nil
	})
	assert.Equal(t, []any{"attended", "remote", "+12025550199"}, []any{s.handed(id)["mode"], s.handed(id)["by"], s.handed(id)["to"]})
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"])
	first.command("hangup", "") // the call between the two
	s.await("the end of the call that was replaced", 20*time.Second, func() bool { return strings.Contains(second.log(), "BYE sip:") })
	s.api("POST", "/v1/calls/"+id+"/say", object{"text": "Hello second phone, the agent speaks to you now."})
	s.talk(3 * time.Second)
	second.press("7")
	call := s.ended(id, 30*time.Second)
	assert.Equal(t, "confirmed", call["disposition"], "the agent hears the other phone: %v", call)
	s.await("the events", 10*time.Second, func() bool { return len(s.transferStatuses()) >= 2 })
	assert.Equal(t, []string{"attended in_progress", "attended completed"}, s.transferStatuses())
	wav, best := s.recording(id), 0.0
	left, right := samples(t, wav, 1), samples(t, wav, 2)
	for _, sent := range second.recordings("enc") {
		if len(sent) > 5*rate/2 {
			best = max(best, endOf(sent, left))
		}
	}
	assert.Greater(t, best, 0.9, "the agent heard the tone of the second phone")
	best = 0
	for _, heard := range second.recordings("dec") {
		best = max(best, soundsIn(loudestWindow(right[len(right)/2:]), heard))
	}
	assert.Greater(t, best, 0.9, "the second phone heard the agent")
}

// The agent asks the one phone and then sends the other one there: the service
// is out of the call, and the two talk.
func TestAgentTransfersBaresipToBaresipAfterConsultation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	first, second := baresip(t, "+12025550148"), baresip(t, "+12025550199")
	second.useReversedTone()
	s.trunkWith("+12025550148", first.port, "udp", nil)
	s.trunkWith("+12025550199", second.port, "udp", nil)
	id := s.outbound("+12025550148", s.patient("wait"), nil)
	s.inProgress(id)
	s.api("POST", "/v1/calls/"+id+"/transfer", object{"to": "+12025550199", "mode": "attended", "summary": "Ada is here."})
	call := s.ended(id, 30*time.Second)
	assert.Equal(t, []any{"completed", "transferred"}, []any{call["status"], call["ended_reason"]}, "%v", call)
	h := s.handed(id)
	assert.Equal(t, []any{"attended", "completed", "api"}, []any{h["mode"], h["status"], h["by"]})
	referred := regexp.MustCompile(`(?mi)^Refer-To: *<[^>?]+\?Replaces=([^>]+)>`).FindStringSubmatch(first.log())
	require.NotNil(t, referred, "REFER names the call to take over")
	named, err := url.PathUnescape(referred[1])
	require.NoError(t, err)
	assert.Equal(t, second.dialog(), named, "which is ours with the other one, as he knows it")
	s.await("the phones' own call", 20*time.Second, func() bool { return len(phoneCalls.FindAllString(second.log(), -1)) == 2 })
	calls := phoneCalls.FindAllString(second.log(), -1)
	assert.Contains(t, calls[1], "<sip:+12025550148@", "the first phone has called the second")
	s.await("the end of our call to it", 20*time.Second, func() bool { return strings.Contains(second.log(), "BYE sip:") })
	assert.Equal(t, 1, strings.Count(second.log(), "BYE sip:"), "the other goes on without us")
	s.talk(3 * time.Second)
	second.command("hangup", "")
	assert.Greater(t, first.audioCorrelation(second), 0.9, "the first phone heard the second")
	assert.Greater(t, second.audioCorrelation(first), 0.9, "and the second the first")
}
