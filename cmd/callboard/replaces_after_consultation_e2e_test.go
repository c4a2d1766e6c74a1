package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// useReversedTone gives a phone a tone that differs from that of all other phones. It must be called before the phone's
// first call.
func (p *softphone) useReversedTone() {
	p.t.Helper()
	tone := sweepTone(60)
	slices.Reverse(tone)
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, "tone.wav"), encodeWAV(tone), 0o600))
}

// recordings returns the audio of each call of a phone after all calls have ended. kind is enc for the sent audio, dec
// for the received audio.
func (p *softphone) recordings(kind string) (all [][]float64) {
	p.t.Helper()
	var found []string
	require.Eventually(p.t, func() bool {
		found = p.recordingFiles(kind)
		return len(found) > 0 && !slices.ContainsFunc(found, func(path string) bool { return wavState(path) == wavGrowing })
	}, time.Minute, 20*time.Millisecond, "the phone has not closed what it recorded")
	for _, path := range found {
		if wavState(path) == wavComplete {
			all = append(all, readSamples(p.t, path, 1))
		}
	}
	return all
}

// audioCorrelation returns how well the end of the audio that the other phone sent matches the audio that p received.
// It compares all calls of the two phones and returns the best match.
func (p *softphone) audioCorrelation(other *softphone) (best float64) {
	p.t.Helper()
	for _, sent := range other.recordings("enc") {
		for _, heard := range p.recordings("dec") {
			if len(sent) > 5*sampleRate/2 && best <= 0.9 {
				best = max(best, endCorrelation(sent, heard))
			}
		}
	}
	return best
}

// loudestWindow returns the quarter of a second of the audio that has the most energy.
func loudestWindow(sound []float64) []float64 {
	const piece = sampleRate / 4
	at, best := 0, -1.0
	for from := 0; from+piece <= len(sound); from += piece / 2 {
		if e := dotProduct(sound[from:from+piece], sound[from:from+piece]); e > best {
			at, best = from, e
		}
	}
	return sound[at:min(at+piece, len(sound))]
}

// waitForAudio waits for the duration d, so that the phones exchange audio in the call.
func (s *service) waitForAudio(d time.Duration) {
	s.t.Helper()
	begun := time.Now()
	s.await("some talk", d+10*time.Second, func() bool { return time.Since(begun) >= d })
}

// A softphone calls the agent for a consultation, and another phone replaces the softphone by an INVITE with Replaces.
// The agent must continue with the other phone, and the softphone must get a BYE.
func TestInviteWithReplacesAfterBaresipConsultsAgent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	first := startBaresip(t, "+12025550151")
	in := s.createTrunk("+12025550151", first.port)
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createBranchingAgent(object{"accept_refer": true}), "trunk_id": in})
	first.sendCommand("dial", "sip:+12025550142@127.0.0.1:"+strconv.Itoa(s.sip))
	var callID, ours, theirs string
	s.await("the softphone's call", 30*time.Second, func() bool {
		_, invite, _ := strings.Cut(first.log(), "INVITE sip:+12025550142@")
		_, answer, answered := strings.Cut(invite, "SIP/2.0 200 ")
		call, from, to := callIDHeader.FindStringSubmatch(invite), fromTagParam.FindStringSubmatch(invite), toTagParam.FindStringSubmatch(answer)
		if !answered || call == nil || from == nil || to == nil {
			return false
		}
		callID, ours, theirs = call[1], to[1], from[1]
		return true
	})
	id := s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any)[0].(object)["id"].(string)
	s.awaitAnswer(id)
	s.waitForAudio(3 * time.Second)
	second := startSIPpCaller(t, "uac-takes-over", "-m", "1", "-s", "+12025550142", "-key", "replaced", callID, "-key", "ours", ours, "-key", "theirs", theirs, "-d", "500", "127.0.0.1:"+strconv.Itoa(s.sip))
	s.await("a BYE to the softphone", 20*time.Second, func() bool { return strings.Contains(first.log(), "BYE sip:") })
	require.NoError(t, <-second.done)
	call := s.awaitCallEnd(id, 20*time.Second)
	assert.Equal(t, []any{"completed", "remote_hangup"}, []any{call["status"], call["ended_reason"]})
	assert.Equal(t, []any{"attended", "completed", "remote"}, []any{s.lastTransfer(id)["mode"], s.lastTransfer(id)["status"], s.lastTransfer(id)["by"]})
	legs := call["legs"].([]any)
	require.Len(t, legs, 2)
	assert.Equal(t, in, legs[1].(object)["trunk_id"])
	sent := first.recordings("enc")
	require.NotEmpty(t, sent)
	assert.Greater(t, endCorrelation(sent[0], readSamples(t, s.saveRecording(id), 1)), 0.9, "the agent received the audio of the softphone before the transfer")
}
