package main_test

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// createBranchingAgent creates an agent that waits a minute for a key: 7 confirms, any other key declines.
func (s *service) createBranchingAgent(transfer object) string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", object{
		"name": "branches", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 60, "save_as": "key", "prompt": "Please press seven."},
			{"id": "yes", "type": "end", "outcome": "confirmed"},
			{"id": "no", "type": "end", "outcome": "declined"},
		},
		"edges": []object{
			{"from": "ask", "to": "yes", "when": object{"type": "dtmf", "digits": "7"}},
			{"from": "ask", "to": "no", "when": object{"type": "else"}},
		},
	})
	return s.api("POST", "/v1/agents", object{"name": "branches", "pathway_id": p["id"], "transfer": transfer})["id"].(string)
}

// cseqHeader matches the CSeq header of a SIP message.
var cseqHeader = regexp.MustCompile(`(?mi)^CSeq:.*$`)

// countReinvites counts the distinct INVITEs that the remote party has sent within a call, and returns the time of
// the last one.
func (s *service) countReinvites(id string) (n int, last time.Time) {
	s.t.Helper()
	seen := map[string]bool{}
	for _, m := range s.api("GET", "/v1/calls/"+id+"/sip", nil)["messages"].([]any) {
		line, _ := m.(object)["start_line"].(string)
		if m.(object)["direction"] == "received" && strings.HasPrefix(line, "INVITE ") {
			text, _ := m.(object)["message"].(string)
			place := cseqHeader.FindString(text)
			if seen[place] {
				continue
			}
			seen[place] = true
			n++
			last, _ = time.Parse(time.RFC3339Nano, m.(object)["at"].(string))
		}
	}
	return n, last
}

// rmsPower returns the root mean square of audio samples.
func rmsPower(pcm []float64) float64 {
	return math.Sqrt(dotProduct(pcm, pcm) / max(float64(len(pcm)), 1))
}

func TestBaresipHoldsAndResumesCall(t *testing.T) {
	t.Parallel()
	s := newService(t)
	agent := s.createBranchingAgent(object{})
	for name, c := range map[string]struct{ number, encryption, srtp string }{
		"in the clear": {"+12025550141", "", "off"},
		"encrypted":    {"+12025550142", ";mediaenc=srtp-mand", "required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startBaresipWithAccount(t, "<sip:"+c.number+"@127.0.0.1>;regint=0"+c.encryption)
			s.trunkWith(c.number, p.port, "udp", object{"srtp": c.srtp, "srtp_keys_in_clear": true})
			id := s.placeCall(c.number, agent, object{"record": true})
			s.awaitAnswer(id)
			say := func() int {
				code, _, _ := s.tryRequest("POST", "/v1/calls/"+id+"/say", object{"text": "This is said to nobody but you, and it takes a while to say it."})
				return code
			}
			p.sendCommand("hold", "")
			s.await("the phone's hold", 20*time.Second, func() bool { n, _ := s.countReinvites(id); return n == 1 })
			_, held := s.countReinvites(id)
			s.await("a rejected say request on hold", 10*time.Second, func() bool { return say() == http.StatusConflict })
			s.await("three seconds on hold", 20*time.Second, func() bool { return time.Since(held) > 3*time.Second })
			assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"], "the call survives")
			p.sendCommand("resume", "")
			s.await("the re-INVITE that ends the hold", 20*time.Second, func() bool { n, _ := s.countReinvites(id); return n == 2 })
			_, back := s.countReinvites(id)
			s.await("an accepted say request", 10*time.Second, func() bool { return say() < 300 })
			s.await("two seconds of talk", 20*time.Second, func() bool { return time.Since(back) > 2*time.Second })
			p.pressKey("7")
			call := s.awaitCallEnd(id, 30*time.Second)
			require.Equal(t, "confirmed", call["disposition"], "%v", call)
			quality := call["quality"].(object)
			assert.Zero(t, quality["packets_refused"])

			answered, err := time.Parse(time.RFC3339Nano, call["answered_at"].(string))
			require.NoError(t, err)
			right := readSamples(t, s.saveRecording(id), 2)
			at := func(when time.Time) int { return min(max(int(when.Sub(answered).Seconds()*sampleRate), 0), len(right)) }
			quiet, talk := right[at(held)+sampleRate/2:at(back)-sampleRate/2], right[at(back):]
			require.Greater(t, len(quiet), sampleRate)
			assert.Less(t, rmsPower(quiet), 50.0, "the recording is silent for the duration of the hold")
			assert.Greater(t, rmsPower(talk), 300.0, "the recording has the speech after the hold at the right time")
			assert.Less(t, quality["packets_sent"].(float64), float64(len(right)/160)-100, "the service sends no RTP on hold")
		})
	}
}

// chordTone returns a sound that no phone of the tests makes.
func chordTone(seconds float64) []int16 {
	out := make([]int16, int(seconds*sampleRate))
	for i := range out {
		t := float64(i) / sampleRate
		out[i] = int16(5000 * (0.7 + 0.3*math.Sin(2*math.Pi*t)) * (math.Sin(2*math.Pi*310*t) + math.Sin(2*math.Pi*415*t)))
	}
	return out
}

func TestBridgedPartyOnHoldHearsMusic(t *testing.T) {
	t.Parallel()
	s := newService(t)
	require.NoError(t, os.WriteFile(filepath.Join(s.dataFolder(), "prompts", "waiting.wav"), encodeWAV(chordTone(2)), 0o600))
	piece := make([]float64, sampleRate/4)
	for i, v := range chordTone(0.25) {
		piece[i] = float64(v)
	}
	for name, numbers := range map[string][2]string{"the desk holds": {"+12025550145", "+12025550198"}, "the caller holds": {"+12025550146", "+12025550199"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller, desk := startBaresip(t, numbers[0]), startBaresip(t, numbers[1])
			s.trunkWith(numbers[0], caller.port, "udp", nil)
			s.trunkWith(numbers[1], desk.port, "udp", nil)
			agent := s.createBranchingAgent(object{"destinations": []object{{"name": "desk", "to": numbers[1]}}, "hold_music": "wav:waiting.wav"})
			id := s.placeCall(numbers[0], agent, object{"record": true})
			s.awaitAnswer(id)
			s.api("POST", "/v1/calls/"+id+"/transfer", object{"destination": "desk"})
			s.await("the bridge", 30*time.Second, func() bool { return s.lastTransfer(id)["status"] == "connected" })
			holder, held, channel := desk, caller, 2
			if name == "the caller holds" {
				holder, held, channel = caller, desk, 1
			}
			holder.sendCommand("hold", "")
			s.await("two seconds on hold", 20*time.Second, func() bool { n, at := s.countReinvites(id); return n == 1 && time.Since(at) > 2*time.Second })
			holder.sendCommand("resume", "")
			s.await("two seconds of talk", 20*time.Second, func() bool { n, at := s.countReinvites(id); return n == 2 && time.Since(at) > 2*time.Second })
			s.api("POST", "/v1/calls/"+id+"/hangup", nil)
			s.awaitCallEnd(id, 30*time.Second)

			heard := held.recordedAudio("dec")
			require.Greater(t, len(heard), 3*sampleRate)
			assert.Greater(t, bestPieceCorrelation(piece, heard[:len(heard)-3*sampleRate/2]), 0.9, "the held party hears the music")
			assert.Less(t, bestPieceCorrelation(piece, heard[len(heard)-sampleRate:]), 0.5, "the music stops after the hold")
			if recorded := readSamples(t, s.saveRecording(id), channel); channel == 2 {
				assert.Greater(t, bestPieceCorrelation(piece, recorded), 0.9, "the recording has the music")
			} else {
				assert.Less(t, bestPieceCorrelation(piece, recorded), 0.5, "the recording of the other side has no music")
			}
		})
	}
}

func TestDTMFBySIPInfoSelectsBranch(t *testing.T) {
	t.Parallel()
	s := newService(t)
	p := startSIPp(t, "uas-info-branch", "-m", "1")
	s.trunkWith("+1202555", p.port, "udp", nil)
	call := s.awaitCallEnd(s.placeCall("+12025550143", s.createBranchingAgent(object{}), nil), 30*time.Second)
	require.NoError(t, <-p.done)
	assert.Equal(t, []any{"confirmed", object{"key": "7"}}, []any{call["disposition"], call["variables"]}, "%v", call)
}

func TestBaresipTransfersAgentToBaresip(t *testing.T) {
	t.Parallel()
	s := newService(t)
	first, second := startBaresip(t, "+12025550144"), startBaresip(t, "+12025550199")
	s.trunkWith("+12025550144", first.port, "udp", nil)
	s.trunkWith("+12025550199", second.port, "udp", nil)
	id := s.placeCall("+12025550144", s.createBranchingAgent(object{"accept_refer": true}), nil)
	s.awaitAnswer(id)
	first.sendCommand("transfer", "sip:+12025550199@127.0.0.1")
	s.await("the transfer to the second phone", 30*time.Second, func() bool { return s.lastTransfer(id)["status"] == "completed" })
	s.await("the first phone to hang up", 20*time.Second, func() bool {
		legs := s.api("GET", "/v1/calls/"+id, nil)["legs"].([]any)
		return len(legs) == 2 && legs[0].(object)["ended_at"] != nil
	})
	second.pressKey("7")
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, "confirmed", call["disposition"], "the agent receives the key of the second phone: %v", call)
}

func TestEarlyMediaDoesNotAffectCall(t *testing.T) {
	t.Parallel()
	s := newService(t)
	early, desk := startSIPp(t, "uas-early", "-rtp_echo"), startSIPp(t, "uas-early", "-rtp_echo")
	s.trunkWith("+1202555014", early.port, "udp", nil)
	s.trunkWith("+1202555019", desk.port, "udp", nil)
	id := s.placeCall("+12025550145", s.createWaitingAgent("hand"), nil)
	s.await("the bridge", 30*time.Second, func() bool { return s.lastTransfer(id)["status"] == "connected" })
	var steps []any
	for _, step := range s.lastTransfer(id)["sip"].([]any) {
		steps = append(steps, step.(object)["code"])
	}
	assert.Contains(t, steps, 183.0)
	assert.InDelta(t, 200.0, steps[len(steps)-1], 0)
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, "completed", call["status"], "%v", call)
	quality := call["quality"].(object)
	assert.Greater(t, quality["packets_received"], 10.0, "the service receives the audio of both early dialogs and of the answer")
	assert.Zero(t, quality["packets_refused"])
}
