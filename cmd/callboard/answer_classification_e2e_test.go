package main_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// createAMDAgent creates an agent that waits for the answer classification and leaves a message on answering machines.
func (s *service) createAMDAgent() string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", object{
		"name": "mindful", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "length": 1, "timeout_seconds": 12, "values": []string{"1"}, "prompt": "Please press one."},
			{"id": "yes", "type": "end", "outcome": "confirmed"},
			{"id": "none", "type": "end"},
		},
		"edges": []object{
			{"from": "ask", "to": "yes", "when": object{"type": "dtmf", "digits": "1"}},
			{"from": "ask", "to": "none", "when": object{"type": "else"}},
		},
	})
	amd := object{"mode": "wait", "voicemail_action": "leave_message", "message": "This is a message for {{name}}. Please call us back."}
	return s.api("POST", "/v1/agents", object{"name": "mindful", "pathway_id": p["id"], "amd": amd})["id"].(string)
}

func TestMachineGetsMessageAfterBeepAndHumanGetsConversation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.key = s.testKey()
	agent := s.createAMDAgent()
	call := func(to string) string {
		return s.api("POST", "/v1/calls/outbound", object{"to": to, "agent_id": agent, "context": object{"name": "Ada"}})["id"].(string)
	}
	machine, person := call("+15005550003"), call("+15005550000")
	c := s.awaitCallEnd(person, time.Minute)
	assert.Equal(t, []any{"human", "confirmed", "completed"}, []any{c["answered_by"], c["disposition"], c["ended_reason"]}, "%v", c)
	c = s.awaitCallEnd(machine, time.Minute)
	assert.Equal(t, []any{"voicemail", "voicemail", "completed", "agent"}, []any{c["answered_by"], c["disposition"], c["ended_reason"], c["ended_by"]}, "%v", c)

	for id, by := range map[string]string{person: "human", machine: "voicemail"} {
		var decided []any
		for _, e := range s.api("GET", "/v1/calls/"+id+"/events", nil)["data"].([]any) {
			if e.(object)["type"] == "call.answered_by" {
				decided = append(decided, e.(object)["data"].(object)["answered_by"])
			}
		}
		assert.Equal(t, []any{by}, decided, "an event tells of the decision")
	}

	path := s.saveRecording(machine)
	heard, agentAudio := readSamples(t, path, 1), readSamples(t, path, 2)
	beep, run := -1, 0 // beep is the end of the beep in samples; a gap in the tone means that the machine was suspended
	for i := 0; i+sampleRate/50 <= len(heard) && beep < 0; i += sampleRate / 50 {
		switch {
		case pitchShare(heard[i:i+sampleRate/50], 1000) > 0.8:
			run++
		case run >= 4:
			beep = i
		default:
			run = 0
		}
	}
	require.Positive(t, beep, "the recording contains the beep")
	segments := s.api("GET", "/v1/calls/"+machine+"/transcript", nil)["segments"].([]any)
	require.NotEmpty(t, segments)
	last := segments[len(segments)-1].(object)
	assert.Equal(t, []any{"agent", "This is a message for Ada. Please call us back.", false}, []any{last["speaker"], last["text"], last["interrupted"]})
	from, to := int(last["start_ms"].(float64))*sampleRate/1000, int(last["end_ms"].(float64))*sampleRate/1000
	assert.GreaterOrEqual(t, from, beep, "the message begins after the beep")
	assert.Greater(t, to-from, sampleRate, "the message is played to its end")
	assert.Greater(t, rmsPower(agentAudio[max(from, beep):min(to, len(agentAudio))]), 300.0, "the recording contains the message")
}

// pitchShare returns which part of the power of the audio lies at a frequency.
func pitchShare(sound []float64, hertz float64) float64 {
	var re, im, all float64
	for i, v := range sound {
		x := 2 * math.Pi * hertz * float64(i) / sampleRate
		re, im, all = re+v*math.Cos(x), im+v*math.Sin(x), all+v*v
	}
	if all < 1e7 {
		return 0
	}
	return 2 * (re*re + im*im) / float64(len(sound)) / all
}
