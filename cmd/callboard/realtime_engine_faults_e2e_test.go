package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/enginetest"
)

// addRealtimeCases adds cases of faulty realtime engines, which convert speech to speech.
func (h *engineFaultSuite) addRealtimeCases() {
	for fault, code := range map[enginetest.Fault]string{
		enginetest.Hangs: "engine_slow", enginetest.Stalls: "engine_stalled", enginetest.Garbage: "engine_garbage",
		enginetest.Drops: "engine_unreachable", enginetest.Refuses: "engine_refused", enginetest.Late: "engine_slow",
	} {
		server := enginetest.New(h.t)
		server.SetFault("realtime", fault)
		name := h.addEngine("live-"+string(fault), "openai", server.URL+"/v1", "realtime: {"+firstTimeoutSetting(fault)+", "+stallTimeoutSetting(fault)+"}")
		h.cases = append(h.cases, engineFaultCase{
			name: name, agent: object{"realtime": object{"engine": name}, "system_prompt": "Be kind.", "tools": []string{"end"}}, script: func(*phoneUser) {},
			wantErrors: []string{"realtime " + code + " true"}, wantSaid: []string{"Fine, goodbye."}, wantOutcome: "confirmed", minVoiceSeconds: 0.7, toneSeconds: [2]float64{0, 0.4},
		})
	}
	const first, second, third = "Good morning, how can I help you?", "On Friday there are a great many times, and I will tell you all of them.", "See you on Friday then."
	server := enginetest.New(h.t)
	server.SetTranscript("I want to come on Friday.")
	server.SetResponses(func(n int, _ string) enginetest.Answer {
		return []enginetest.Answer{
			{Say: first},
			{Say: second},
			{Calls: []enginetest.Call{{ID: "call_1", Name: "transfer_call", Arguments: `{"destination": "+19005550100"}`}}},
			{Say: third, Calls: []enginetest.Call{{ID: "call_2", Name: "end_call", Arguments: `{"outcome": "confirmed"}`}}},
		}[min(n, 3)]
	})
	name := h.addEngine("live", "openai", server.URL+"/v1", "realtime: {}")
	h.cases = append(h.cases, engineFaultCase{
		name: name, agent: object{"realtime": object{"engine": name, "voice": "cedar"}, "system_prompt": "Be kind to {{phone}}.", "first_message": first, "tools": []string{"end"}},
		script: func(o *phoneUser) {
			listenAndAnswer(o)
			o.awaitSpeech(true)
			o.speak(900 * time.Millisecond)
		},
		wantErrors: []string{"llm tool_refused true"}, wantSaid: []string{first, second, third}, wantOutcome: "confirmed", toneSeconds: [2]float64{2.8, 5.5},
		check: func(t *testing.T, call object, segments []any, left, right []float64) {
			h.checkRealtimeCall(t, server, call, segments, left, right)
		},
	})
}

// addMediaStreamCases adds cases of faulty media stream servers, which customers operate as the agent of a call.
func (h *engineFaultSuite) addMediaStreamCases() {
	for fault, code := range map[enginetest.Fault]string{
		enginetest.Hangs: "engine_slow", enginetest.Garbage: "engine_garbage", enginetest.Drops: "engine_unreachable", enginetest.Refuses: "engine_refused",
	} {
		server := enginetest.NewTLS(h.t)
		server.SetFault("media", fault)
		name := h.addEngine("media-"+string(fault), "media-stream", strings.Replace(server.URL, "https", "wss", 1)+"/v1/media", "realtime: {"+firstTimeoutSetting(fault)+"}")
		h.cases = append(h.cases, engineFaultCase{
			name: name, agent: object{"realtime": object{"engine": name}, "system_prompt": "Be kind.", "tools": []string{"end"}}, script: func(*phoneUser) {},
			wantErrors: []string{"realtime " + code + " true"}, wantSaid: []string{"Fine, goodbye."}, wantOutcome: "confirmed", minVoiceSeconds: 0.7, toneSeconds: [2]float64{0, 0.5},
		})
	}
	server := enginetest.NewTLS(h.t)
	name := h.addEngine("media", "media-stream", strings.Replace(server.URL, "https", "wss", 1)+"/v1/media?for=clinic", "realtime: {}")
	h.cases = append(h.cases, engineFaultCase{
		name: name, agent: object{"realtime": object{"engine": name}, "system_prompt": "Be kind."},
		script: func(o *phoneUser) {
			o.awaitSpeech(true)
			o.pressKeys("7")
			o.speak(900 * time.Millisecond)
		},
		wantSaid: []string{"[on the line]"}, wantOutcome: "completed", toneSeconds: [2]float64{1.2, 3.2}, wantErrors: nil,
		check: func(t *testing.T, call object, segments []any, _, _ []float64) {
			t.Helper()
			var lines []string
			for _, x := range segments {
				s := x.(object)
				lines = append(lines, fmt.Sprint(s["speaker"], " ", s["text"], " ", s["interrupted"] == true))
			}
			assert.Equal(t, []string{"agent [on the line] true", "caller [pressed 7] false", "caller [on the line] false", "agent [on the line] false"}, lines)
			messages := strings.Join(server.SentMessages(), "\n")
			assert.Contains(t, messages, `"callSid":"`+call["id"].(string)+`"`)
			assert.Contains(t, messages, `"to":"`+call["to"].(string)+`"`)
			assert.Contains(t, messages, `"dtmf":{"track":"inbound_track","digit":"7"}`)
			assert.Contains(t, messages, `"mark":{"name":"greeted"}`, "the audio was cleared")
			assert.Contains(t, messages, `"mark":{"name":"answered"}`, "the audio was played")
		},
	})
}

// checkRealtimeCall checks a call with a healthy realtime engine.
func (h *engineFaultSuite) checkRealtimeCall(t *testing.T, server *enginetest.Server, call object, segments []any, left, right []float64) {
	t.Helper()
	var lines []string
	for _, x := range segments {
		s := x.(object)
		lines = append(lines, fmt.Sprint(s["speaker"], " ", s["text"], " ", s["interrupted"] == true))
	}
	assert.Equal(t, []string{
		"agent Good morning, how can I help you? false", "caller I want to come on Friday. false",
		"agent On Friday there are a great many times, and I will tell you all of them. true", "caller I want to come on Friday. false",
		"agent See you on Friday then. false",
	}, lines)
	messages := strings.Join(server.SentMessages(), "\n")
	assert.Contains(t, messages, `"output":"error: there is no such tool here"`)
	assert.NotContains(t, messages, `"name":"transfer_call"`, "the tool is not offered to the engine")
	assert.Contains(t, messages, `"voice":"cedar"`)
	var cut struct {
		ItemID string `json:"item_id"`
		EndMs  int    `json:"audio_end_ms"`
	}
	for _, line := range server.SentMessages() {
		if strings.Contains(line, "truncate") {
			require.NoError(t, json.Unmarshal([]byte(line), &cut))
		}
	}
	assert.Equal(t, "item_agent_2", cut.ItemID)
	assert.Greater(t, cut.EndMs, 100)
	assert.Less(t, cut.EndMs, 3000, "the engine learns how much audio was played")
	const piece = sampleRate / 50
	speaks, last := -1, 0 // 20 ms pieces: the second begin of the caller, and the last audible agent audio before the caller's end
	bursts, quiet := 0, 1000
	for i := 0; (i+1)*piece <= min(len(left), len(right)); i++ {
		if rmsPower(left[i*piece:(i+1)*piece]) > 1000 {
			if quiet > 25 {
				bursts++
			}
			if quiet = 0; bursts == 2 && speaks < 0 {
				speaks = i
			}
		} else {
			quiet++
		}
		if bursts == 2 && quiet < 10 && rmsPower(right[i*piece:(i+1)*piece]) > 200 {
			last = i
		}
	}
	require.Positive(t, speaks, "the recording contains the caller")
	t.Logf("barge-in: the agent's audio stops %d ms after the caller begins", (last+1-speaks)*20)
	assert.LessOrEqual(t, (last+1-speaks)*20, 2000, "ms until the agent's audio stops; the limit allows for a busy machine, make bench measures the value")
	assert.NotEmpty(t, call["latency"], "%v", call)
}
