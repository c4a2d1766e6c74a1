package main_test

import (
	bin "encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
)

const surviveCalls = "CALLBOARD_SURVIVE_CALLS=true"

// awaitSpeaking waits until a call is answered, so that the agent speaks.
func (s *service) awaitSpeaking(id string) {
	s.t.Helper()
	s.await("the answer", 20*time.Second, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["status"] == "in_progress" })
}

// countResumedCalls returns the number of resumed calls in the log.
func (s *service) countResumedCalls() int {
	return strings.Count(s.logText(), "call of an earlier process resumed")
}

// transcriptText returns the lines of a call's transcript.
func (s *service) transcriptText(id string) string {
	s.t.Helper()
	return s.api("GET", "/v1/calls/"+id+"/transcript", nil)["text"].(string)
}

func TestCallWithBaresipResumesAfterProcessKill(t *testing.T) {
	t.Parallel()
	s := newService(t, surviveCalls)
	const number = "+12025550124"
	p := startBaresip(t, number)
	s.createTrunk("", p.port)
	id := s.placeCall(number, s.createMenuAgent(), object{"record": true})
	s.awaitSpeaking(id)
	s.await("audio at the phone", 20*time.Second, p.hasHeardAudio)
	<-time.After(1500 * time.Millisecond) // the recording is flushed every half second
	s.kill9()
	s.start()
	s.await("the call to resume", 10*time.Second, func() bool { return s.countResumedCalls() == 1 })
	<-time.After(1500 * time.Millisecond) // the phone receives the prompt again
	p.pressKey("1")
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, "confirmed", call["disposition"], "%v", call)
	assert.Equal(t, object{"answer": "1"}, call["variables"])
	assert.Regexp(t, `^agent: Press one or two\.\nagent: Press .*\ncaller: \[pressed 1\]$`, s.transcriptText(id), "the agent repeats the question, which the key may interrupt")
	agent, phone := readSamples(t, s.saveRecording(id), 2), p.recordedAudio("dec")
	long := call["duration_seconds"].(float64)
	assert.InDelta(t, long, float64(len(agent))/sampleRate, 1.1, "the recording is as long as the call")
	half := len(agent) / 4
	assert.Positive(t, countAudibleSamples(agent[:half]), "the recording contains the audio before the kill")
	assert.Positive(t, countAudibleSamples(agent[half:]), "and afterwards")
	assert.Positive(t, countAudibleSamples(phone), "the phone received the audio")
}

// hasHeardAudio reports whether the phone has received audible audio.
func (p *softphone) hasHeardAudio() bool { return p.loudSamples() > 500 }

// loudSamples counts the loud samples that the phone has received.
func (p *softphone) loudSamples() (loud int) {
	for _, file := range p.recordingFiles("dec") {
		if text, err := os.ReadFile(file); err == nil && len(text) > 44 {
			for i := 44; i+1 < len(text); i += 2 {
				if v := int16(bin.LittleEndian.Uint16(text[i:])); v > 2000 || v < -2000 {
					loud++
				}
			}
		}
	}
	return loud
}

// countAudibleSamples counts the samples that are not silence.
func countAudibleSamples(sound []float64) (n int) {
	for _, v := range sound {
		if v > 0.05 || v < -0.05 {
			n++
		}
	}
	return n
}

func TestCallsResumeAfterKillIfPeerAcceptsReinvite(t *testing.T) {
	t.Parallel()
	goes, forgets := startSIPp(t, "uas-taken-up", "-trace_msg", "-message_file", "messages"), startSIPp(t, "uas-forgets")
	s := newRaceFreeService(t, surviveCalls)
	s.removeLimits()
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.*"}})
	from := s.createTrunk("+1202", goes.port)
	s.createTrunk("+1303", forgets.port)
	agent := s.createWaitingAgent("wait")
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": agent, "trunk_id": from})
	inbound := startSIPpCaller(t, "uac-taken-up", "-m", "1", "-s", "+12025550142", "127.0.0.1:"+strconv.Itoa(s.sip))
	saved := []string{s.placeCall("+12025550101", agent, nil), s.placeCall("+12025550102", agent, nil)}
	lost := s.placeCall("+13035550101", agent, nil)
	campaign := s.startCampaign(agent, []string{"+12025550103"}, nil)
	for _, id := range append(saved, lost) {
		s.awaitSpeaking(id)
	}
	s.await("five live calls", 20*time.Second, func() bool {
		n := 0
		for _, c := range s.listData("/v1/calls?status=active") {
			if c.(object)["status"] == "in_progress" {
				n++
			}
		}
		return n == 5
	})
	<-time.After(time.Second)
	s.kill9()
	s.start()
	s.await("four calls to resume", 20*time.Second, func() bool { return s.countResumedCalls() == 4 })
	gone := s.awaitCallEnd(lost, 20*time.Second)
	assert.Equal(t, "interrupted", gone["ended_reason"], "%v", gone)
	assert.Len(t, s.listData("/v1/calls?status=active"), 4, "the permit of the ended call is free")
	st, _ := s.campaignStatus(campaign)
	assert.Equal(t, 1, st.Progress.InProgress, "the campaign has its live call")
	for _, c := range s.listData("/v1/calls?status=active") {
		s.api("POST", "/v1/calls/"+c.(object)["id"].(string)+"/hangup", nil)
	}
	for _, id := range saved {
		call := s.awaitCallEnd(id, 20*time.Second)
		assert.Equal(t, "hangup", call["ended_reason"], "%v", call)
		invites := slices.DeleteFunc(s.sipFirstLines(id), func(word string) bool { return word != "INVITE" })
		assert.Len(t, invites, 2, "the SIP trace has the messages before and after the kill")
	}
	require.NoError(t, <-inbound.done, "the inbound call continues too")
	s.awaitCampaignEnd(campaign, 30*time.Second)
	for number, n := range goes.inviteCounts() {
		assert.Equal(t, 1, n, "%s was called more than once", number)
	}
	s.await("five end events", 20*time.Second, func() bool { return len(s.receiver.events("call.ended")) == 5 })
}

func TestCallEndsWithProcessWithoutSurviveCalls(t *testing.T) {
	t.Parallel()
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	s := newRaceFreeService(t)
	s.removeLimits()
	s.createTrunk("", answer.port)
	id := s.placeCall("+12025550101", s.createWaitingAgent("wait"), nil)
	s.awaitSpeaking(id)
	s.kill9()
	s.start()
	assert.Equal(t, "interrupted", s.awaitCallEnd(id, 20*time.Second)["ended_reason"])
	s.await("the BYE of the call", 20*time.Second, func() bool { return strings.Contains(answer.messages(), "BYE sip:") })
	assert.Equal(t, 1, strings.Count(answer.messages(), "\nINVITE sip:"))
	assert.Zero(t, s.countResumedCalls())
}

// The node of a call is killed or paused for longer than its lease lasts. Another node must resume the call, and the
// paused node must not end the resumed call.
func TestCallWithBaresipMovesToAnotherNode(t *testing.T) {
	t.Parallel()
	for what, strike := range map[string]func(*service) (heal func()){
		"killed": func(s *service) func() { s.kill9(); return func() {} },
		"stands still": func(s *service) func() {
			require.NoError(t, s.cmd.Process.Signal(syscall.SIGSTOP))
			return func() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newNodeCluster(t, 2, surviveCalls)
			number := "+1202555012" + strconv.Itoa(len(what)%10)
			p := startBaresip(t, number)
			first, second := c.activeAndStandby()
			first.createTrunk("", p.port)
			id := first.placeCall(number, first.createMenuAgent(), object{"record": true})
			first.awaitSpeaking(id)
			first.await("audio at the phone", 20*time.Second, p.hasHeardAudio)
			heal := strike(first)
			second.await("the call to resume", 30*time.Second, func() bool { return second.countResumedCalls() == 1 })
			heal()
			if what == "stands still" {
				first.await("the first node to lose its shards", 20*time.Second, func() bool { return strings.Contains(first.logText(), "this node released the shard") })
			}
			<-time.After(time.Second)
			p.pressKey("2")
			call := second.awaitCallEnd(id, 30*time.Second)
			assert.Equal(t, "declined", call["disposition"], "%v", call)
			assert.Equal(t, 1, strings.Count(p.log(), "Call established"), "the phone had one call")
		})
	}
}

// srtpKeyLine matches an SRTP key in an SDP.
var srtpKeyLine = regexp.MustCompile(`a=crypto:\d+ \S+ inline:(\S+)`)

// The node of calls over TLS is killed. Another node must resume the calls over its own connection with new SRTP
// keys. With SRTP, baresip accepts the new key only for media that it sends, so received audio is checked without SRTP.
func TestCallOverTLSMovesToAnotherNode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, who := range []string{"service", "phone"} {
		writeCertificate(t, who, file(who+".pem"), file(who+".key"))
		cert, err := os.ReadFile(file(who + ".pem"))
		require.NoError(t, err)
		key, err := os.ReadFile(file(who + ".key"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file(who+".both"), append(cert, key...), 0o600))
	}
	url, _ := redistest.Start(t)
	c := newNodeClusterInNamespaces(t, 3, func(int) []string { return []string{"CALLBOARD_REDIS_URL=" + url} }, func(_ int, s *service) {
		s.args = append(s.args, "--sip", fmt.Sprintf("127.0.0.1:%d,tls://127.0.0.1:%d", s.sip, s.sip+1))
	}, surviveCalls, "CALLBOARD_SHARDS="+strconv.Itoa(clusterShardCount),
		"CALLBOARD_SIP_TLS_CERT="+file("service.pem"), "CALLBOARD_SIP_TLS_KEY="+file("service.key"), "CALLBOARD_SIP_TLS_CA_FILE="+file("phone.pem"))
	c.awaitEvenShards()
	one := c.createTenants(1)[0]
	first := c.ownerOf(one)
	at := first.withKey(one.key)
	agent := at.createLongMenuAgent()
	phones, ids := make(map[string]*softphone), make(map[string]string)
	for i, srtp := range []string{"off", "required"} {
		number := fmt.Sprint("+1202555018", 7+i)
		account := "<sip:" + number + "@127.0.0.1;transport=tls>;regint=0"
		if srtp == "required" {
			account += ";mediaenc=srtp-mand"
		}
		p := startBaresipWithAccount(t, account, "sip_certificate "+file("phone.both"), "sip_cafile "+file("service.pem"))
		at.trunkWith(number, p.port+1, "tls", object{"srtp": srtp, "caller_ids": []string{"+12025550100"}})
		id := at.placeCall(number, agent, nil)
		at.awaitSpeaking(id)
		at.await("audio at the phone", 20*time.Second, p.hasHeardAudio)
		phones[srtp], ids[srtp] = p, id
	}
	first.kill9()
	second := c.nodes[0]
	if second == first {
		second = c.nodes[1]
	}
	second.await("the calls to resume", time.Minute, func() bool { return c.countResumed() == 2 })
	before := phones["off"].loudSamples()
	second.await("more audio at the phone", 20*time.Second, func() bool { return phones["off"].loudSamples() > before+500 })
	for srtp, p := range phones {
		p.pressKey("1")
		assert.Equal(t, "confirmed", second.withKey(one.key).awaitCallEnd(ids[srtp], 30*time.Second)["disposition"], "srtp %s", srtp)
		assert.Equal(t, 1, strings.Count(p.log(), "Call established"), "the phone had one call")
	}
	keys := make(map[string]bool)
	for _, m := range srtpKeyLine.FindAllStringSubmatch(phones["required"].log(), -1) {
		keys[m[1]] = true
	}
	assert.GreaterOrEqual(t, len(keys), 3, "keys of the phone, of the first node and of the second node")
}
