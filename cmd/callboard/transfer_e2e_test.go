package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// createWaitingAgent creates an agent whose pathway begins at the node start. The node "wait" waits a minute for a key.
// The node "hand" transfers the call at once to the only destination.
func (s *service) createWaitingAgent(start string) string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", object{
		"name": "patient", "start": start,
		"nodes": []object{
			{"id": "wait", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 60, "prompt": "Please hold the line."},
			{"id": "hand", "type": "transfer", "prompt": "I connect you.", "destination": "desk", "summary": "A caller."},
			{"id": "back", "type": "end", "prompt": "You are back.", "outcome": "confirmed"},
			{"id": "sorry", "type": "end", "prompt": "Nobody is there.", "outcome": "declined"},
		},
		"edges": []object{
			{"from": "wait", "to": "back", "when": object{"type": "else"}},
			{"from": "hand", "to": "back", "when": object{"type": "success"}},
			{"from": "hand", "to": "sorry", "when": object{"type": "failure"}},
		},
	})
	return s.api("POST", "/v1/agents", object{
		"name": "patient", "pathway_id": p["id"], "transfer": object{"destinations": []object{{"name": "desk", "to": "+12025550199"}}},
	})["id"].(string)
}

func (s *service) awaitAnswer(id string) {
	s.t.Helper()
	s.await("the answer", 20*time.Second, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["status"] == "in_progress" })
}

// lastTransfer returns the last transfer of a call.
func (s *service) lastTransfer(id string) object {
	s.t.Helper()
	all, _ := s.api("GET", "/v1/calls/"+id, nil)["transfers"].([]any)
	if len(all) == 0 {
		return object{}
	}
	return all[len(all)-1].(object)
}

// transferStatuses returns the mode and status of each call.transferred event that the webhook receiver got.
func (s *service) transferStatuses() []string {
	var out []string
	for _, e := range s.receiver.events("call.transferred") {
		var d struct{ Mode, Status string }
		_ = json.Unmarshal(e.Data, &d)
		out = append(out, d.Mode+" "+d.Status)
	}
	return out
}

func TestBlindTransferIsNotifiedAndTraced(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.transferred"}})
	p := startSIPp(t, "uas-refer", "-m", "1")
	s.createTrunk("", p.port)
	id := s.placeCall("+12025550123", s.createWaitingAgent("wait"), nil)
	s.awaitAnswer(id)
	own := s.api("GET", "/v1/dnc-lists", nil)["data"].([]any)[0].(object)["id"].(string)
	status, text, _ := s.tryRequest("POST", "/v1/dnc-lists/"+own+"/entries", "+12025550177\n", "Content-Type", "text/plain")
	require.Less(t, status, 300, "%s", text)
	for _, wrong := range []struct {
		body object
		code int
	}{
		{object{"to": "+12025550177", "mode": "blind"}, 403}, // number on the do-not-call list
		{object{"to": "+12025550199", "destination": "desk"}, 422},
		{object{"destination": "nobody"}, 422},
		{object{"to": "+19005550123", "mode": "blind"}, 403},
		{object{"to": "+1911", "mode": "blind"}, 403},
	} {
		status, text, _ := s.tryRequest("POST", "/v1/calls/"+id+"/transfer", wrong.body)
		assert.Equal(t, wrong.code, status, "%v: %s", wrong.body, text)
	}
	now := s.api("POST", "/v1/calls/"+id+"/transfer", object{"destination": "desk", "mode": "blind"})
	assert.Equal(t, "transferring", now["status"])
	require.NoError(t, <-p.done, "REFER, three NOTIFYs answered, BYE")
	call := s.awaitCallEnd(id, 10*time.Second)
	assert.Equal(t, []any{"completed", "transferred"}, []any{call["status"], call["ended_reason"]})
	h := s.lastTransfer(id)
	assert.Equal(t, []any{"desk", "+12025550199", "blind", "completed", "api"}, []any{h["name"], h["to"], h["mode"], h["status"], h["by"]})
	var steps []string
	for _, step := range h["sip"].([]any) {
		steps = append(steps, fmt.Sprintf("%v %v", step.(object)["method"], step.(object)["code"]))
	}
	assert.Equal(t, []string{"REFER 202", "NOTIFY 100", "NOTIFY 180", "NOTIFY 200"}, steps)
	s.await("the events", 10*time.Second, func() bool { return len(s.transferStatuses()) == 2 })
	assert.Equal(t, []string{"blind in_progress", "blind completed"}, s.transferStatuses())
	s.checkSIPTrace(id)
}

// checkSIPTrace checks the SIP trace of a transferred call in its three formats, and the events of the call.
func (s *service) checkSIPTrace(id string) {
	t := s.t
	t.Helper()
	trace := s.api("GET", "/v1/calls/"+id+"/sip", nil)
	var lines []string
	for _, m := range trace["messages"].([]any) {
		line, _ := m.(object)["start_line"].(string)
		first, rest, _ := strings.Cut(line, " ")
		if first == "SIP/2.0" {
			first, _, _ = strings.Cut(rest, " ")
		}
		lines = append(lines, m.(object)["direction"].(string)+" "+first)
	}
	assert.Subset(t, lines, []string{"sent INVITE", "received 180", "received 200", "sent ACK", "sent REFER", "received 202", "received NOTIFY", "sent BYE"})
	status, ladder, head := s.tryRequest("GET", "/v1/calls/"+id+"/sip?format=ladder", nil)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, head.Get("Content-Type"), "text/plain")
	assert.Contains(t, string(ladder), " REFER ")
	status, capture, _ := s.tryRequest("GET", "/v1/calls/"+id+"/sip?format=pcap", nil)
	assert.Equal(t, http.StatusOK, status)
	file := filepath.Join(t.TempDir(), "call.pcap")
	require.NoError(t, os.WriteFile(file, capture, 0o600))
	out, err := exec.Command("tshark", "-r", file, "-d", fmt.Sprintf("udp.port==%d,sip", s.sip), "-Y", "sip", "-T", "fields", "-e", "frame.number").Output()
	require.NoError(t, err, "tshark must be installed: make tools")
	assert.Len(t, strings.Fields(string(out)), len(lines), "tshark recognizes every message as SIP")
	page := s.api("GET", "/v1/calls/"+id+"/events?limit=3", nil)
	seen := len(page["data"].([]any))
	assert.Equal(t, true, page["has_more"])
	for page["has_more"] == true {
		page = s.api("GET", "/v1/calls/"+id+"/events?cursor="+page["next_cursor"].(string), nil)
		seen += len(page["data"].([]any))
		for _, e := range page["data"].([]any) {
			assert.Equal(t, id, e.(object)["subject"])
		}
	}
	assert.GreaterOrEqual(t, seen, 6)
}

func TestFailedTransferReturnsCaller(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.transferred"}})
	caller, desk := startSIPp(t, "uas-answer"), startSIPp(t, "uas-busy")
	s.createTrunk("", caller.port)
	s.createTrunk("+1202555019", desk.port)
	id := s.placeCall("+12025550123", s.createWaitingAgent("hand"), nil)
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, []any{"declined", "agent"}, []any{call["disposition"], call["ended_by"]}, "the call took the failure edge: %v", call)
	h := s.lastTransfer(id)
	assert.Equal(t, []any{"bridge", "failed", "busy", "agent"}, []any{h["mode"], h["status"], h["reason"], h["by"]})
	legs := call["legs"].([]any)
	require.Len(t, legs, 2)
	assert.Equal(t, []any{486.0, "transfer"}, []any{legs[1].(object)["code"], legs[1].(object)["role"]})
	s.await("the events", 10*time.Second, func() bool { return len(s.transferStatuses()) == 2 })
	assert.Equal(t, []string{"bridge in_progress", "bridge failed"}, s.transferStatuses())
}

// bestPieceCorrelation returns the best correlation of piece with any part of the recording all.
func bestPieceCorrelation(piece, all []float64) (best float64) {
	for at := 0; at+len(piece) <= len(all); at += 2 {
		if c := sampleCorrelation(piece, all[at:at+len(piece)], 7); c > best {
			best = c
		}
	}
	return best
}

// endCorrelation searches for pieces of the last seconds of sound in the recording all, and returns the best correlation.
// It tries several pieces, because on a busy machine some of them have gaps.
func endCorrelation(sound, all []float64) (best float64) {
	for back := sampleRate; back <= 5*sampleRate/2 && best <= 0.9; back += sampleRate / 2 {
		best = max(best, bestPieceCorrelation(sound[len(sound)-back:len(sound)-back+sampleRate/4], all))
	}
	return best
}

func TestBridgeForwardsAndRecordsAudioOfBothPhones(t *testing.T) {
	t.Parallel()
	s := newService(t)
	caller, desk := startBaresip(t, "+12025550123"), startBaresip(t, "+12025550199")
	s.trunkWith("+12025550123", caller.port, "udp", nil)
	s.trunkWith("+12025550199", desk.port, "udp", nil)
	id := s.placeCall("+12025550123", s.createWaitingAgent("hand"), nil)
	s.await("the bridge", 30*time.Second, func() bool { return s.lastTransfer(id)["status"] == "connected" })
	assert.Equal(t, "in_progress", s.api("GET", "/v1/calls/"+id, nil)["status"])
	var at time.Duration
	s.await("three seconds of audio", 10*time.Second, func() bool { at += 20 * time.Millisecond; return at >= 3*time.Second })
	desk.sendCommand("hangup", "")
	call := s.awaitCallEnd(id, 30*time.Second)
	assert.Equal(t, []any{"confirmed", "agent"}, []any{call["disposition"], call["ended_by"]}, "the caller returned to the agent: %v", call)
	assert.Equal(t, "returned", s.lastTransfer(id)["status"])

	wav := s.saveRecording(id)
	left, right := readSamples(t, wav, 1), readSamples(t, wav, 2)
	heard := desk.recordedAudio("dec")
	require.Greater(t, len(heard), 3*sampleRate)
	assert.Greater(t, endCorrelation(heard, caller.recordedAudio("enc")), 0.9, "the desk received the caller's audio")
	assert.Greater(t, endCorrelation(heard, left), 0.9, "the left channel of the recording has the caller")
	deskAudio := desk.recordedAudio("enc")
	assert.Greater(t, endCorrelation(deskAudio, right), 0.9, "the right channel has the desk")
	assert.Greater(t, endCorrelation(deskAudio, caller.recordedAudio("dec")), 0.9, "the caller received the desk's audio")

	speakers := map[string]bool{}
	s.await("the transcript", 20*time.Second, func() bool {
		code, text, _ := s.tryRequest("GET", "/v1/calls/"+id+"/transcript", nil)
		var got struct{ Segments []struct{ Speaker string } }
		_ = json.Unmarshal(text, &got)
		for _, g := range got.Segments {
			speakers[g.Speaker] = true
		}
		return code == http.StatusOK
	})
	assert.True(t, speakers["human"] && speakers["agent"], "%v", speakers)
}

func TestCrashDuringTransferLeavesNoDialog(t *testing.T) {
	t.Parallel()
	s := newService(t)
	caller, desk := startSIPp(t, "uas-answer-logged"), startSIPp(t, "uas-answer-logged")
	s.createTrunk("", caller.port)
	s.createTrunk("+1202555019", desk.port)
	id := s.placeCall("+12025550123", s.createWaitingAgent("hand"), nil)
	s.await("the bridge", 30*time.Second, func() bool { return s.lastTransfer(id)["status"] == "connected" })
	s.kill9()
	s.start()
	s.await("a BYE to both parties", 20*time.Second, func() bool { return caller.countLines("END") == 1 && desk.countLines("END") == 1 })
	call := s.awaitCallEnd(id, 20*time.Second)
	assert.Equal(t, []any{"failed", "interrupted"}, []any{call["status"], call["ended_reason"]})
	h := s.lastTransfer(id)
	assert.Equal(t, []any{"failed", "interrupted"}, []any{h["status"], h["reason"]}, "the record tells")
}
